"""The site as files: every link leads somewhere, nothing comes from elsewhere, and no stranger's word is markup."""

import dataclasses
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from judge.catalog.steps import steps_of
from judge.contest.ratings import rate
from judge.contest.results import GameResult, SideScore
from judge.contest.standings import Cell, TableLine
from judge.games.types import Verdict
from judge.publish.match_page import Frame, game_page
from judge.publish.pages import POLICY
from judge.publish.publication import Participant, Publication, PublishedGame
from judge.publish.redaction import public_part
from judge.publish.site import Proof, site
from judge.referee.spec import RecordFile
from judge.render.svg_player import spans, write_film
from judge.store.types import JournalLine as LogLine
from tests.publish.conftest import Public
from tests.records import recorded
from tests.records.recorded import HOSTILE

LONG = "x" * 10_000

STRANGE = [HOSTILE, LONG, "<script>alert(1)</script>", "{{ 7 * 7 }}", "' onload='x", "\x1b[31mred"]
"""Names that no contest lets in; a page must not depend on that."""

FRAME = Frame("cup", 1, "00001", "0" * 20, 1, 1, ("001", "002"))


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
        found = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.handlers += [name for name in found if name.startswith("on") or name == "style"]
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "a":
            self.links.append(found["href"])
        elif tag == "meta" and found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"]
        else:
            self.loads += [found[name] for name in ("src", "href") if name in found]


def pages_of(directory: Path) -> Iterator[tuple[Path, Page]]:
    for path in sorted(directory.rglob("*.html")):
        yield path, Page(path.read_text())


def test_every_link_leads_somewhere(exported: Public) -> None:
    pages = dict(pages_of(exported.directory))

    assert len(pages) > 30
    for path, page in pages.items():
        for link in page.links:
            target, _, fragment = link.partition("#")
            found = (path.parent / target) if target else path
            assert found.resolve().is_file(), (path, link)
            if fragment and target:
                assert fragment in pages[found.resolve()].ids, (path, link)


def test_no_page_loads_anything_but_our_two_files(exported: Public) -> None:
    for path, page in pages_of(exported.directory):
        loaded = {load for load in page.loads if not load.startswith(("#", "data:,"))}
        assert {Path(load).name for load in loaded} <= {"style.css", "viewer.js"}, path
        for load in loaded:
            assert (path.parent / load).resolve().parent == exported.directory.resolve()
        assert page.policy == POLICY
        assert [] == page.handlers


def test_our_files_load_nothing(exported: Public) -> None:
    for name in ("style.css", "viewer.js"):
        text = (exported.directory / name).read_text()
        assert not re.search(r"https?:|@import|url\(|eval|innerHTML", text)


# --- strangers -------------------------------------------------------------------------------------------------------


def strange_publication() -> Publication:
    """Everybody is called something evil, and everything that was said is."""
    names = STRANGE
    games, number = [], 0
    for first in names:
        for second in names:
            if first < second:
                number += 1
                result = GameResult(first, second, first, Verdict.CRASH, HOSTILE, HOSTILE, (None, Verdict.CRASH))
                games.append(PublishedGame(number, HOSTILE, 1, number, 0, first, second, "done", result=result))
    side = SideScore(wins=1, losses=1, failures=1, replies=3, charged_ms=5.0)
    return Publication(
        name=HOSTILE,
        about=LONG + HOSTILE,
        facts={HOSTILE: LONG},
        participants=[
            Participant(at, name, HOSTILE, at, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)
            for at, name in enumerate(names, 1)
        ],
        games=games,
        table=[TableLine(at, name, 1.5, 0, side, (1.5,)) for at, name in enumerate(names, 1)],
        cells=[[Cell(1.0, side) if a != b else None for a in names] for b in names],
        ranking=("points",),
        ratings=rate([game.result for game in games if game.result is not None]),
        journal=[
            LogLine("2024-01-01T00:00:00.000", event, HOSTILE, 1, HOSTILE + LONG)
            for event in ("accepted", "void", HOSTILE)
        ],
    )


def assert_harmless(text: str) -> None:
    page = Page(text)
    assert [] == page.handlers
    assert not page.tags & {"b>", "script>"}
    assert text.count("<script") == ('src="../viewer.js"' in text)
    assert "<b>&" not in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", text)
    assert "x" * 601 not in text


def test_whatever_an_agent_is_called_it_stays_text() -> None:
    said = {name: {HOSTILE: LONG} for name in STRANGE}
    proof = Proof("-----BEGIN\nx", "0" * 64, [(HOSTILE, LONG)])
    pages = dict(site(strange_publication(), said, proof))

    assert {"index.html", "crosstable.html", "journal.html", "agents/001.html"} <= pages.keys()
    for path, data in pages.items():
        assert re.fullmatch(r"[a-z]+/\d+\.html|[a-z]+\.(html|css|js)", path)
        if path.endswith(".html"):
            assert_harmless(data.decode())
    assert "49" not in pages["agents/004.html"].decode().partition("<h1>")[2][:60]


GAMES = [recorded.gomoku, recorded.stratego_game, recorded.chess, recorded.quantum]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.__name__)
def test_whatever_an_agent_says_in_a_game_stays_text(game: Callable[[], RecordFile]) -> None:
    file = game()
    record = file.record
    seats = tuple(
        seat.model_copy(update={"name": HOSTILE + LONG, "why": HOSTILE, "notes": (HOSTILE, LONG)})
        for seat in record.seats
    )
    strange = record.model_copy(update={"seats": seats, "reason": HOSTILE + LONG, "result": HOSTILE})
    frame = dataclasses.replace(FRAME, contest=HOSTILE)
    page = game_page(RecordFile(record=strange, transcript=public_part(file).transcript), frame)

    assert_harmless(page.decode())


# --- the film --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.__name__)
def test_at_every_step_the_film_shows_what_stood_there(game: Callable[[], RecordFile]) -> None:
    """As many pieces and marks as the position has, each on its square."""
    file = game()
    steps = steps_of(file).steps
    views = [step.view for step in steps]
    film = write_film(views)
    placed = re.findall(r'<use href="#p\d+" x="(-?\d+)" y="(-?\d+)" data-s="(\d+) (\d+)"', film)
    tokens, marks = spans([view.tokens for view in views]), spans([view.marks for view in views])

    assert len(placed) == len(tokens) + len(marks)
    for at, view in enumerate(views):
        shown = [each for each in placed if int(each[2]) <= at <= int(each[3])]
        assert len(view.tokens) + len(view.marks) == len(shown)
    off = film.count('class="off"')
    assert len(placed) - off == len(views[-1].tokens) + len(views[-1].marks)


def test_a_span_is_as_long_as_something_stays() -> None:
    found = spans([{(0, 0): "a"}, {(0, 0): "a", (1, 0): "b"}, {(1, 0): "c"}, {(1, 0): "c"}])

    assert [((0, 0), "a", 0, 1), ((1, 0), "b", 1, 1), ((1, 0), "c", 2, 3)] == [
        (span.square, span.thing, span.first, span.last) for span in found
    ]


# --- size ------------------------------------------------------------------------------------------------------------


def many_games(agents: int, games: int) -> Publication:
    names = [f"agent-{number}" for number in range(agents)]
    played = []
    for number in range(1, games + 1):
        first, second = names[number % agents], names[(number + 1 + number // agents) % agents]
        if first == second:
            second = names[(number + 2 + number // agents) % agents]
        result = GameResult(first, second, first, Verdict.WIN, "5 in a row", replies=(20, 20))
        played.append(PublishedGame(number, f"{number:020d}", 1, number, 0, first, second, "done", result=result))
    side = SideScore(wins=games // agents)
    return Publication(
        name="large",
        about="",
        facts={},
        participants=[Participant(at, name) for at, name in enumerate(names, 1)],
        games=played,
        table=[TableLine(at, name, 1.0, 0, side) for at, name in enumerate(names, 1)],
        cells=[[None] * agents for _ in names],
        ranking=(),
        journal=[
            LogLine("2024-01-01T00:00:00.000", event, game.match, 1, "")
            for game in played
            for event in ("started", "accepted")
        ],
    )


def test_the_site_grows_with_the_games_and_no_page_with_all_of_them() -> None:
    """Four times the games among as many agents: four times the bytes at most, on pages that stay readable."""
    proof = Proof("", "", [])
    small, large = (
        {path: len(data) for path, data in site(many_games(30, games), {}, proof)} for games in (1_000, 4_000)
    )

    assert sum(large.values()) < 4.4 * sum(small.values())
    assert max(large.values()) < 400_000
    assert large["index.html"] < 1.1 * small["index.html"]


def test_too_many_agents_make_no_crosstable_that_nobody_could_read() -> None:
    pages = dict(site(many_games(150, 1_000), {}, Proof("", "", [])))

    assert "150 agents are too many for one table" in pages["crosstable.html"].decode()
    assert len(pages["crosstable.html"]) < 40_000
