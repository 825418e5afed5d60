"""The page of a running game, without a service: what it weighs, and that it is the game's."""

import re
from html import unescape

import pytest

from judge.broadcast.events import (
    Ended,
    GameStarted,
    NextGame,
    Playing,
    Scheduled,
    StandingLine,
    TableChanged,
    Unscored,
)
from judge.broadcast.running import events_of_record
from judge.broadcast.state import Live
from judge.contest.hosts import ContestHost
from judge.site.pages import STYLE, PagePlace, asset
from judge.site.rules import rules_in_words
from judge.site.site import MAX_PAGE_BYTES
from judge.translations.language import CODES, languages
from judge.web.live.paint import Painter
from judge.web.live.running_pages import NEW_EVENTS, RunningPages
from tests.records import recorded

FIXED = len(asset(STYLE)) + len(asset("live.js", "judge.web.live"))


@pytest.mark.parametrize("family", ["board", "chess", "stratego"])
def test_the_page_of_a_long_game_weighs_no_more_than_any_other(family: str) -> None:
    """A full board of 20x20, and both agents say much of each search; also boards with pieces."""
    file = {"board": lambda: recorded.full_board(20), "chess": recorded.chess, "stratego": recorded.stratego_game}[
        family
    ]()
    live, seats = Live(), file.record.seats
    live.apply(GameStarted(game=1, attempt=1, at=file.record.started_at, first=seats[0].name, second=seats[1].name))
    for event in events_of_record(file, 1):
        live.apply(event)
    pages = RunningPages("cup", file.record.spec.policy, Painter(file.record.spec.policy))
    for language in languages(CODES):
        page = pages.one(live.games[1], live, 0, PagePlace("games/00001.html", language, languages(CODES)))

        assert len(page.data) <= MAX_PAGE_BYTES - FIXED, language.code
        assert len(file.record.plies) == page.data.count(b'<tr id="')
        assert len(live.games[1].tokens) == page.data.count(b"data-at=")


def test_a_script_that_has_the_boards_is_sent_those_of_new_games_alone() -> None:
    file = recorded.gomoku()
    live, seats = Live(), file.record.seats
    began = next(event for event in events_of_record(file, 1) if isinstance(event, Playing))
    for game, seq in ((1, 5), (2, 6 + NEW_EVENTS)):
        started = GameStarted(game=game, attempt=1, at=began.at, first=seats[0].name, second=seats[1].name)
        live.apply(started.model_copy(update={"seq": seq - 1}))
        live.apply(began.model_copy(update={"seq": seq, "game": game}))
    pages, place = (
        RunningPages("cup", file.record.spec.policy, Painter(file.record.spec.policy)),
        PagePlace("live.html"),
    )
    whole, new = (pages.all(live, 0, 2, place, only_new=only_new).data for only_new in (False, True))

    assert (2, 2) == (whole.count(b"<article"), whole.count(b"</svg>"))
    assert (2, 1) == (new.count(b"<article"), new.count(b"</svg>"))
    assert b'data-game="1" data-attempt="1" hidden></article>' in new


@pytest.mark.parametrize("place", [PagePlace("live.html", each, languages(CODES)) for each in languages(CODES)])
def test_rules_and_limits_are_on_the_page_of_all_games(place: PagePlace) -> None:
    policy = recorded.gomoku().record.spec.policy
    page = unescape(RunningPages("cup", policy, Painter(policy)).all(Live(), 0, 1, place).data.decode())
    goal, limits = rules_in_words(policy, place.language)
    (shown,) = re.findall(r"<details><summary>[^<]+</summary>\s*<p>(.*?)</p>", page)

    assert shown.startswith(place.language.sentence(goal[0]) or "missing")
    assert limits in shown


def test_clocks_are_shown_as_soon_as_the_game_is_played() -> None:
    """While it is made ready nothing is left or used yet."""
    file = recorded.gomoku()
    seats, began = file.record.seats, next(each for each in events_of_record(file, 1) if isinstance(each, Playing))
    painter, live = Painter(file.record.spec.policy), Live()

    def empty_clocks() -> list[int]:
        pages = RunningPages("cup", file.record.spec.policy, painter)
        all_games = pages.all(live, 0, 1, PagePlace("live.html"))
        one = pages.one(live.games[1], live, 0, PagePlace("games/00001.html"))
        return [page.data.count(b'role="timer" aria-live="off"></time>') for page in (all_games, one)]

    live.apply(GameStarted(game=1, attempt=1, at=began.at, first=seats[0].name, second=seats[1].name))
    assert [2, 2] == empty_clocks()

    live.apply(began)
    assert [0, 0] == empty_clocks()


def test_the_machines_of_a_contest_are_shown_if_there_are_several() -> None:
    policy = recorded.gomoku().record.spec.policy
    here, lost, other = (
        ContestHost("here", played=3),
        ContestHost("w1", slots=2, lost_since="2026-11-23T04:05:06.000007+00:00", running=1, played=7, voids=2),
        ContestHost(
            "w2", slots=1, barred="/a/path of that machine", stands_out=["2 of its 9 games are void, p = 0.01"]
        ),
    )
    place = PagePlace("live.html", languages(CODES)[1], languages(CODES))

    def page(*hosts: ContestHost) -> str:
        pages = RunningPages("cup", policy, Painter(policy), hosts=lambda: hosts)
        return pages.all(Live(), 0, 1, place).data.decode()

    alone, all_three = page(here), page(here, lost, other)

    assert 'id="hosts"' not in alone
    assert [["here", "", "0", "3", "0"], ["w1", "2", "1", "7", "2"], ["w2", "1", "0", "0", "0"]] == [
        re.findall(r"<(?:bdi|td class=.num.)>([^<]*)<", row)
        for row in all_three.split('id="hosts"')[1].split("<tr>")[2:]
    ]
    assert "ztracen od 2026-11-23 04:05:06 UTC" in all_three
    assert "neplatných partií 2 z 9, p = 0.01" in all_three
    assert "/a/path" not in all_three


def test_followed_agent_has_its_last_five_results_newest_first() -> None:
    """However many games of others ended since."""
    policy, at = recorded.gomoku().record.spec.policy, "2026-01-01T00:00:00+00:00"
    live = Live(agents={"anna": 1, "bert": 2, "<carl>": 3})
    others, own = [("bert", "<carl>")] * 20, [("anna", "bert"), ("<carl>", "anna")] * 4
    for game, (first, second) in enumerate([*own, *others], 1):
        live.apply(GameStarted(game=game, attempt=1, at=at, first=first, second=second))
        ended = Ended(
            game=game, attempt=1, at=at, verdict="win", winner=0, score="1 : 0", outcome="", moves=9, record=""
        )
        live.apply(ended)
    pages = RunningPages("cup", policy, Painter(policy))
    page = pages.all(live, 0, 1, PagePlace("live.html"), agent="anna").data.decode()
    results = page[page.index('id="ended"') : page.index('id="next"')]

    assert ["00008", "00007", "00006", "00005", "00004"] == re.findall(r'href="games/(\d+)\.html"', results)
    opponents = re.findall(r'href="agents/(\d+)\.html"><bdi>([^/]*)</bdi>', results)
    assert [("003", "&lt;carl&gt;"), ("002", "bert")] == opponents[:2]
    assert 5 == len(opponents)
    assert all(number not in results for number in ("00009", "00028"))
    assert {"anna", "bert", "<carl>"} == set(live.ended_by_agent)
    assert all(len(each) == 5 for each in live.ended_by_agent.values())


def test_each_game_and_each_agent_is_shown_with_its_league() -> None:
    """In the language of the page; also a game that is played again."""
    file = recorded.gomoku()
    seats, began = file.record.seats, next(each for each in events_of_record(file, 1) if isinstance(each, Playing))
    first, second = seats[0].name, seats[1].name
    live, at = Live(agents={first: 1}), began.at
    coming = [NextGame(game=game, round=1, table=game, first=first, second=second, stage="League 2") for game in (1, 2)]
    line = StandingLine(place=1, agent=first, points=0, games=0, wins=0, draws=0, losses=0, stage="League 1")
    live.apply(Scheduled(at=at, games=tuple(coming)))
    live.apply(TableChanged(at=at, lines=(line,)))
    live.apply(GameStarted(game=1, attempt=1, at=at, first=first, second=second))
    live.apply(Unscored(game=1, attempt=1, at=at, state="void", reason=""))
    live.apply(GameStarted(game=1, attempt=2, at=at, first=first, second=second))
    found = languages(CODES)
    words = {"en": ("League 1", "League 2"), "cs": ("1. liga", "2. liga"), "zh": ("第 1 级联赛", "第 2 级联赛")}
    for language in found:
        pages = RunningPages("cup", file.record.spec.policy, Painter(file.record.spec.policy))
        page = pages.all(live, 0, 1, PagePlace("live.html", language, found)).data.decode()
        one = pages.one(live.games[1], live, 0, PagePlace("games/00001.html", language, found)).data.decode()

        assert (1, 2) == tuple(page.count(word) for word in words[language.code])
        assert 1 == one.count(words[language.code][1])


def test_standings_by_rating_show_the_rating() -> None:
    lines = (
        StandingLine(place=1, agent="a", points=1, games=3, wins=1, draws=0, losses=2, rating=1712.4),
        StandingLine(place=2, agent="b", points=2, games=3, wins=2, draws=0, losses=1, rating=1599.6),
    )
    live = Live(agents={"a": 1, "b": 2})
    live.apply(TableChanged(at="2026-11-23T04:05:06.000Z", lines=lines))
    [english] = languages(["en"])
    policy = recorded.gomoku().record.spec.policy
    page = RunningPages("cup", policy, Painter(policy), has_rounds=False).all(
        live, 0, 1, PagePlace("live.html", english, [english])
    )
    table = page.data.decode().split('id="table"')[1]

    assert ["1", "1712", "1", "3", "2", "1600", "2", "3"] == re.findall(r'<td class="num[^>]*>([^<]*)<', table)
