"""Orders of organisers, and their previews, which announce what an order does and change nothing."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.contest import order_previews, orders
from judge.contest.contest import Contest
from judge.contest.order_previews import Effect, effect_of_resume
from judge.contest_games import GameState
from judge.journal.events import Paused, SetAside, Stopped
from judge.store.orders import DoneOrder, OrganiserOrder
from judge.tournament.formats.round_robin import RoundRobin
from tests.contest.cups import cup
from tests.contests import ROUND_ROBIN
from tests.publish.cups import STRONG_TO_WEAK, Cup

FORMS = ('name = "round-robin"\ngames = 2', 'name = "swiss"\nrounds = 3\ngames = 2')
AGENTS = list(STRONG_TO_WEAK)

Order = Callable[[Contest, OrganiserOrder], DoneOrder]

PREVIEWS: dict[str, tuple[Callable[[Contest, str], Effect], Order, str]] = {
    "pause": (lambda contest, _: order_previews.effect_of_pause(contest), orders.pause, ""),
    "resume": (lambda contest, _: order_previews.effect_of_resume(contest), orders.resume, ""),
    "void": (lambda contest, word: order_previews.effect_of_void(contest, word)[1], orders.void, "1"),
    "void running": (lambda contest, word: order_previews.effect_of_void(contest, word)[1], orders.void, "4"),
    "void waiting": (lambda contest, word: order_previews.effect_of_void(contest, word)[1], orders.void, "6"),
    "replay": (lambda contest, word: order_previews.effect_of_replay(contest, word)[1], orders.replay, "1"),
    "disqualify": (order_previews.effect_of_disqualify, orders.disqualify, AGENTS[1]),
    "withdraw": (order_previews.effect_of_withdraw, orders.withdraw, AGENTS[1]),
    "unknown agent": (order_previews.effect_of_disqualify, orders.disqualify, "nobody"),
    "end the season": (lambda contest, _: order_previews.effect_of_end_season(contest), orders.end_season, ""),
}

BEFORE: dict[str, tuple[Order, str] | None] = {
    "nothing": None,
    "a withdrawal": (orders.withdraw, AGENTS[1]),
    "another's withdrawal": (orders.withdraw, AGENTS[0]),
    "a disqualification": (orders.disqualify, AGENTS[1]),
    "another's disqualification": (orders.disqualify, AGENTS[0]),
    "a pause": (orders.pause, ""),
}


def given(order: Order, target: str) -> OrganiserOrder:
    return OrganiserOrder("olga", order.__name__, target, "why")


def numbers(contest: Contest) -> tuple[int, dict[str, tuple[int, float]]]:
    """Cancelled games, and places with points."""
    lines = contest.standing().table.lines
    return contest.store.counts(contest.name)[GameState.CANCELLED], {
        each.agent: (each.place, each.points) for each in lines
    }


def with_a_running_game(cup: Cup) -> None:
    """Three games are over."""
    cup.play(3)
    assert cup.store.issue(cup.contest.name, "here") is not None


@pytest.mark.parametrize("form", FORMS, ids=["round robin", "swiss"])
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("action", PREVIEWS)
def test_preview_announces_what_the_order_does(action: str, before: str, form: str, tmp_path: Path) -> None:
    preview, order, target = PREVIEWS[action]
    recipe = replace(ROUND_ROBIN, name="running-game", form=form, happens=with_a_running_game)
    with recipe.contest(tmp_path) as cup:
        contest = cup.contest
        if (first := BEFORE[before]) is not None:
            first[0](contest, given(*first))
        lines, cancelled_before, places_before = len(cup.store.journal(contest.name)), *numbers(contest)
        said: Effect | str
        try:
            said = preview(contest, target)
        except InputError as error:
            said = str(error)
        assert lines == len(cup.store.journal(contest.name))
        assert (cancelled_before, places_before) == numbers(contest)

        if isinstance(said, str):
            with pytest.raises(InputError) as refused:
                order(contest, given(order, target))
            assert said == str(refused.value)
            return
        done = order(contest, given(order, target)).done
        cancelled, places = numbers(contest)
        announced = {each.agent: (each.places[1], each.points[1]) for each in said.changes}
        assert {agent: places[agent] for agent in places if places[agent] != places_before[agent]} == announced
        if "that are cancelled: " in said.words:
            assert said.words.endswith(f"that are cancelled: {cancelled - cancelled_before}.")
        if "disqualified; " in done:
            assert f"disqualified; {cancelled - cancelled_before} games of" in done


def test_contest_that_is_over_is_not_paused(tmp_path: Path) -> None:
    with Cup(tmp_path, STRONG_TO_WEAK) as cup:
        cup.play()
        with pytest.raises(InputError, match="is over: there is nothing to pause"):
            orders.pause(cup.contest, given(orders.pause, ""))
        assert "open" == cup.store.state(cup.contest.name)


def test_pause_without_running_games_says_so(tmp_path: Path) -> None:
    with Cup(tmp_path, STRONG_TO_WEAK) as cup:
        assert orders.pause(cup.contest, given(orders.pause, "")).done.endswith("is paused; no game is running")


# --- games that voids have held --------------------------------------------------------------------------------------


@pytest.fixture
def contest() -> Iterator[Contest]:
    """A contest of three, in which one game stays void and was set aside."""
    with cup(RoundRobin(games=2), 3) as found:
        issued = found.store.issue(found.name, "here")
        assert issued is not None
        assert GameState.HELD is found.store.void(issued.id, issued.attempt, "starved", None, allowed=1)
        found.store.remark(found.name, SetAside(issued.id, 1, "starved"))
        yield found


def resumed(contest: Contest) -> str:
    return orders.resume(contest, OrganiserOrder("Olga", "resume", "", "it is quiet again")).done


def held(contest: Contest) -> int:
    return contest.store.counts(contest.name)[GameState.HELD]


def test_a_pause_leaves_games_that_were_set_aside_for_the_end(contest: Contest) -> None:
    """Its last try would come at once otherwise, on the host on which it was void, and stop the contest."""
    contest.store.set_state(contest.name, Paused("others measure"))

    assert "Stopped games that are played again: 0." in effect_of_resume(contest).words
    assert "tried after all others: 1." in effect_of_resume(contest).note
    assert "cup is open" == resumed(contest)
    assert 1 == held(contest)
    assert not [line for line in contest.store.journal(contest.name) if line.event == "released"]


@pytest.mark.parametrize("paused_too", [False, True])
def test_games_that_stopped_the_contest_are_replayed_at_once(contest: Contest, paused_too: bool) -> None:
    contest.store.set_state(contest.name, Stopped("anna", "bert", 2, "starved"))
    if paused_too:
        contest.store.set_state(contest.name, Paused("others measure"))

    assert "Stopped games that are played again: 1." in effect_of_resume(contest).words
    assert "set aside" not in effect_of_resume(contest).words
    assert "cup is open, 1 held games are played again" == resumed(contest)
    assert 0 == held(contest)


def test_resuming_an_open_contest_retries_set_aside_games_now(contest: Contest) -> None:
    assert "cup is open, 1 held games are played again" == resumed(contest)
    assert 0 == held(contest)
