"""What organisers order: which of the games that voids have held are played again when a contest goes on."""

from collections.abc import Iterator

import pytest

from judge.contest.contest import Contest
from judge.contest.order_previews import effect_of_resume
from judge.contest.orders import resume
from judge.contest.runner import STOPPED
from judge.contest_games import GameState
from judge.store.orders import OrganiserOrder
from judge.store.types import SET_ASIDE
from judge.tournament.formats.round_robin import RoundRobin
from tests.contest.cups import cup


@pytest.fixture
def contest() -> Iterator[Contest]:
    """A contest of three, in which one game stays void and was set aside."""
    with cup(RoundRobin(games=2), 3) as found:
        issued = found.store.issue(found.name, "here")
        assert issued is not None
        assert GameState.HELD is found.store.void(issued.id, issued.attempt, "starved", None, allowed=1)
        found.store.remark(found.name, SET_ASIDE, "void 1 times in a row: starved", issued.id)
        yield found


def resumed(contest: Contest) -> str:
    return resume(contest, OrganiserOrder("Olga", "resume", "", "it is quiet again")).done


def held(contest: Contest) -> int:
    return contest.store.counts(contest.name)[GameState.HELD]


def test_a_pause_leaves_games_that_were_set_aside_for_the_end(contest: Contest) -> None:
    """Its last try would come at once otherwise, on the host on which it was void, and stop the contest."""
    contest.store.set_state(contest.name, "paused", "others measure")

    assert "Stopped games that are played again: 0." in effect_of_resume(contest).words
    assert "tried after all others: 1." in effect_of_resume(contest).note
    assert "cup is open" == resumed(contest)
    assert 1 == held(contest)
    assert not [line for line in contest.store.journal(contest.name) if line.event == "released"]


@pytest.mark.parametrize("paused_too", [False, True])
def test_games_that_stopped_the_contest_are_replayed_at_once(contest: Contest, paused_too: bool) -> None:
    contest.store.set_state(contest.name, STOPPED, "two games in a row")
    if paused_too:
        contest.store.set_state(contest.name, "paused", "others measure")

    assert "Stopped games that are played again: 1." in effect_of_resume(contest).words
    assert "set aside" not in effect_of_resume(contest).words
    assert "cup is open, 1 held games are played again" == resumed(contest)
    assert 0 == held(contest)


def test_resuming_an_open_contest_retries_set_aside_games_now(contest: Contest) -> None:
    assert "cup is open, 1 held games are played again" == resumed(contest)
    assert 0 == held(contest)
