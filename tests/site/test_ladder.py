"""Pages of a ladder: ratings, intervals, trends, open games and histories; also in a browser, from disk."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from judge.contest.runner import Scheduler
from judge.contest_view.ladder import LadderRatings
from judge.contest_view.view import ContestView
from judge.publish.export.export import PageOptions
from judge.site.site import MAX_PAGE_BYTES
from tests.contests import Recipe, nothing
from tests.examples import sized
from tests.publish.cups import Cup, player
from tests.publish.public import Public
from tests.site.browser import VIEWS, Browser
from tests.site.whole_site import texts
from tests.verify.test_ladder import FAILURES, joins

CAST = {f"agent-{number}": player(f"agent-{number}", 0.95 - 0.09 * number) for number in range(8)}
FORM = 'name = "ladder"\ntotal_games = 96\nanchors = { agent-4 = 1500 }'


def with_an_open_game(cup: Cup) -> None:
    """After 88 games: the agents have more than a trend needs."""
    cup.play(88)
    Scheduler(cup.contest).schedule_next()


LONG = Recipe("long-ladder", CAST, FORM, FAILURES, with_an_open_game, PageOptions(), options={"drawn": nothing})


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    with LONG.contest(tmp_path_factory.mktemp("running")) as cup:
        yield cup


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Public:
    return LONG.export(tmp_path_factory.mktemp("exported"))


def test_a_ladder_that_is_followed_is_the_same_as_one_that_is_read_at_once(tmp_path: Path) -> None:
    """With an agent that joins, results that are withdrawn, and an agent that is disqualified."""
    with joins(tmp_path / "cup") as cup:
        follower, name = LadderRatings(), cup.contest.name

        def read_and_compare() -> ContestView:
            contest = cup.contest.read()
            assert contest.ladder == replace(contest, ladder_ratings=follower).ladder
            return contest

        assert "zoe" not in read_and_compare().ladder
        cup.play(6)
        entered = read_and_compare()
        assert entered.ladder["zoe"].start == 1500
        cup.store.annul(cup.store.games(name)[2].id, "a power cut")
        read_and_compare()
        cup.play(4)
        read_and_compare()
        cup.store.disqualify(name, "bert", "by the organiser")
        cup.play()
        last = read_and_compare()
        assert last.is_over
        orders = sorted(point.order for each in last.ladder.values() for point in each.history)
        assert [order for order in range(1, len(last.results) + 1) for _ in "ab"] == orders


def test_page_of_a_ladder_has_one_rating_and_its_options_under_technical_details(running: Cup) -> None:
    front, _, details = texts(running.contest.read())["index.html"].partition("Technical details")

    assert (1, 0) == (front.count(">Rating</abbr>"), front.count(">Elo</th>"))
    assert ("deviation" in details, "deviation" in front) == (True, False)


def test_pages_stay_readable_with_many_games(running: Cup) -> None:
    whole = running.contest.read()
    *games, _open = whole.games
    contest = replace(whole, games=games, pairings=whole.pairings[:-1], journal=whole.journal[:-1])
    # The same results again, as if so many times as many games were played.
    copies = sized(12, 35)
    journal, games = list(contest.journal), list(contest.games)
    count = len(games)
    for copy in range(1, copies):
        for game in contest.games:
            number = copy * count + game.number
            result = game.result and game.result._replace(id=f"{copy} {game.id}", number=number)
            games.append(replace(game, id=f"{copy} {game.id}", number=number, table=number, result=result))
        journal += [
            replace(line, game=line.game and f"{copy} {line.game}")
            for line in contest.journal
            if line.event != "entered"
        ]
    pairings = [replace(each, table=each.table + copy * count) for copy in range(copies) for each in contest.pairings]
    large = replace(contest, games=games, journal=journal, pairings=pairings)
    assert sum(len(each.history) for each in large.ladder.values()) == 2 * copies * count
    found = texts(large, "zh")
    assert {} == {path: len(text) for path, text in found.items() if len(text.encode()) > MAX_PAGE_BYTES}
    ended = r"最后一局 <b>\d{4}-\d\d-\d\d \d\d:\d\d</b> UTC"
    assert {1} == {len(re.findall(ended, text)) for path, text in found.items() if re.match(r"agents/\d+\.html", path)}
    curves = {path: re.findall(r'<path [^>]*\bd="([^"]*)"', text) for path, text in found.items()}
    assert max(len(curve) for curve in curves["index.html"]) > 600
    drawn = re.compile("([MLHVhlvZ][0-9 .-]*)+")
    assert {} == {path: cut for path, each in curves.items() if (cut := [d for d in each if not drawn.fullmatch(d)])}


PAGES = ("index.html", "agents/001.html", "agents/005.html", "games.html", "crosstable.html")


@pytest.mark.parametrize(("folder", "width", "dark"), VIEWS)
def test_axe_finds_nothing_wrong(browser: Browser, public: Public, folder: str, width: int, dark: bool) -> None:
    browser.set_view(width, dark)
    for page in PAGES:
        browser.open(public.directory / folder / page)
        browser.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        browser.check(width, page)


def test_standings_of_a_phone_fit_without_the_columns_of_an_agents_page(browser: Browser, public: Public) -> None:
    shown = "[...document.querySelectorAll('.dense thead th')].filter((each) => each.offsetWidth).length"
    table, counts = "document.querySelector('.wide')", []
    for width in (1280, 390):
        browser.set_view(width)
        for folder in ("", "cs"):
            browser.open(public.directory / folder / "index.html")
            assert width > 390 or browser.ask(f"{table}.scrollWidth <= {table}.clientWidth")
        counts.append(browser.ask(shown))
    assert [True, 5] == [counts[0] > 8, counts[1]]


def test_charts_are_readable_without_script_and_without_colour(browser: Browser, public: Public) -> None:
    """Each line has another pattern and its agent's name, and no name covers another."""
    with browser.without_scripts():
        browser.set_view(390)
        browser.open(public.directory / "index.html")
        patterns = browser.ask(
            "[...document.querySelectorAll('.history .line')].map((line) => getComputedStyle(line).strokeDasharray)"
        )
        assert len(patterns) == len(set(patterns)) == 6
        names = browser.ask(
            """[...document.querySelectorAll(".history .label")].map((name) => [name.textContent,
            name.getBoundingClientRect().top, name.getBoundingClientRect().bottom])"""
        )
        assert len(names) == 6
        tops = sorted((top, bottom) for _, top, bottom in names)
        assert all(after[0] >= before[0] + 11 for before, after in itertools.pairwise(tops))
        rows = browser.ask("document.querySelectorAll('figure details tbody tr').length")
        assert rows == 12
