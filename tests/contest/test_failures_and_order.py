"""Disqualification after every game, and games in the order of need."""

from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.contest.contest import Contest
from judge.contest.plan import load_plan
from judge.contest_games import Outcome, ScheduledGame
from judge.tournament.formats.round_robin import RoundRobin
from judge.tournament.snapshot import FailuresPlan
from tests.contest.cups import better_seed, cup, won_by


def third_crashes(game: ScheduledGame) -> Outcome:
    if "3" in (game.first, game.second):
        return won_by(int(game.first == "3"), "crash")
    return better_seed(game)


def play_checked(contest: Contest) -> int:
    """Play as the runner does; the number of games played."""
    count = 0
    while True:
        issued = contest.store.issue(contest.name, "here", ranks=None)
        if issued is None:
            if not contest.schedule_next():
                return count
            continue
        contest.store.accept(issued.id, issued.attempt, third_crashes(issued))
        contest.check_failures(issued)
        count += 1


@pytest.mark.parametrize(("check", "games"), [("round", 12), ("game", 8)])
def test_failing_agent_stops_after_its_game_or_after_the_round(check: str, games: int) -> None:
    """Agent 3 fails in each of its games; 2 of them are allowed, and 4 more are never played."""
    failures = FailuresPlan.model_validate({"limit": 0.1, "after": 2, "check": check})
    with cup(RoundRobin(games=2), 4, failures=failures) as contest:
        assert games == play_checked(contest)
        assert {"3": "failed in 100 % of its games; 10 % are allowed"} == contest.out()
        assert contest.is_over()


def test_opponents_of_a_failing_agent_are_not_disqualified() -> None:
    """The share of an opponent includes its games against others."""
    failures = FailuresPlan(limit=0.5, after=1, check="game")
    with cup(RoundRobin(games=2), 3, failures=failures) as contest:
        play_checked(contest)
        assert ["3"] == list(contest.out())


def test_games_of_weak_and_uncertain_agents_come_first() -> None:
    """Agent 1 wins all games: most of its games are played late."""
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


@pytest.mark.parametrize(
    ("change", "is_refused"), [("", True), ("folders.round=first", False), ("folders.temporary=false", True)]
)
def test_order_is_refused_where_folders_pass_from_game_to_game(change: str, is_refused: bool, tmp_path: Path) -> None:
    path = tmp_path / "contest.toml"
    changes = f'["{change}"]' if change else "[]"
    path.write_text(
        f'name = "cup"\npolicy = "gomocup-standard"\norder = "lowest"\nchange = {changes}\n[format]\nname = "swiss"\n'
        "rounds = 3\n"
    )
    if not is_refused:
        assert "lowest" == load_plan(path).plan.order
        return
    with pytest.raises(InputError, match=r'order = "lowest".*folders\.round=first'):
        load_plan(path)
