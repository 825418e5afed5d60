"""Contests with other rules or another clock are not rated together."""

from collections.abc import Mapping
from typing import NamedTuple

import pytest

from judge.record.policy import Policy, load_policy
from judge.submissions.practice import with_shorter_games
from judge.tournament.snapshot import terms_difference


class _Terms(NamedTuple):
    policy: Policy
    clocks: Mapping[str, str] = {}


def policy_difference(one: Policy, other: Policy) -> str:
    return terms_difference(_Terms(one), _Terms(other))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("clock.turn_ms=1500", "clock.turn_ms is 200 and 1500"),
        ("clock.match_ms=9000", "clock.match_ms is 180000 and 9000"),
        ("clock.turn_ms=0", "clock.turn_ms is 200 and 0"),
        ("game.options.width=20", "game.options.width is 15 and 20"),
        ("game.options.rule=renju", "game.options.rule is freestyle and renju"),
        ("game.options.continuous=true", "game.options.continuous is False and True"),
        ("limits.memory_bytes=100000000", "limits.memory_bytes is 83886080 and 100000000"),
    ],
)
def test_differences_are_named(change: str, said: str) -> None:
    base = ["clock.turn_ms=200", "clock.match_ms=180000", "limits.memory_bytes=83886080"]
    base += ["game.options.width=15", "game.options.height=15"]
    one, other = (load_policy("gomocup-freestyle", [*base, *more]) for more in ((), (change,)))

    assert said in policy_difference(one, other)


@pytest.mark.parametrize(
    "change",
    [[], ["attempts=5"], ["clock.close_ms=50"], ["bytes.game_bytes=50000"], ["game.options.width=20"]],
)
def test_settings_without_influence_on_strength_may_differ(change: list[str]) -> None:
    assert "" == policy_difference(load_policy("gomocup-freestyle"), load_policy("gomocup-freestyle", change))


def test_games_time_controls_and_clocks_of_agents_are_compared_by_their_meaning() -> None:
    plain = load_policy("gomocup-freestyle")
    one, same, other = (load_policy("gomocup-freestyle", clock=text) for text in ("60+0.6", "60.0+0.600", "60"))

    assert "" == policy_difference(one, same)
    assert "clock.control is 60+0.6 and 60" == policy_difference(one, other)
    assert "clock.control is 60+0.6 and 180@30" == policy_difference(one, plain)
    assert "the game is gomoku and " in policy_difference(plain, load_policy("stratego-seed"))
    odds = _Terms(other, {"zoe": "600", "ada": "9"})
    assert "" == terms_difference(odds, _Terms(other, {"ada": "9", "zoe": "600"}))
    assert "clocks is ada 9, zoe 600 and empty" == terms_difference(odds, _Terms(other))


@pytest.mark.parametrize(("turn_ms", "match_ms"), [(300, 180_000), (30_000, 180_000), (0, 180_000), (5, 11_000)])
def test_practice_keeps_the_limit_of_a_turn(turn_ms: int, match_ms: int) -> None:
    """It shortens all turns together."""
    policy = load_policy("gomocup-freestyle", [f"clock.turn_ms={turn_ms}", f"clock.match_ms={match_ms}"])
    clock = with_shorter_games(policy, 10).clock

    assert (turn_ms, 10_000) == (clock.turn_ms, clock.match_ms)
    assert policy == with_shorter_games(policy, 1000)


@pytest.mark.parametrize(
    ("control", "practice"),
    [("60+0.6", "10"), ("600|3x30@20", "10@20"), ("5+1", "10"), ("5", "5"), ("30,5", "10")],
)
def test_practice_games_have_no_increments(control: str, practice: str) -> None:
    policy = with_shorter_games(load_policy("gomocup-freestyle", clock=control), 10)

    assert practice == policy.clock.notation
