"""The page of a running game, without a service: what it weighs, and that it is the game's."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from judge.broadcast import events
from judge.broadcast.running import events_of_record
from judge.broadcast.state import Live
from judge.contest.hosts import ContestHost
from judge.contest.window_keeper import PlanFile
from judge.record.policy import Policy
from judge.site.pages import STYLE, PagePlace, asset
from judge.site.site import MAX_PAGE_BYTES
from judge.translations.language import CODES, languages
from judge.web.live.paint import Painter
from judge.web.live.running_pages import RunningPages
from tests.contest.test_plan import HEAD, ROUND_ROBIN, plan
from tests.formats import recorded

FIXED = len(asset(STYLE)) + len(asset("live.js", "judge.web.live"))
AT = "2026-01-01T00:00:00+00:00"
GAME = recorded.gomoku()
FIRST, SECOND = (seat.name for seat in GAME.record.seats)
BEGAN = next(event for event in events_of_record(GAME, 1) if isinstance(event, events.Playing))
ALL_GAMES, ONE_GAME = PagePlace("live.html"), PagePlace("games/00001.html")
LANGUAGES = languages(CODES)


def running_pages(policy: Policy = GAME.record.spec.policy, **options: Any) -> RunningPages:
    return RunningPages("cup", policy, {}, Painter(policy), **options)


def live_of(*past: events.AnyEvent, **options: Any) -> Live:
    live = Live(**options)
    for event in past:
        live.apply(event)
    return live


def page_of(live: Live, place: PagePlace = ALL_GAMES, **options: Any) -> str:
    """The page of all games."""
    hosts = options.pop("hosts", ())
    return running_pages(**options).all(live, 0, place, hosts=hosts).data.decode()


def started(game: int, first: str = FIRST, second: str = SECOND, attempt: int = 1, seq: int = 0) -> events.GameStarted:
    return events.GameStarted(seq=seq, game=game, attempt=attempt, at=AT, first=first, second=second)


def ended(game: int, outcome: str = "", attempt: int = 1) -> events.Ended:
    result: dict[str, Any] = {"verdict": "win", "winner": 0, "score": "1 : 0", "moves": 9, "record": ""}
    return events.Ended(game=game, attempt=attempt, at=AT, outcome=outcome, **result)


@pytest.mark.parametrize("family", ["board", "chess", "stratego"])
def test_the_page_of_a_long_game_weighs_no_more_than_any_other(family: str) -> None:
    """A full board of 20x20, and both agents say much of each search; also boards with pieces."""
    files = {"board": lambda: recorded.full_board(20), "chess": recorded.chess, "stratego": recorded.stratego_game}
    file = files[family]()
    first, second = (seat.name for seat in file.record.seats)
    live = live_of(started(1, first, second), *events_of_record(file, 1))
    pages = running_pages(file.record.spec.policy)
    for language in LANGUAGES:
        page = pages.one(live.games[1], live, 0, PagePlace("games/00001.html", language, LANGUAGES))

        assert len(page.data) <= MAX_PAGE_BYTES - FIXED, language.code
        assert len(file.record.plies) == page.data.count(b'<tr id="')
        assert len(live.games[1].tokens) == page.data.count(b"data-at=")


def test_script_that_has_the_boards_is_sent_none() -> None:
    live = Live()
    for game, seq in ((1, 5), (2, 7)):
        live.apply(started(game, seq=seq - 1))
        live.apply(BEGAN.model_copy(update={"seq": seq, "game": game}))
    whole, rest = (running_pages().all(live, 0, ALL_GAMES, with_boards=each).data for each in (True, False))

    # With the templates of coming games; each card has a board and a curve.
    assert (3, 6) == (whole.count(b"<article"), whole.count(b"</svg>"))
    assert (0, 0) == (rest.count(b"<article"), rest.count(b"</svg>"))
    assert b'<span id="count">2</span>' in rest


def test_game_that_is_prepared_is_next_and_has_no_card() -> None:
    live, cards = Live(), []
    for event in (started(1), BEGAN):
        live.apply(event)
        page = page_of(live)
        shown, _, lists = page.partition("<template")
        following = lists[lists.index('id="next"') :]
        cards.append((shown.count("<article"), *re.findall(r'id="count">(.)', page), f"{FIRST}</bdi>" in following))

    assert [(0, "0", True), (1, "1", False)] == cards


@pytest.mark.parametrize(("after_s", "cards"), [(9, 1), (11, 0)])
def test_ended_game_stays_for_ten_seconds_with_its_result(after_s: int, cards: int) -> None:
    live = live_of(started(1), *events_of_record(GAME, 1), ended(1, "A wins: five"))
    now = datetime.fromisoformat(AT).timestamp() + after_s
    page = page_of(live, now=lambda: now).partition("<template")[0]

    assert cards == page.count("<article") == page.count("<b>1 : 0</b>") == page.count("A wins: five")
    assert 'data-clocks="- - -' in page or not cards


def test_game_that_begins_while_the_next_games_are_read_is_one_of_them() -> None:
    """A thread asks for them to find out whether the contest is over, while events are read."""
    coming = tuple(events.NextGame(game=game, round=1, table=game, first=FIRST, second=SECOND) for game in (1, 2))
    live = live_of(events.Scheduled(at=AT, games=coming))
    reading = live.next_games()
    read = [next(reading)]
    live.apply(started(2))

    assert [*coming] == [game for game, _ in (*read, *reading)]
    assert [coming[0]] == [game for game, _ in live.next_games()]


@pytest.mark.parametrize(("pairs", "cards"), [([(1,), (2,), (3,)], ["00003"]), ([(1, 2), (3,)], ["00002", "00003"])])
def test_no_more_ended_games_stay_than_are_played_at_once(pairs: list[tuple[int, ...]], cards: list[str]) -> None:
    live = Live()
    for together in pairs:
        for number in together:
            live.apply(started(number))
        for number in together:
            for event in (*events_of_record(GAME, number), ended(number)):
                live.apply(event)
    now = datetime.fromisoformat(AT).timestamp()
    page = page_of(live, now=lambda: now).partition("<template")[0]

    assert cards == re.findall(r'<h2><a href="games/(\d+)', page)


def test_game_whose_result_is_awaited_is_not_counted_as_running() -> None:
    assert 'id="count">0<' in page_of(live_of(started(1), *events_of_record(GAME, 1)))


@pytest.mark.parametrize(("resumes", "words"), [(1, "at <time"), (-1, "when the organiser resumes it")])
def test_pause_is_the_headline_and_says_when_the_contest_continues(tmp_path: Path, resumes: int, words: str) -> None:
    moment = datetime.now(UTC) + timedelta(hours=resumes)
    planned = plan(tmp_path, f"{HEAD}{ROUND_ROBIN}[contest]\nresumes = {moment.isoformat()}\n")
    paused = events.StateChanged(at=AT, state="paused", reason="lunch until two")
    page = page_of(live_of(paused), file=PlanFile(planned))

    assert "<h1>The contest is paused</h1>" in page
    assert re.search(f"<b>.*lunch until two.*</b> It continues {words}", page)


def test_the_machines_of_a_contest_are_shown_if_there_are_several() -> None:
    here = ContestHost("here", played=3)
    lost = ContestHost("w1", slots=2, lost_since="2026-11-23T04:05:06.000007+00:00", running=1, played=7, voids=2)
    notes = ["2 of its 9 games are void, p = 0.01"]
    other = ContestHost("w2", slots=1, barred="/a/path of that machine", stands_out=notes)

    place = PagePlace("live.html", LANGUAGES[1], LANGUAGES)
    alone, all_three = (page_of(Live(), place, hosts=hosts) for hosts in ([here], [here, lost, other]))

    assert 'id="hosts"' not in alone
    assert [["here", "", "0", "3", "0"], ["w1", "2", "1", "7", "2"], ["w2", "1", "0", "0", "0"]] == [
        re.findall(r"<(?:bdi|td class=.num.)>([^<]*)<", row)
        for row in all_three.split('id="hosts"')[1].split("<tr>")[2:]
    ]
    assert "ztracen od 2026-11-23 04:05:06 UTC" in all_three
    assert "neplatných partií 2 z 9, p = 0.01" in all_three
    assert "/a/path" not in all_three


def test_followed_agent_has_its_last_five_results_newest_first() -> None:
    live = Live(agents={"anna": 1, "bert": 2, "<carl>": 3})
    others, games_of_anna = [("bert", "<carl>")] * 20, [("anna", "bert"), ("<carl>", "anna")] * 4
    for game, (first, second) in enumerate([*games_of_anna, *others], 1):
        live.apply(started(game, first, second))
        live.apply(ended(game))
    page = running_pages().all(live, 0, ALL_GAMES, agent="anna").data.decode()
    results = page[page.index('id="ended"') : page.index('id="next"')]

    assert ["00008", "00007", "00006", "00005", "00004"] == re.findall(r'href="games/(\d+)\.html"', results)
    opponents = re.findall(r'href="agents/(\d+)\.html"><bdi>([^/]*)</bdi>', results)
    assert [("003", "&lt;carl&gt;"), ("002", "bert")] == opponents[:2]
    assert 5 == len(opponents)
    assert all(number not in results for number in ("00009", "00028"))
    assert {"anna", "bert", "<carl>"} == set(live.ended_by_agent)
    assert all(len(each) == 5 for each in live.ended_by_agent.values())


def test_annulled_result_is_no_result_and_its_game_is_next() -> None:
    annulled = events.Unscored(game=1, attempt=1, at=AT, state="annulled", reason="a mistake")
    live = live_of(started(1), ended(1), started(2), ended(2), annulled)
    assert [2] == [event.game for event, _ in live.ended] == [game.game for game in live.last_games]
    assert ([2], [2]) == tuple([event.game for event, _ in live.ended_by_agent[name]] for name in (FIRST, SECOND))
    assert [(1, FIRST, SECOND)] == [(coming.game, coming.first, coming.second) for coming, _ in live.next_games()]

    for event in (started(1, attempt=2), ended(1, attempt=2)):
        live.apply(event)
    assert [1, 2] == [event.game for event, _ in live.ended]
    assert not [*live.next_games()]


def test_each_game_and_each_agent_is_shown_with_its_league() -> None:
    coming = [
        events.NextGame(game=game, round=1, table=game, first=FIRST, second=SECOND, stage="League 2") for game in (1, 2)
    ]
    line = events.StandingLine(place=1, agent=FIRST, points=0, games=0, wins=0, draws=0, losses=0, stage="League 1")
    void = events.Unscored(game=1, attempt=1, at=AT, state="void", reason="")
    table = events.TableChanged(at=AT, lines=(line,))
    again = started(1, attempt=2)
    live = live_of(events.Scheduled(at=AT, games=tuple(coming)), table, started(1), void, again, agents={FIRST: 1})
    words = {"en": ("League 1", "League 2"), "cs": ("1. liga", "2. liga"), "zh": ("第 1 级联赛", "第 2 级联赛")}
    for language in LANGUAGES:
        place = PagePlace("games/00001.html", language, LANGUAGES)
        one = running_pages().one(live.games[1], live, 0, place).data.decode()

        shown = re.sub("data-stages='.*?'", "", page_of(live, PagePlace("live.html", language, LANGUAGES)))
        assert (1, 2) == tuple(shown.count(word) for word in words[language.code])
        assert 1 == one.count(words[language.code][1])


def test_standings_by_rating_show_the_rating() -> None:
    lines = (
        events.StandingLine(place=1, agent="a", points=1, games=3, wins=1, draws=0, losses=2, rating=1712.4),
        events.StandingLine(place=2, agent="b", points=2, games=3, wins=2, draws=0, losses=1, rating=1599.6),
    )
    live = live_of(events.TableChanged(at=AT, lines=lines), agents={"a": 1, "b": 2})
    table = page_of(live, has_rounds=False).split('id="table"')[1]

    assert ["1", "1712", "1", "3", "2", "1600", "2", "3"] == re.findall(r'<td class="num[^>]*>([^<]*)<', table)
