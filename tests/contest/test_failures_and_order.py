"""Disqualification after every game, and games in the order of need."""

import pytest

from judge.contest.runner import Scheduler
from judge.tournament.formats.round_robin import RoundRobin
from judge.tournament.snapshot import FailuresPlan
from tests.contest.cups import better_seed, cup, won_by


@pytest.mark.parametrize(("check", "games"), [("round", 12), ("game", 8)])
def test_failing_agent_stops_after_its_game_or_after_the_round(check: str, games: int) -> None:
    failures = FailuresPlan.model_validate({"limit": 0.1, "after": 2, "check": check})
    with cup(RoundRobin(games=2), 4, failures=failures) as contest:
        count = 0
        while (issued := contest.store.issue(contest.name, "here")) is not None:
            crashes = won_by(int(issued.first == "3"), "crash")
            outcome = crashes if "3" in (issued.first, issued.second) else better_seed(issued)
            contest.store.accept(issued.id, issued.attempt, outcome)
            contest.check_failures(issued)
            count += 1
        # A run that is stopped now leaves the contest open; the next one disqualifies the agent.
        assert (check == "game") == contest.view().is_over
        assert not Scheduler(contest).schedule_next()
        assert games == count
        assert {"3": "failed in 100 % of its games; 10 % are allowed"} == contest.view().out
        assert contest.view().is_over


def test_games_of_weak_and_uncertain_agents_come_first() -> None:
    with cup(RoundRobin(games=2, cycles=2), 4) as contest:
        order = []
        while (issued := contest.store.issue(contest.name, "here", ranks=contest.priorities())) is not None:
            contest.store.accept(issued.id, issued.attempt, better_seed(issued))
            order.append({issued.first, issued.second})
        assert 24 == len(order)
        assert {"1", "2"} == order[-1]
        assert sum("1" in pair for pair in order[:12]) < sum("1" in pair for pair in order[12:])


def test_priorities_are_the_lower_ends_of_the_ratings() -> None:
    with cup(RoundRobin(games=4), 3) as contest:
        assert {} == contest.priorities()
        while (issued := contest.store.issue(contest.name, "here")) is not None:
            contest.store.accept(issued.id, issued.attempt, won_by((0, 1, None)[issued.number % 3]))
        assert {"1", "2", "3"} == contest.priorities().keys()
        assert all(value < 1600 for value in contest.priorities().values())
