"""The pages of a running contest in a real browser: they go on by themselves, and lose and double nothing."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge.base.text import clock_text
from judge.broadcast.events import GameStarted, MoveMade, Playing
from judge.broadcast.log import LOG_FILE, EventLog
from judge.contest.event_log.moves import Connection
from judge.contest.event_log.recorder import Recorder
from judge.journal.events import Paused
from tests.broadcast.logs import PAIR, events
from tests.broadcast.test_recorder import frames_of
from tests.examples import evidence, of_evidence, sized
from tests.publish.cups import STRONG_TO_WEAK
from tests.site.browser import Browser
from tests.web.live.watching import Watched, talker, tell, until, watched
from tests.web.views import check_views

KILLS = sized(2, 40)

WITNESS = """
var isFirst = window.seen === undefined; // the script may be registered twice
window.seen = [];
window.said = [];
if (isFirst) document.addEventListener("judge-event", (event) => window.seen.push(event.detail.seq));
document.addEventListener("DOMContentLoaded", () => {
  const told = document.getElementById("told");
  if (told) new MutationObserver((changes) => {
    for (const change of changes) for (const node of change.addedNodes) window.said.push(node.textContent);
  }).observe(told, {childList: true});
});
"""

MARKUP = "<img src=x onerror=alert(1)>"

TEN_SECONDS_LATER = "(() => { const now = Date.now; Date.now = () => now() + 10_000; })()"

ROWS = "document.querySelectorAll('[data-moves] tr').length"
STONES = "document.querySelectorAll('.film .pieces [data-at]').length"


@pytest.fixture(scope="module")
def witness(browser: Browser) -> Browser:
    browser.run_first(WITNESS)
    browser.set_view(1000)
    return browser


@pytest.fixture
def contest(tmp_path: Path) -> Iterator[Watched]:
    with watched(tmp_path, PAIR) as found:
        yield found


def test_page_of_a_coming_contest_shows_its_beginning(browser: Browser, contest: Watched, tmp_path: Path) -> None:
    contest.kill()
    store = contest.cup.folder / "contest.db"
    store.rename(tmp_path / "contest.db")
    contest.start()
    for page in ("live.html", "cs/live.html"):
        browser.leave()
        browser.visit(f"{contest.url}/{page}")
        assert browser.ask("document.getElementById('boards') === null")
    assert [] == browser.violations()
    (tmp_path / "contest.db").rename(store)
    browser.wait_for("document.getElementById('boards') !== null && document.documentElement.lang === 'cs'")
    browser.leave()


def test_game_page_updates_itself_and_ends_equal_to_the_export(witness: Browser, contest: Watched) -> None:
    witness.leave()
    witness.requests.clear()
    game, file, frames = contest.play()
    tell(frames, 8)
    until(lambda: 'id="1"' in contest.get("games/00001.html").text, "the first moves are not shown")
    witness.visit(f"{contest.url}/games/00001.html")
    # What the page showed when it was loaded is there without a script, too.
    before, stones = witness.ask(f"[{ROWS}, {STONES}]")
    assert 0 < before < len(file.record.plies)
    tell(frames)
    plies = len(file.record.plies)
    witness.wait_for(f"{ROWS} == {plies}")
    assert stones + plies - before == witness.ask(STONES)
    assert [str(ply) for ply in range(1, plies + 1)] == witness.ask(
        "[...document.querySelectorAll('[data-moves] tr')].map((row) => row.id)"
    )
    # A screen reader is told each move that came once, in order, in the game's own notation.
    rows = witness.ask(
        "[...document.querySelectorAll('[data-moves] tr')].map("
        "({cells}) => `${cells[0].textContent}. ${cells[2].textContent}`)"
    )
    said = witness.ask("said")
    assert plies - before == len(said)
    assert all(one.startswith(f"{notation} ") for one, notation in zip(said, rows[before:], strict=True))
    names = {node["name"]["value"] for node in witness.accessibility() if node.get("name", {}).get("value")}
    assert rows[-1].partition(". ")[2] in names
    # Its plots are drawn while it is played; a plot of which nothing is known is not shown.
    plots = "[...document.querySelectorAll('.plot')].filter((plot) => !plot.closest('[hidden]'))"
    drawn = f"{plots}.map((plot) => [plot.getAttribute('aria-label'), ...[...plot.querySelectorAll('[class^=seat]')]"
    drawn += ".map((path) => path.getAttribute('d'))])"
    witness.wait_for(f"{plots}[0]?.viewBox.baseVal.width == {plies + 1}")
    while_played = witness.ask(drawn)
    assert ["Evaluation", "Depth", "Time", "Memory"] == [label.split(" ")[0] for label, *_ in while_played]
    contest.end(game, file, frames)
    # The same address has the page of the export now, which steps through the game.
    witness.wait_for("document.querySelector('.controls input')?.checkVisibility()")
    assert witness.ask("location.pathname") == "/games/00001.html"
    assert while_played == witness.ask(drawn)
    assert [] == witness.errors
    elsewhere = [url for url in witness.requests if not url.startswith((contest.url, "data:", "about:"))]
    assert [] == elsewhere


def test_clocks_run_by_the_judges_numbers(witness: Browser, contest: Watched) -> None:
    clocks = "[...document.querySelectorAll('[data-clock]')].map((clock) => [clock.textContent, clock.className])"
    _, _, frames = contest.play(200)
    for _ in frames:
        last = [event for event in events(contest.cup) if event["type"] in ("move", "turn")]
        if len(last) >= 3 and "clock" in last[-1]:
            break
    clock = last[-1]["clock"]
    witness.visit(f"{contest.url}/live.html")
    shown = witness.wait_for("document.querySelector('.clock.runs') !== null") and witness.ask(clocks)
    assert "clock runs" == shown[clock["seat"]][1]
    # It stands where the judge's numbers say: between the moments before and after it was looked at.
    minutes, seconds = f"0:{shown[clock['seat']][0].removesuffix(' s')}".split(":")[-2:]
    left = witness.ask("Date.now()") - clock["since_ms"]
    assert int(minutes) * 60_000 + float(seconds) * 1000 >= max(0, clock["left_ms"][clock["seat"]] - left) - 1100
    witness.wait_for(f"{clocks}[{clock['seat']}][0] !== {json.dumps(shown[clock['seat']][0])}")
    still = 1 - clock["seat"]
    assert shown[still] == witness.ask(clocks)[still]
    for pair in ((119_960, 59_999), (-1, 99), (60_000, 3_599_999), (3_600_000, 40_000_000)):
        witness.ask(f"document.querySelector('.running').dataset.clocks = '- - - {pair[0]} {pair[1]}'")
        witness.wait_for(f"{clocks}.map(([text]) => text).join() === '{','.join(map(clock_text, pair))}'")


def test_page_of_all_games_shows_boards_results_and_next_games(witness: Browser, tmp_path: Path) -> None:
    boards = "[...document.querySelectorAll('article.running')].map((board) => board.dataset.game)"
    with watched(tmp_path, PAIR, games=4) as contest:
        witness.visit(f"{contest.url}/live.html")
        assert [] == witness.ask(boards)
        first, second = contest.play(), contest.play()
        for game, _, frames in (first, second):
            tell(frames)
            last = witness.wait_for(
                f"(document.querySelector('article[data-game=\"{game.number}\"] [data-last]') ?? {{}}).textContent"
            )
            assert last
        # The board of a game that goes on is not drawn again when another one ends.
        witness.wait_for("document.querySelectorAll('article .film').length == 2")
        witness.ask("window.kept = document.querySelector('article[data-game=\"2\"]'), kept.dataset.game")
        contest.end(*first)
        # The last position stays with its result for ten seconds, by the reader's clock.
        over = "document.querySelector('article.over[data-game=\"1\"]')"
        witness.wait_for(f"{over}?.querySelector('[data-result]').textContent.includes('1 : 0 anna wins')")
        assert 0 == witness.ask(f"{over}.querySelectorAll('.clock.runs').length")
        assert "1,2" == witness.ask(f"{boards}.join()")
        witness.ask(TEN_SECONDS_LATER)
        witness.wait_for(f"{boards}.join() == '2'")
        assert witness.ask("window.kept === document.querySelector('article[data-game=\"2\"]')")
        assert witness.wait_for("document.getElementById('ended').textContent.includes('Game 1')")
        assert witness.ask("document.getElementById('next').textContent.includes('Game 3')")
        points = "[...document.querySelectorAll('#table tr')].map((row) => row.cells[2].textContent).join()"
        assert witness.wait_for(f"{points} == '1,0' || {points} == '½,½'")
        assert "1" == witness.wait_for("document.getElementById('viewers').textContent")


def test_page_that_is_opened_before_two_games_keeps_the_results_of_both(witness: Browser, tmp_path: Path) -> None:
    over = "[...document.querySelectorAll('article.over')].map((board) => board.dataset.game).join()"
    with watched(tmp_path, PAIR, games=4) as contest:
        witness.visit(f"{contest.url}/live.html")
        games = contest.play(), contest.play()
        for *_, events in games:
            tell(events)
        witness.wait_for("!document.getElementById('next').textContent.includes('Game 2')")
        for each in games:
            contest.end(*each)
        witness.wait_for(f"{over}.endsWith('2')")
        assert "1,2" == witness.ask(over)
        witness.leave()


def test_followed_agent_has_a_page_of_its_games_with_and_without_scripts(witness: Browser, tmp_path: Path) -> None:
    cast = {name: STRONG_TO_WEAK[name] for name in ("anna", "bert", "-carl")}
    boards = "[...document.querySelectorAll('article.running')].map((board) => board.dataset.game).join()"
    with watched(tmp_path, cast, games=2) as contest:
        games = [contest.play() for _ in range(6)]
        followed_games = [game for game, *_ in games if "anna" in (game.first, game.second)]
        assert 4 == len(followed_games)
        numbers = ",".join(str(game.number) for game in followed_games)
        for *_, frames in games:
            tell(frames, 1)
        witness.visit(f"{contest.url}/agents/001.html")
        witness.ask("[...document.querySelectorAll('a')].find((link) => link.href.includes('agent=1')).click()")
        witness.wait_for(f"location.search === '?agent=1' && {boards} === '{numbers}'")
        assert "anna" == witness.ask("document.querySelector('tr.followed a').textContent")
        witness.set_view(390)
        witness.check(390)
        witness.set_view(1000)
        witness.ask(
            "window.lost = 0, new MutationObserver(() => window.lost += !document.querySelector('tr.followed'))"
            ".observe(document.body, { childList: true, subtree: true })"
        )
        for game, file, frames in games:
            contest.end(game, file, frames)
        witness.wait_for("document.querySelectorAll('article.running:not(.over)').length === 0")
        witness.ask(TEN_SECONDS_LATER)
        witness.wait_for(f"{boards} === ''")
        assert 0 == witness.ask("window.lost")
        witness.wait_for("document.querySelectorAll('#ended li').length === 4")
        with witness.without_scripts():
            for page, ended in (("cs/live.html?agent=1", 4), ("live.html?agent=99", 6)):
                witness.visit(f"{contest.url}/{page}")
                assert ended == witness.ask("document.querySelectorAll('#ended li').length")


def test_an_open_page_changes_when_a_result_comes_and_when_the_contest_ends(witness: Browser, tmp_path: Path) -> None:
    witness.leave()
    with watched(tmp_path, PAIR, games=2) as contest:
        witness.visit(f"{contest.url}/crosstable.html")
        assert 0 == witness.ask("document.querySelectorAll('.cross a.score').length")
        contest.end(*contest.play(3))
        witness.wait_for("document.querySelectorAll('.cross a.score').length == 2")
        witness.visit(f"{contest.url}/live.html")
        contest.end(*contest.play(3))
        witness.wait_for("document.getElementById('over')?.textContent.includes('Final.')")
        assert witness.ask("document.getElementById('next').hidden")
        assert [] == witness.errors


@pytest.mark.parametrize(
    ("form", "column"),
    [
        pytest.param('name = "leagues"\ngames = 2\nsizes = [2]\npromoted = 1', "Stage", id="leagues", marks=evidence),
        pytest.param('name = "ladder"\ntotal_games = 20', "Rating", id="ladder"),
    ],
)
def test_standings_next_to_boards_keep_their_columns(witness: Browser, tmp_path: Path, form: str, column: str) -> None:
    """A ladder's places depend on ratings."""
    widths = "[...document.querySelectorAll('#table tr')].forEach((row) => seenWidths.add(row.cells.length))"
    with watched(tmp_path, STRONG_TO_WEAK, form=form) as contest:
        witness.visit(f"{contest.url}/live.html")
        witness.ask(
            f"window.seenWidths = new Set(), new MutationObserver(() => {widths}).observe("
            "document.body, {childList: true, subtree: true})"
        )
        contest.end(*contest.play())
        witness.wait_for("[...document.querySelectorAll('#table tr')].some((row) => row.cells[4].textContent == '1')")
        assert [5] == witness.ask("[...seenWidths]")
        assert witness.ask(f"[...document.querySelectorAll('th')].some((head) => head.textContent == '{column}')")


@pytest.mark.parametrize("page", [*of_evidence("live.html"), "games/00001.html"])
def test_a_game_that_another_machine_plays_again_begins_again(witness: Browser, contest: Watched, page: str) -> None:
    game, file, frames = contest.play()
    tell(frames, 12)
    shown = len(moves_that_count(contest))
    witness.leave()
    witness.visit(f"{contest.url}/{page}")
    opening = len(file.record.spec.opening)
    witness.wait_for(f"{STONES} == {opening + shown}")  # the service may have read less when it answered
    again = Connection()
    sent = list(frames_of(game, file, 20, play=2))
    for part in sent[:6]:
        contest.recorder.moves.receive(again, part)
    assert 0 < len(moves_that_count(contest)) < shown
    witness.wait_for(f"{STONES} == {opening + len(moves_that_count(contest))}")
    for part in sent[6:]:
        contest.recorder.moves.receive(again, part)
    again.close()
    witness.wait_for(f"{STONES} == {opening + len(file.record.plies)}")
    if page != "live.html":
        assert len(file.record.plies) == witness.ask(ROWS)
    assert [] == witness.errors


def moves_that_count(contest: Watched) -> Sequence[Mapping[str, Any]]:
    """The moves of the only game since it last began."""
    game_events = [event for event in events(contest.cup) if event["type"] in ("playing", "move")]
    begun = max(number for number, event in enumerate(game_events) if event["type"] == "playing")
    return game_events[begun + 1 :]


@pytest.mark.parametrize("page", ["live.html", "games/00001.html"])
def test_sides_are_exchanged_when_the_seats_swap(witness: Browser, contest: Watched, page: str) -> None:
    sides = "[...document.querySelectorAll('.running .seat')].map((seat) => seat.children[2].textContent)"
    swatches = "[...document.querySelectorAll('.running .swatch')].map((each) => each.className)"
    _, _, frames = contest.play()
    tell(frames, 8)
    witness.visit(f"{contest.url}/{page}")
    before = witness.ask(sides), witness.ask(swatches)
    contest.recorder.close()
    with closing(EventLog(contest.cup.folder / LOG_FILE)) as log:
        *_, last = [event for event in log.events() if isinstance(event, MoveMade)]
        log.append([last.model_copy(update={"ply": last.ply + 1, "seats": (1, 0)})])
        witness.wait_for(f"seen.at(-1) == {log.seq}")
    assert (before[0][::-1], before[1][::-1]) == (witness.ask(sides), witness.ask(swatches))
    assert before[0][0] != before[0][1]


def test_card_of_a_game_with_a_hidden_board_says_why(witness: Browser, contest: Watched) -> None:
    at = "2026-11-29T12:00:00.000Z"
    witness.visit(f"{contest.url}/cs/live.html")
    contest.recorder.close()
    with closing(EventLog(contest.cup.folder / LOG_FILE)) as log:
        assert list(log.events())
        log.append([GameStarted(game=1, attempt=1, at=at, first="anna", second="bert")])
        log.append([Playing(game=1, attempt=1, at=at, left_ms=(None, 9000))])
        witness.wait_for("document.querySelector('article .room p')?.textContent.startsWith('Deska se zobrazí')")
    clocks = "[...document.querySelectorAll('article [data-clock]')].map((each) => each.textContent)"
    assert ["0,0 s", "9,0 s"] == witness.ask(clocks)
    assert ["anna", "bert"] == witness.ask("[...document.querySelectorAll('article bdi')].map((b) => b.textContent)")
    assert "games/00001.html" == witness.ask("document.querySelector('article a').getAttribute('href')")


def test_hidden_tab_asks_for_nothing_and_has_everything_when_it_is_shown(witness: Browser, contest: Watched) -> None:
    _, file, frames = contest.play()
    tell(frames, 6)
    witness.visit(f"{contest.url}/games/00001.html")
    told_moves = len(moves_that_count(contest))
    witness.wait_for(f"document.querySelector('[data-clock]') !== null && {ROWS} == {told_moves}")
    witness.set_hidden(True)
    before = witness.ask(ROWS)
    witness.requests.clear()
    tell(frames)
    contest.get("feed")
    assert (before, []) == (witness.ask(ROWS), witness.requests)
    witness.set_hidden(False)
    witness.wait_for(f"{ROWS} == {len(file.record.plies)}")


def test_killed_service_loses_and_doubles_no_event(witness: Browser, tmp_path: Path) -> None:
    chance, kills = random.Random(3), 0
    with watched(tmp_path, PAIR, games=2 * (2 + KILLS // 4)) as contest:
        witness.visit(f"{contest.url}/live.html")
        begin = int(witness.ask("document.documentElement.dataset.seq"))
        while kills < KILLS:
            game, file, frames = contest.play()
            for number, _ in enumerate(frames):
                if kills < KILLS and number % 5 == 2:
                    kills += 1
                    contest.kill()
                    tell(frames, chance.randrange(3))
                    contest.start()
                    last = events(contest.cup)[-1]["seq"]
                    witness.wait_for(f"seen.at(-1) >= {last}")
            contest.end(game, file, frames)
        last = events(contest.cup)[-1]["seq"]
        witness.wait_for(f"seen.at(-1) >= {last}")

        assert list(range(begin + 1, last + 1)) == witness.ask("seen")


def test_recreated_log_reloads_every_page(witness: Browser, contest: Watched) -> None:
    witness.visit(f"{contest.url}/live.html")
    log = witness.ask("document.documentElement.dataset.log")
    contest.recorder.close()
    (contest.cup.folder / "events.ndjson").unlink()
    with closing(Recorder(contest.cup.contest, contest.cup.folder / "events.ndjson")) as again:
        again.read_store()
        # While the page is exchanged there is no document for a moment.
        witness.wait_for(f"![undefined, {json.dumps(log)}].includes(document.documentElement?.dataset.log)")


def test_nothing_that_is_written_by_others_becomes_markup(witness: Browser, tmp_path: Path) -> None:
    with watched(tmp_path, {**PAIR, "anna": talker(PAIR["anna"], f"{MARKUP} \u202e")}) as contest:
        _, file, frames = contest.play()
        tell(frames, 8)
        contest.cup.store.set_state(contest.cup.contest.name, Paused(MARKUP))
        contest.recorder.read_store()
        for path in ("live.html", "games/00001.html"):
            witness.visit(f"{contest.url}/{path}")
            assert MARKUP in witness.ask("document.querySelector('[data-search=\"0\"]').textContent")
            assert "\u202e" not in witness.ask("document.body.textContent")
            assert 0 == witness.ask("document.querySelectorAll('img').length")
        tell(frames)
        witness.wait_for(f"{ROWS} == {len(file.record.plies)}")
        assert MARKUP in witness.ask("document.querySelector('[data-moves] tr:last-child').textContent")
        assert 0 == witness.ask("document.querySelectorAll('img').length")


def test_running_game_updates_in_the_language_of_its_page(witness: Browser, contest: Watched) -> None:
    game, file, frames = contest.play()
    tell(frames, 8)
    until(lambda: 'class="squares"' in contest.get("cs/games/00001.html").text, "the board is not shown")
    witness.visit(f"{contest.url}/cs/games/00001.html")
    assert "cs" == witness.ask("document.documentElement.lang")
    witness.ask("document.querySelector('.squares').open = true")
    tell(frames)
    witness.wait_for(f"{ROWS} == {len(file.record.plies)}")
    times = witness.ask("[...document.querySelectorAll('[data-moves] tr')].map((row) => row.cells[3].textContent)")
    assert not any("." in time for time in times)
    squares = witness.ask(
        "[...document.querySelectorAll('.squares tbody td')].map((cell) => cell.textContent).filter(Boolean)"
    )
    assert {"bílý", "černý"} == {text.split(" ")[0] for text in squares}
    contest.end(game, file, frames)
    witness.wait_for("document.querySelector('.controls input')?.checkVisibility()")
    assert "cs" == witness.ask("document.documentElement.lang")
    witness.wait_for("document.querySelector('.list')?.ariaLabel == 'Seznam tahů'")


@pytest.mark.parametrize("is_restarted", [*of_evidence(False), True])
def test_page_from_before_the_first_board_gets_it(witness: Browser, contest: Watched, is_restarted: bool) -> None:
    _, file, frames = contest.play()
    witness.visit(f"{contest.url}/games/00001.html")
    assert [False, False] == witness.ask("['.squares', '.film'].map((each) => !!document.querySelector(each))")
    witness.ask("document.addEventListener('judge-event', () => (document.title = 'told'))")
    tell(frames, 8)
    if is_restarted:
        witness.wait_for("document.title == 'told'")
        contest.kill()
        witness.wait_for("performance.getEntriesByType('resource').some((each) => each.name === location.href)")
        contest.start()
    witness.wait_for("document.querySelectorAll('.squares, .film').length == 2")
    tell(frames)
    witness.wait_for(f"{ROWS} == {len(file.record.plies)}")
    squares = "[...document.querySelectorAll('.squares tbody td')].filter((cell) => cell.textContent).length"
    stones = len(file.record.plies) + len(file.record.spec.opening)
    assert stones == witness.ask(squares) == witness.ask("document.querySelectorAll('.film [data-at]').length")
    witness.leave()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A game whose last move has no result yet."""
    with watched(tmp_path_factory.mktemp("running"), PAIR) as contest:
        _, _, frames = contest.play()
        tell(frames)
        yield contest


def test_running_games_are_for_every_reader_on_every_screen(witness: Browser, running: Watched) -> None:
    witness.leave()
    pages = ("live.html", "games/00001.html", "index.html", "fairness.html", "verify.html")
    check_views(witness, running.url, *pages)
    assert all(len(running.get(path).content) < 150_000 for path in pages)
    witness.leave()
