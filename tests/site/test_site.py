"""The site as files: every link leads somewhere, nothing comes from elsewhere, and no stranger's word is markup."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from judge.catalog.files import steps_of
from judge.cli.contest.tables import standings
from judge.contest_games import Outcome, Pairing, PublishedGame, ScheduledGame, SeatOutcome
from judge.games.types import Verdict
from judge.publish.load import load_store
from judge.publish.model import PublishedContest
from judge.referee.policy import load_policy
from judge.referee.spec import RecordFile, SeatSpec, public_part
from judge.render.svg_player import spans, write_film
from judge.site.game_page import GamePageContext, game_page
from judge.site.pages import POLICY, STYLE, PagePlace, asset, icon_of
from judge.site.site import MAX_PAGE_BYTES, Proof, site
from judge.store.types import JournalLine
from judge.tournament.formats.round_robin import RoundRobin
from judge.tournament.snapshot import FailuresPlan, Snapshot, SnapshotEntry, SnapshotImage
from judge.translations.language import CODES, languages
from tests.examples import evidence, sized
from tests.publish.cups import STRONG_TO_WEAK, Cup, player
from tests.publish.public import Public
from tests.records import recorded
from tests.records.recorded import HOSTILE

LONG = "x" * 10_000

STRANGE = [HOSTILE, LONG, "<script>alert(1)</script>", "{{ 7 * 7 }}", "' onload='x", "\x1b[31mred"]
"""Names that no contest lets in; a page must not depend on that."""


class Page(HTMLParser):
    """What a page links to, loads, and names."""

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
    """As readers of Open Graph find it; the picture is a PNG of the size that the page says."""
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


def test_technical_details_of_a_game_are_folded(exported: Public) -> None:
    page = (exported.directory / "games/00001.html").read_text()

    (folded,) = re.findall(r"<details><summary>Technical details</summary>(.*?)</details>", page, re.DOTALL)
    assert {"Box", "Random seed", "Transcript"} <= set(re.findall(r"<dt>([^<]+)</dt>", folded))
    assert re.search(r"[0-9a-f]{64}", folded)
    assert not re.search(r"[0-9a-f]{64}|<dt>(?:Box|Random seed|Transcript)", page.replace(folded, ""))


def test_each_contest_has_its_own_icon(exported: Public) -> None:
    icons = {
        path.name: re.findall(r'<link rel="icon" href="(data:image/svg[^"]+)">', path.read_text())
        for path in exported.directory.glob("*.html")
    }
    (icon,) = {icon for (icon,) in icons.values()}
    picture = ElementTree.fromstring(unquote(icon.partition(",")[2]))  # noqa: S314 our own file

    assert "S" == "".join(picture.itertext()).strip()
    assert icon_of("spring-cup") == icon != icon_of("summer-cup")


def test_our_files_load_nothing(exported: Public) -> None:
    for name in ("style.css", "viewer.js", "verify.mjs"):
        text = (exported.directory / name).read_text()
        assert not re.search(r"https?:|@import|url\(|eval|innerHTML", text)


# --- strangers -------------------------------------------------------------------------------------------------------


def a_contest(
    names: Sequence[str], games: Sequence[PublishedGame], journal: Sequence[JournalLine] = (), text: str = ""
) -> PublishedContest:
    """A contest of these agents and games; `text` is every text that a stranger may choose."""
    policy = load_policy("gomocup-standard")
    entries = tuple(
        SnapshotEntry.model_construct(
            name=name,
            rank=rank,
            seat=SeatSpec.model_construct(
                name=name, digest=text, command=("./a",), runtime=text, protocol=text, author=text
            ),
            calls_itself=name,
            description=text,
            submission=None,
            persistent=None,
        )
        for rank, name in enumerate(names, 1)
    )
    snapshot = Snapshot.model_construct(
        judge=text,
        name=text or "cup",
        about=text,
        frozen_at=text,
        plan_sha256=text,
        policy=policy,
        format=RoundRobin(games=1),
        failures=FailuresPlan(),
        seed=1,
        openings=((),),
        shuffle=False,
        transform=False,
        entries=entries,
        images={text: SnapshotImage(id=text, content=text)} if text else {},
        host={text: text} if text else {},
    )
    pairings = [Pairing(game.first, game.second, game.round, game.table) for game in games]
    out = {names[-1]: text} if text else {}
    return PublishedContest(snapshot, "{}", pairings, games, out, journal)


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
        ("5d2,6|4/3", "5d2,6|4/3: first player 5 s a game, the first 2 s of each move are free; second player 6 s a"),
    ],
)
def test_the_time_control_is_explained(control: str, words: str) -> None:
    contest = a_contest(("one", "two"), ())
    policy = load_policy("gomocup-standard", clock=control)
    contest = replace(contest, snapshot=contest.snapshot.model_copy(update={"policy": policy}))

    assert any(
        words in unescape(data.decode())
        for path, data in site(contest, {}, Proof("", "", ()))
        if path.endswith(".html")
    )


def strange_contest() -> PublishedContest:
    """Everybody is called something evil, and every text is."""
    pairs = [(first, second) for first in STRANGE for second in STRANGE if first < second]
    games = [a_game(number, *pair, Verdict.CRASH, HOSTILE) for number, pair in enumerate(pairs, 1)]
    journal = [
        JournalLine("2024-01-01T00:00:00.000", event, game, 1, HOSTILE + LONG)
        for event in ("accepted", "void", HOSTILE)
        for game in (HOSTILE, games[0].id)
    ]
    return a_contest(STRANGE, games, journal, HOSTILE + LONG)


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
    pages = dict(site(strange_contest(), about, proof))

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
    page = game_page(replay, strange, context, PagePlace("games/00001.html"))

    assert_harmless(page.decode())


# --- leagues ---------------------------------------------------------------------------------------------------------


def test_every_game_and_every_agent_has_its_league(tmp_path: Path) -> None:
    """In each language, while the second league is played; and the games of the first one are counted."""
    leagues = 'name = "leagues"\ngames = 2\nsizes = [2]\npromoted = 1'
    spoken = languages(CODES)
    words = {"en": ("League 1", "League 2"), "cs": ("1. liga", "2. liga"), "zh": ("第 1 级联赛", "第 2 级联赛")}
    with Cup(tmp_path, STRONG_TO_WEAK, leagues) as cup:
        cup.play(2)
        contest = load_store(cup.contest)
        game = contest.played[0]
        assert game.result is not None
        public = public_part(cup.contest.record(game.result.record))
        pages = {path: data.decode() for path, data in site(contest, {}, Proof("", "", ()), spoken)}
        for language in spoken:
            folder = "" if language.code == "en" else f"{language.code}/"
            first, second = words[language.code]
            rows = pages[f"{folder}index.html"].partition("<tbody>")[2].partition("</tbody>")[0]
            assert (2, 3) == (rows.count(f"<td>{first}</td>"), rows.count(f"<td>{second}</td>"))
            cross = pages[f"{folder}crosstable.html"]
            assert (2, 3) == (cross.count(f"<td>{first}</td>"), cross.count(f"<td>{second}</td>"))
            assert 4 == cross.count(f'title="{second}, ')
            assert 2 == pages[f"{folder}rounds/001.html"].count(f"<td>{second}</td>")
            assert 3 == pages[f"{folder}rounds.html"].count(f"<td>{second}</td>")
            agent = contest.by_name[game.first]
            assert 4 == pages[f"{folder}agents/{agent.stem}.html"].count(f"<td>{second}</td>")
            context = GamePageContext("cup", game, ("001", "002"), stage=contest.stage_of(game))
            place = PagePlace("games/00001.html", language, spoken)
            assert f"{second}:" in game_page(steps_of(public), public.record, context, place).decode()
    assert "10 of 12 games have no result" in pages["index.html"]
    heads = re.findall(r"<abbr[^>]*>([^<]*)</abbr>", pages["index.html"])
    assert ["Failed", "Points there", "Direct", "SB", "Won there"] == heads[:5]


def test_a_contest_without_leagues_has_no_column_for_them(exported: Public) -> None:
    for name in ("index", "crosstable", "rounds", "rounds/001", "agents/001"):
        page = (exported.directory / f"{name}.html").read_text()
        assert "Stage" not in page
        assert "Points there" not in page


def test_page_of_a_pair_has_its_score_and_only_its_games() -> None:
    games = [a_game(number, "one", "two", Verdict.WIN, "5 in a row") for number in (1, 2)]
    games += [a_game(3, "two", "one", Verdict.CRASH, "it ended"), a_game(4, "three", "one", Verdict.DRAW, "full")]
    pages = dict(site(a_contest(["one", "two", "three"], games, [], ""), {}, Proof("", "", ())))

    assert {"pairs/001-002.html", "pairs/001-003.html"} == {path for path in pages if path.startswith("pairs/")}
    page = pages["pairs/001-002.html"].decode()
    rows = re.findall(r'<bdi>(\w+)</bdi></a></th>((?:<td class="num">\d+</td>)+)', page)
    found = {name: [int(cell) for cell in re.findall(r">(\d+)<", cells)] for name, cells in rows}
    assert {"one": [2, 0, 1, 1], "two": [1, 0, 2, 0]} == found
    assert ["00001", "00002", "00003"] == re.findall(r'href="../games/(\d+)\.html"', page)
    assert 'href="../pairs/001-002.html"' in pages["agents/001.html"].decode()
    assert 'href="../pairs/001-002.html"' in pages["agents/002.html"].decode()


def test_an_agents_page_has_its_results_in_words_of_its_view() -> None:
    games = [
        a_game(1, "one", "other", Verdict.WIN, "5 in a row, d8 to h8"),
        a_game(2, "other", "one", Verdict.CRASH, "it ended"),
    ]
    pages = dict(site(a_contest(["one", "other"], games, [], ""), {}, Proof("", "", ()), languages(CODES)))
    words = {
        "": ("won: 5 in a row", "lost crash: it ended", "lost: 5 in a row", "won crash: it ended"),
        "cs/": (
            "výhra: řada délky 5, d8 až h8",
            "prohra pád programu: it ended",
            "prohra: řada délky 5, d8 až h8",
            "výhra pád programu: it ended",
        ),
    }

    for folder, expected in words.items():
        found = [
            re.findall(r"<tr><td.*?</tr>", pages[f"{folder}agents/{n}.html"].decode(), re.DOTALL)
            for n in ("001", "002")
        ]
        plain = [re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", row)).replace(" :", ":") for rows in found for row in rows]
        assert 4 == len(plain)
        for row, text in zip(plain, expected, strict=True):
            assert text in row
    assert '<span class="verdict">win</span>' not in pages["agents/001.html"].decode()


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (
            "2026-11-25T17:29:58",
            ("Played on 2026-11-25, 17:29 UTC.", "Hráno 2026-11-25, 17:29 UTC.", "2026-11-25, 17:29"),
        ),
        (
            "2026-11-25T17:31:02",
            (
                "Played from 2026-11-25, 17:29 to 2026-11-25, 17:31 UTC.",
                "Hráno od ",
                "2026-11-25, 17:29 至 2026-11-25, 17:31",
            ),
        ),
    ],
)
def test_start_and_end_in_one_minute_are_one_time(ended: str, words: Sequence[str]) -> None:
    game = a_game(1, "one", "two", Verdict.WIN, "5 in a row")
    games = [game, a_game(2, "two", "one", Verdict.WIN, "5 in a row")]
    journal = [
        JournalLine("2026-11-25T17:29:01", "started", game.id, 1, ""),
        JournalLine(ended, "accepted", game.id, 1, ""),
    ]
    contest = a_contest(["one", "two"], games, journal)
    contest.__dict__["is_over"] = True
    pages = dict(site(contest, {}, Proof("", "", ()), languages(CODES)))

    for folder, text in zip(("", "cs/", "zh/"), words, strict=True):
        assert text in pages[f"{folder}index.html"].decode()


def test_places_are_the_same_on_each_page_and_have_their_rule() -> None:
    """Two agents share the first place."""
    games = [a_game(1, "one", "two", Verdict.WIN, ""), a_game(2, "two", "one", Verdict.WIN, "")]
    games += [a_game(3, "one", "three", Verdict.WIN, ""), a_game(4, "two", "three", Verdict.WIN, "")]
    contest = a_contest(["one", "two", "three"], games)
    contest.__dict__["is_over"] = True
    pages = {
        path: data.decode(errors="replace") for path, data in site(contest, {}, Proof("", "", ()), languages(CODES))
    }
    rule = {"": "share a place, and the next places are left out", "cs/": "sdílejí místo", "zh/": "并列同一名次"}

    for folder, words in rule.items():
        index = pages[f"{folder}index.html"]
        assert ["1", "1", "3"] == re.findall(r'<td class="num place">(.*?)</td>', index)
        assert ["1-3", "1-3", "1-3"] == re.findall(r'<td class="bracket[^"]*">(.*?)</td>', index)
        for path in ("index", "agents/001", "agents/003"):
            assert words in pages[f"{folder}{path}.html"]
    assert 'place <b>1</b> <span class="quiet">(range 1-3)</span>' in pages["agents/002.html"]
    assert "place <b>3</b>" in pages["agents/003.html"]
    assert "Shared first place:" in pages["index.html"]
    assert (
        "2 agents share the first place: one, two. The games do not separate one and two: each" in pages["index.html"]
    )


def test_first_page_has_the_next_game_and_the_reason_of_a_disqualification(cup: Cup) -> None:
    contest = load_store(cup.contest)
    waiting = replace(contest.games[6], result=None, state="pending")
    running = replace(
        contest, games=[*contest.games[:6], waiting, *contest.games[7:]], disqualified={"dora": "two programs"}
    )
    pages = dict(site(running, {}, Proof("", "", ()), languages(CODES)))

    for folder, words, why in (
        ("", "Next game:", "Disqualified:"),
        ("cs/", "Příští partie:", "Diskvalifikace"),
        ("zh/", "下一局", "取消资格"),
    ):
        page = pages[f"{folder}index.html"].decode()
        (line,) = re.findall(r'<p id="next-game">(.*?)</p>', page)
        assert line.startswith(words)
        assert f"<bdi>{waiting.first}</bdi>" in line
        assert f"<bdi>{waiting.second}</bdi>" in line
        assert "two programs" in page[page.index(why) :]
    assert "next-game" not in dict(site(contest, {}, Proof("", "", ())))["index.html"].decode()


def test_verification_page_has_the_key_and_the_way_to_the_judge(exported: Public) -> None:
    for folder, heading in (("", "Install judge"), ("cs", "Instalace programu judge"), ("zh", "安装 judge")):
        path = exported.directory / folder / "verify.html"
        page = path.read_text()
        assert heading in page
        assert "judge 0.1.0" in page
        assert "pip install ./contest_judge-*.whl" in page
        (key,) = {link for link in Page(page).links if link.endswith("organiser.pem")}
        assert exported.public_key.read_bytes() == (path.parent / key).read_bytes()


def test_an_agents_page_counts_its_faults_by_verdict() -> None:
    verdicts = (Verdict.CRASH, Verdict.CRASH, Verdict.WIN)
    games = [a_game(number, "one", "other", verdict, "a reason") for number, verdict in enumerate(verdicts, 1)]
    pages = dict(site(a_contest(["one", "other"], games, [], ""), {}, Proof("", "", ())))

    assert "<li><b>2</b> crash</li>" in pages["agents/002.html"].decode()
    assert "Failures and fouls" not in pages["agents/001.html"].decode()


@pytest.fixture(scope="module")
def disqualified(cup: Cup) -> PublishedContest:
    """The cup with one agent disqualified at its end."""
    return replace(load_store(cup.contest), disqualified={"dora": "failed in 27% of its games; 10% are allowed"})


def text_of(page: bytes) -> str:
    """A page without markup."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.decode())).split())


def test_page_of_a_disqualified_agent_shows_its_played_games_and_that_they_do_not_count(
    disqualified: PublishedContest,
) -> None:
    pages = dict(site(disqualified, {}, Proof("", "", ()), languages(CODES)))
    played = [result for result in disqualified.results if "dora" in result.agents]
    won, drawn = sum(result.winner == "dora" for result in played), sum(result.is_draw for result in played)

    for folder, words in (
        ("", "Its 8 games do not count, because it was disqualified."),
        ("cs/", "Jeho 8 partií se nepočítá, protože byl diskvalifikován."),
        ("zh/", "其 8 局对局不计入成绩。"),
    ):
        page = pages[f"{folder}agents/004.html"].decode()
        assert words in page
        # Neither place nor points are before its results.
        assert f"{won} / {drawn} / {8 - won - drawn}" == re.findall("<li><b>(.*?)</b>", page)[0]
        assert 8 == page.count('class="score out"')
        index = pages[f"{folder}index.html"].decode()
        row = next(row for row in re.findall(r"<tr>.*?</tr>", index, re.DOTALL) if "\N{EN DASH}" in row)
        # Its bar in the chart would be empty.
        assert (True, False) == (">anna</text>" in index, ">dora</text>" in index)
        assert {"\N{EN DASH}", ""} == set(re.findall(r'<td class="num[^>]*>([^<]*)</td>', row))
    pair = pages["pairs/001-004.html"]
    assert "2 games do not count, because dora was disqualified." in text_of(pair)
    assert b"<b>2</b> games" in pair


def test_games_that_do_not_count_are_marked_on_every_page(
    disqualified: PublishedContest, cup: Cup, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = dict(site(disqualified, {}, Proof("", "", ())))
    marked = {path: pages[path].count(b"</s>") for path in ("games.html", "agents/001.html", "pairs/001-004.html")}
    rounds = sum(data.count(b"</s>") for path, data in pages.items() if path.startswith("rounds/"))

    assert {"games.html": 8, "agents/001.html": 2, "pairs/001-004.html": 2} == marked
    assert 8 == rounds
    assert 8 == pages["games.html"].count(b"(does not count)")
    assert "20 games (8 do not count)" in text_of(pages["index.html"])
    # The same number of an agent in the crosstable and the standings.
    heads = re.findall(r'<th scope="col" class="mid"><abbr[^>]*>(.*?)</abbr>', pages["crosstable.html"].decode())
    assert ["1", "2", "3", "4", "\N{EN DASH}"] == heads
    legend = b"Games that are struck through do not count"
    assert legend in pages["crosstable.html"]
    monkeypatch.setattr("judge.site.site.MOST_IN_CELL", 0)
    sums = dict(site(disqualified, {}, Proof("", "", ())))["crosstable.html"]
    assert (8, True) == (sums.count(b"</s>"), legend in sums)
    assert legend not in dict(site(load_store(cup.contest), {}, Proof("", "", ())))["crosstable.html"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("en", "This game does not count, because dora was disqualified."),
        ("cs", "Tato partie se nepočítá, protože program dora byl diskvalifikován."),
        ("zh", "dora 已被取消资格"),
    ],
)
def test_page_of_a_game_that_does_not_count_has_the_reason(code: str, words: str) -> None:
    file = recorded.gomoku()
    game = a_game(1, "anna", "dora", Verdict.WIN, "")
    spoken = languages([code])
    place = PagePlace("games/00001.html", spoken[0], spoken)
    counted, excluded = (
        game_page(steps_of(file), file.record, GamePageContext("cup", game, ("1", "2"), excluded=name), place)
        for name in ("", "dora")
    )

    assert words in text_of(excluded).replace(" .", ".")
    assert words not in text_of(counted)


def test_failures_of_an_agent_are_in_the_order_of_the_games() -> None:
    pairs = (("one", "other"), ("two", "other"), ("one", "other"))
    games = [a_game(number, *pair, Verdict.CRASH, "it ended") for number, pair in enumerate(pairs, 1)]
    page = dict(site(a_contest(["one", "two", "other"], games), {}, Proof("", "", ())))["agents/003.html"].decode()

    listed = page.partition('<ul class="faults">')[2].partition("</ul>")[0]
    assert ["00001", "00002", "00003"] == re.findall(r"games/(\d+)\.html", listed)


def test_list_of_games_counts_the_played_ones(cup: Cup) -> None:
    contest = load_store(cup.contest)
    games = [replace(game, result=None, state="pending") if game.number > 5 else game for game in contest.games]
    pages = dict(site(replace(contest, games=games), {}, Proof("", "", ()), languages(CODES)))

    for folder, words in (
        ("", "5 of 20 games played"),
        ("cs/", "Odehráno partií: 5 z 20"),
        ("zh/", "已完成 5 / 20 局"),
    ):
        assert words in pages[f"{folder}games.html"].decode()


def test_public_page_of_a_failed_game_has_words_for_viewers_and_the_command_for_its_link(cup: Cup) -> None:
    contest = load_store(cup.contest)
    game = next(game for game in contest.played if game.result is not None and game.result.verdict is Verdict.CRASH)
    assert game.result is not None
    public = public_part(cup.contest.record(game.result.record))
    context = GamePageContext("cup", game, ("001", "002"))
    page = game_page(steps_of(public), public.record, context, PagePlace(f"games/{game.stem}.html")).decode()

    assert "The record has the evidence." in page
    assert "stored for you" not in page
    assert f"<code>judge verify {game.stem}.json</code>" in page
    assert f'/{game.stem}.json">' in page


def test_percentages_of_old_and_new_records_have_one_form(disqualified: PublishedContest) -> None:
    pages = dict(site(disqualified, {}, Proof("", "", ()), languages(CODES)))

    for folder, words in (
        ("", "failed in 27 % of its games; 10 % are allowed"),
        ("cs/", "selhal v 27 % svých partií; povoleno je 10 %"),
        ("zh/", "在其 27 % 的对局中出错"),
    ):
        for path in ("index", "agents/004"):
            assert words in pages[f"{folder}{path}.html"].decode()
        assert b"27%" not in b"".join(data for path, data in pages.items() if path.endswith(".html"))


# --- the film --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.__name__)
def test_film_shows_the_correct_pieces_at_every_step(game: Callable[[], RecordFile]) -> None:
    """As many pieces and marks as the position has, each on its square."""
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


def test_a_span_is_as_long_as_something_stays() -> None:
    stays = spans([{(0, 0): "a"}, {(0, 0): "a", (1, 0): "b"}, {(1, 0): "c"}, {(1, 0): "c"}])

    assert [((0, 0), "a", 0, 1), ((1, 0), "b", 1, 1), ((1, 0), "c", 2, 3)] == [
        (span.square, span.thing, span.first, span.last) for span in stays
    ]


# --- size ------------------------------------------------------------------------------------------------------------


def many_games(agents: int, count: int) -> PublishedContest:
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
    proof, few = Proof("", "", []), sized(250, 1_000)
    small, large = (
        {path: len(data) for path, data in site(many_games(30, games), {}, proof)} for games in (few, 4 * few)
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
        len(game_page(replay, file.record, context, PagePlace("games/00001.html", language)))
        for language in languages(CODES)
    ]

    assert 400 == len(file.record.plies)
    assert max(weights) <= MAX_PAGE_BYTES - FIXED


def test_too_many_agents_make_no_unreadable_crosstable() -> None:
    pages = dict(site(many_games(150, 300), {}, Proof("", "", [])))

    assert "150 agents are too many for one table" in pages["crosstable.html"].decode()
    assert len(pages["crosstable.html"]) < 40_000


def test_standings_note_that_places_do_not_follow_the_points(
    exported: Public, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the pages in each language, and on a terminal."""
    cast = {name: player(name, skill) for name, skill in (("anna", 0.9), ("bert", 0.7), ("carl", 0.5), ("dora", 0.3))}
    with Cup(tmp_path / "cup", cast, 'name = "leagues"\nsizes = [2, 2]\npromoted = 1') as cup:
        cup.play()
        words = cup.contest.snapshot.format.places_by
        published = load_store(cup.contest)
    standings(tmp_path / "cup")

    assert words in capsys.readouterr().out.splitlines()
    pages = dict(site(published, {}, Proof("", "", []), languages(CODES)))
    for code, path in zip(CODES, ("index.html", "cs/index.html", "zh/index.html"), strict=True):
        translated = words if code == "en" else languages([code])[0].sentence(words)
        assert translated is not None
        assert f"<p>{translated}</p>".encode() in pages[path]
    assert b"Places depend on" not in (exported.directory / "index.html").read_bytes()
