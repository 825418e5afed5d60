"""Round robins and gauntlets: everybody meets everybody they should, at tables that FIDE printed long ago."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.tournament.formats.round_robin import DoubleRoundRobin, Gauntlet, RoundRobin
from tests.contest.rounds import entries, leans, of_round, play_out
from tests.examples import examples

OF_EIGHT = (
    "1-8 2-7 3-6 4-5, 8-5 6-4 7-3 1-2, 2-8 3-1 4-7 5-6, 8-6 7-5 1-4 2-3, 3-8 4-2 5-1 6-7, 8-7 1-6 2-5 3-4, "
    "4-8 5-3 6-2 7-1"
)


@pytest.mark.parametrize(
    ("count", "out", "rounds"),
    [
        # FIDE Handbook C.05, annex 1.
        (4, (), "1-4 2-3, 4-3 1-2, 2-4 3-1"),
        (6, (), "1-6 2-5 3-4, 6-4 5-3 1-2, 2-6 3-1 4-5, 6-5 1-4 2-3, 3-6 4-2 5-1"),
        (8, (), OF_EIGHT),
        # The opponent of the missing agent rests.
        (5, (), "2-5 3-4, 5-3 1-2, 3-1 4-5, 1-4 2-3, 4-2 5-1"),
        # Other pairings stay the same after a withdrawal. A round without agents is left out.
        (4, [4], "2-3, 1-2, 3-1"),
        (4, [3, 4], ", 1-2, "),
    ],
)
def test_pairings_are_those_of_the_berger_tables(count: int, out: Sequence[int], rounds: str) -> None:
    played = play_out(RoundRobin(), entries(count, out))

    expected = dict(enumerate(rounds.split(", "), 1))
    assert expected == {number: " ".join(of_round(played, number)) for number in expected}
    assert {each.pairing.round for each in played} == {number for number, pairings in expected.items() if pairings}


@settings(deadline=None)
@given(st.integers(0, 13), st.integers(1, 3))
def test_all_agents_meet_as_often_as_promised(count: int, cycles: int) -> None:
    """Nobody twice in a round, and seats as even as they can be."""
    played = play_out(RoundRobin(cycles=cycles), entries(count))
    met = [each.pairing.agents for each in played]

    assert count * (count - 1) // 2 == len(set(met))
    assert all(met.count(agents) == cycles for agents in set(met))
    for number in {each.pairing.round for each in played}:
        seated = [a for each in played if each.pairing.round == number for a in each.pairing.agents]
        assert len(seated) == len(set(seated))
    assert all(abs(lean) <= 1 for lean in leans(played).values())


@settings(deadline=None)
@given(st.integers(2, 9))
def test_a_double_round_robin_is_even_in_seats(count: int) -> None:
    played = play_out(DoubleRoundRobin(), entries(count))

    assert {(first, second) for first in range(1, count + 1) for second in range(1, count + 1)} == {
        (int(each.pairing.first), int(each.pairing.second or 0)) for each in played
    } | {(agent, agent) for agent in range(1, count + 1)}
    assert {0} == set(leans(played).values())


@settings(deadline=None, max_examples=examples(60))
@given(st.integers(0, 10), st.integers(1, 4))
def test_gauntlet_plays_the_challenger_against_all_others(count: int, challengers: int) -> None:
    played = play_out(Gauntlet(challengers=challengers), entries(count))
    met = [frozenset(int(agent) for agent in each.pairing.agents) for each in played]

    running = range(1, min(challengers, count) + 1)
    others = range(challengers + 1, count + 1)
    assert {frozenset({one, other}) for one in running for other in others} == set(met)
    assert len(met) == len(set(met))
    for number in {each.pairing.round for each in played}:
        seated = [a for each in played if each.pairing.round == number for a in each.pairing.agents]
        assert len(seated) == len(set(seated))
    assert all(abs(lean) <= 2 for lean in leans(played).values())
