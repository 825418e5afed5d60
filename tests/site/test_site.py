"""The site as files: every link leads somewhere, nothing comes from elsewhere, and no stranger's word is markup."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from judge.catalog.files import steps_of
from judge.contest_games import Outcome, Pairing, PublishedGame, ScheduledGame, SeatOutcome
from judge.contest_view.view import ContestView
from judge.games.types import Verdict
from judge.journal.state import JournalLine
from judge.record.policy import load_policy
from judge.record.spec import RecordFile, public_part
from judge.render.svg_player import write_film
from judge.site.game_page import GamePageContext, game_pages
from judge.site.pages import POLICY, STYLE, PagePlace, asset
from judge.site.site import MAX_PAGE_BYTES, Proof
from judge.tournament.formats.round_robin import RoundRobin
from judge.tournament.snapshot import SnapshotImage
from judge.translations.language import CODES, languages
from tests.contest.cups import snapshot
from tests.examples import evidence, sized
from tests.formats import recorded
from tests.formats.recorded import HOSTILE
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.publish.public import Public
from tests.site.whole_site import site, texts

LONG = "x" * 10_000

STRANGE = [HOSTILE, LONG, "<script>alert(1)</script>", "{{ 7 * 7 }}", "' onload='x", "\x1b[31mred"]
"""Names that no contest lets in; a page must not depend on that."""


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.handlers: list[str] = []
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.handlers += [name for name in attributes if name.startswith("on") or name == "style"]
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a" or attributes.get("rel") == "alternate":
            self.links.append(attributes["href"])
        elif tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        else:
            self.loads += [attributes[name] for name in ("src", "href") if name in attributes]


def pages_of(directory: Path) -> Iterator[tuple[Path, Page]]:
    for path in sorted(directory.rglob("*.html")):
        yield path, Page(path.read_text())


def test_every_link_leads_somewhere(exported: Public) -> None:
    pages = dict(pages_of(exported.directory))

    assert len(pages) > 90
    for path, page in pages.items():
        for link in page.links:
            target, _, fragment = link.partition("#")
            linked = (path.parent / target) if target else path
            assert linked.resolve().is_file(), (path, link)
            if fragment and target:
                assert fragment in pages[linked.resolve()].ids, (path, link)


def test_no_page_loads_anything_but_our_own_files(exported: Public) -> None:
    for path, page in pages_of(exported.directory):
        loaded = {load for load in page.loads if not load.startswith(("#", "data:"))}
        assert {Path(load).name for load in loaded} <= {"style.css", "viewer.js", "verify.mjs", "games.js"}, path
        for load in loaded:
            assert (path.parent / load).resolve().parent == exported.directory.resolve()
        served = "; connect-src 'self'" if path.name == "verify.html" else ""
        assert page.policy == POLICY + served
        assert [] == page.handlers


def test_a_link_to_a_game_shows_its_position_and_its_result(exported: Public) -> None:
    page = (exported.directory / "games/00001.html").read_text()
    said = dict(re.findall(r'<meta property="og:([a-z:_]+)" content="([^"]*)">', page))
    picture = (exported.directory / "games/00001.png").read_bytes()

    assert said["title"].startswith("Game 1: bert \N{EN DASH} crash.test")
    assert "crash.test wins: 5 in a row" in said["description"]
    assert said["description"] in said["image:alt"]
    assert "https://example.org/cup/games/00001.png" == said["image"]
    assert b"\x89PNG" == picture[:4]
    size = tuple(int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
    assert (int(said["image:width"]), int(said["image:height"])) == size


def a_contest(
    names: Sequence[str], games: Sequence[PublishedGame], journal: Sequence[JournalLine] = (), text: str = ""
) -> ContestView:
    """A contest of these agents and games; `text` is every text that a stranger may choose."""
    terms = snapshot(RoundRobin(games=1), 2)
    first = terms.entries[0]
    seat = first.seat.model_copy(update=dict.fromkeys(("digest", "runtime", "protocol", "author"), text))
    entries = []
    for rank, name in enumerate(names, 1):
        changes = {"name": name, "calls_itself": name, "rank": rank, "seat": seat.model_copy(update={"name": name})}
        entries.append(first.model_copy(update={**changes, "description": text}))
    terms = terms.model_copy(update=dict.fromkeys(("judge", "about", "frozen_at", "plan_sha256"), text))
    chosen = {"images": {text: SnapshotImage(id=text, content=text)}, "host": {text: text}} if text else {}
    terms = terms.model_copy(update={**chosen, "name": text or "cup", "entries": tuple(entries)})
    pairings = [Pairing(game.first, game.second, game.round, game.table) for game in games]
    out = {names[-1]: text} if text else {}
    return ContestView(terms, "{}", pairings, games, out, journal)


def a_game(number: int, first: str, second: str, verdict: Verdict, text: str, replies: int = 20) -> PublishedGame:
    """A game that the first agent has won."""
    fault = verdict.value if verdict is Verdict.CRASH else None
    seats = (SeatOutcome(None, replies, 5.0), SeatOutcome(fault, replies, 5.0))
    ended = Outcome(verdict.value, 0, text, text, "", 1.0, seats)
    game = ScheduledGame(f"{number:020d}", number, 1, number, 0, first, second, "{}", "done", 1)
    return PublishedGame.of(game, ended.row(game, 1), ())


@pytest.mark.parametrize(
    ("control", "words"),
    [
        ("60+0.6", "60+0.6: 1 min a game, 600 ms more after each move"),
        ("600|3x30", "600|3x30: 10 min a game, then 3 periods of 30 s"),
        ("40/300@9", "40/300@9: 5 min for each 40 moves, at most 9 s a move"),
        ("40/600:20|1x5", "40/600:20|1x5: 10 min for 40 moves, then 20 s for the rest, then 5 s a move"),
        ("9/60:5/9:0+2", "9/60:5/9:0+2: 1 min for 9 moves, then 9 s for 5 moves, then 0 ms for the rest, 2 s more"),
        ("5d2,6|4/3", "5d2,6|4/3: first player 5 s a game, the first 2 s of each move are free; second player 6 s a"),
    ],
)
def test_the_time_control_is_explained(control: str, words: str) -> None:
    contest = a_contest(("one", "two"), ())
    policy = load_policy("gomocup-standard", clock=control)
    contest = replace(contest, snapshot=contest.snapshot.model_copy(update={"policy": policy}))

    assert any(words in unescape(text) for path, text in texts(contest).items() if path.endswith(".html"))


def assert_harmless(text: str) -> None:
    page = Page(text)
    assert [] == page.handlers
    assert not page.tags & {"b>", "script>"}
    assert text.count("<script") == sum(f'src="{name}"' in text for name in ("../viewer.js", "verify.mjs", "games.js"))
    assert "<b>&" not in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", text)
    assert "x" * 601 not in text


def test_whatever_an_agent_is_called_it_stays_text() -> None:
    about = {name: {HOSTILE: LONG} for name in STRANGE}
    proof = Proof("-----BEGIN\nx", "0" * 64, [(HOSTILE, LONG)])
    pairs = [(first, second) for first in STRANGE for second in STRANGE if first < second]
    games = [a_game(number, *pair, Verdict.CRASH, HOSTILE) for number, pair in enumerate(pairs, 1)]
    journal = [
        JournalLine("2024-01-01T00:00:00.000", event, game, 1, HOSTILE + LONG)
        for event in ("accepted", "void", HOSTILE)
        for game in (HOSTILE, games[0].id)
    ]
    pages = dict(site(a_contest(STRANGE, games, journal, HOSTILE + LONG), about, proof))

    assert {"index.html", "crosstable.html", "journal.html", "agents/001.html"} <= pages.keys()
    for path, data in pages.items():
        assert re.fullmatch(r"[a-z]+/[\d-]+\.html|[a-z]+\.(html|css|m?js)", path)
        if path.endswith(".html"):
            assert_harmless(data.decode())
    assert "49" not in pages["agents/004.html"].decode().partition("<h1>")[2][:60]


GAMES = [recorded.gomoku, recorded.stratego_game, recorded.chess, recorded.quantum]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.__name__)
def test_agent_output_in_a_game_stays_text(game: Callable[[], RecordFile]) -> None:
    file = game()
    record = file.record
    seats = tuple(
        seat.model_copy(update={"name": HOSTILE + LONG, "why": HOSTILE, "notes": (HOSTILE, LONG)})
        for seat in record.seats
    )
    strange = record.model_copy(update={"seats": seats, "reason": HOSTILE + LONG, "result": HOSTILE})
    context = GamePageContext(HOSTILE, a_game(1, HOSTILE, HOSTILE, Verdict.WIN, HOSTILE), ("001", "002"))
    replay = steps_of(RecordFile(record=strange, transcript=public_part(file).transcript))
    page = next(game_pages(replay, strange, context, [PagePlace("games/00001.html")]))

    assert_harmless(page.decode())


def test_table_of_moves_has_the_whole_report_of_an_agent() -> None:
    file = recorded.gomoku()
    replay = steps_of(file)
    steps = [replace(step, search={"depth": "8", "pv": "7879"}, messages=("", "raw 1")) for step in replay.steps]
    context = GamePageContext("spring-cup", a_game(1, "anna", "bert", Verdict.WIN, "five"), ("001", "002"))
    page = next(game_pages(replace(replay, steps=steps), file.record, context, [PagePlace("games/00001.html")]))

    assert "<td>depth 8 · pv 7879 · raw 1" in page.decode()


def test_every_game_and_every_agent_has_its_league_in_other_languages(tmp_path: Path) -> None:
    """The corpus has the English pages."""
    with Cup(tmp_path, STRONG_TO_WEAK, 'name = "leagues"\ngames = 2\nsizes = [2]\npromoted = 1') as cup:
        cup.play(2)
        contest = cup.contest.read()
    pages = texts(contest, *CODES)
    rows = pages["cs/index.html"].partition("<tbody>")[2].partition("</tbody>")[0]
    agent = contest.by_name[contest.played[0].first]

    assert (2, 3) == (rows.count("<td>1. liga</td>"), rows.count("<td>2. liga</td>"))
    assert 2 == pages["cs/rounds/001.html"].count("<td>2. liga</td>")
    assert 4 == pages[f"cs/agents/{agent.stem}.html"].count("<td>2. liga</td>")


def test_sums_of_games_that_do_not_count_are_struck_through(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    contest = replace(cup.contest.read(), disqualified={"dora": "two programs"})
    monkeypatch.setattr("judge.site.site.MOST_IN_CELL", 0)
    page = texts(contest)["crosstable.html"]

    assert 8 == page.count("</s>")
    assert "Games that are struck through do not count" in page


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.__name__)
def test_film_shows_the_correct_pieces_at_every_step(game: Callable[[], RecordFile]) -> None:
    file = game()
    steps = steps_of(file).steps
    views = [step.view for step in steps]
    film = write_film(views)
    margin, cell = (int(word) for word in re.search(r'data-cell="(\d+)" data-margin="(\d+)"', film.svg).groups()[::-1])  # type: ignore[union-attr]
    last = len(views) - 1
    pieces = re.findall(r'<g transform="translate\((\d+) (\d+)\)" data-s="([\d ]+)"( class="off")?>', film.svg)
    marks = re.search(r'data-marks="([^"]*)">(.*)</g>', film.svg)
    assert marks is not None
    listed = [re.fullmatch(r"p\d+ (\d+) (\d+) (\d+)(?: (\d+))?", mark) for mark in marks[1].split(";") if mark]

    for at, view in enumerate(views):
        there = {
            ((int(x) - margin) // cell, (int(y) - margin) // cell)
            for x, y, stays, _ in pieces
            if int(stays.split()[0]) <= at <= int([*stays.split(), last][1])
        }
        assert view.tokens.keys() == there
        marked = {
            (int(mark[1]), int(mark[2])) for mark in listed if mark and int(mark[3]) <= at <= int(mark[4] or mark[3])
        }
        assert view.marks.keys() == marked
    assert len(views[-1].tokens) == sum(not off for *_, off in pieces)
    assert len(views[-1].marks) == marks[2].count("<use")


def many_games(agents: int, count: int) -> ContestView:
    names = [f"agent-{number}" for number in range(agents)]
    games = []
    for number in range(1, count + 1):
        first, second = names[number % agents], names[(number + 1 + number // agents) % agents]
        if first == second:
            second = names[(number + 2 + number // agents) % agents]
        games.append(a_game(number, first, second, Verdict.WIN, "5 in a row"))
    journal = [
        JournalLine("2024-01-01T00:00:00.000", event, game.id, 1, "")
        for game in games
        for event in ("started", "accepted")
    ]
    return a_contest(names, games, journal)


def test_the_site_grows_with_the_games_and_no_page_with_all_of_them() -> None:
    """Four times the games among as many agents: four times the bytes at most, on pages that stay readable."""
    few = sized(250, 1_000)
    small, large = (
        {path: len(text.encode()) for path, text in texts(many_games(30, games)).items()} for games in (few, 4 * few)
    )

    assert sum(large.values()) < 4.4 * sum(small.values())
    assert max(large.values()) < MAX_PAGE_BYTES - FIXED
    assert large["index.html"] < 1.1 * small["index.html"]


FIXED = sum(len(asset(name)) for name in (STYLE, "games.js"))
"""Bytes that a page loads besides itself; `site` writes no pages of games, and only one page loads the verifier."""


@pytest.mark.parametrize(
    ("agents", "games"),
    [(50, 1_000), *(pytest.param(*sizes, marks=evidence) for sizes in ((4, 4_000), (50, 2_500), (200, 1_000)))],
)
def test_no_page_weighs_more_than_readers_were_promised(agents: int, games: int) -> None:
    pages = dict(site(many_games(agents, games), {}, Proof("", "", []), languages(["zh"])))

    assert {} == {path: len(data) for path, data in pages.items() if len(data) > MAX_PAGE_BYTES - FIXED}


def test_the_page_of_the_longest_game_weighs_no_more() -> None:
    """A full board of 20x20, and both agents say much of each search."""
    file = recorded.full_board(20)
    replay = steps_of(file)
    context = GamePageContext("cup", a_game(1, "anna", "bert", Verdict.DRAW, ""), ("001", "002"))
    weights = [
        len(next(game_pages(replay, file.record, context, [PagePlace("games/00001.html", language)])))
        for language in languages(CODES)
    ]

    assert 400 == len(file.record.plies)
    assert max(weights) <= MAX_PAGE_BYTES - FIXED


def test_too_many_agents_make_no_unreadable_crosstable() -> None:
    page = texts(many_games(150, 300))["crosstable.html"]

    assert "150 agents are too many for one table" in page
    assert len(page) < 40_000
