"""Knockouts: the bracket, byes, replays, and how many pairings decide."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.contest_games import Pairing
from judge.tournament.formats.knockout import Knockout, bracket
from judge.tournament.results import PlayedPairing
from tests.contest.rounds import entries, everything_is_drawn, of_round, play_out


def test_the_best_two_meet_in_the_final_and_first_seeds_rest_where_agents_are_missing() -> None:
    """1-8, 4-5, 2-7, 3-6; then 1-4, 2-3; then 1-2."""
    played = play_out(Knockout(), entries(8))

    expected = [["1-8", "5-4", "2-7", "6-3"], ["1-4", "3-2"], ["1-2"]]
    assert expected == [of_round(played, number) for number in (1, 2, 3)]
    assert [["1"], ["2"], ["3", "4"], ["5", "6", "7", "8"]] == Knockout().rank(entries(8), played)[0]
    assert [1, None, 4, 5, 2, None, 3, None] == [entry.seed if entry else None for entry in bracket(entries(5))]
    assert ["5-4"] == of_round(play_out(Knockout(), entries(5)), 1)


@settings(deadline=None)
@given(st.integers(0, 40), st.randoms(use_true_random=False))
def test_one_pairing_less_than_agents_is_decided(count: int, chance: random.Random) -> None:
    """Whoever wins; nobody plays on after a loss, and the winner has lost nothing."""

    def play(pairing: Pairing) -> tuple[float, float]:
        return chance.choice([(2, 0), (0, 2), (1.5, 0.5)])

    agents = entries(count)
    played = play_out(Knockout(), agents, play)
    losers = [each.pairing.first if each.points[0] < each.points[1] else each.pairing.second for each in played]

    assert max(count - 1, 0) == len(played)
    assert len(losers) == len(set(losers))
    winners = [tier for tier in Knockout().rank(agents, played)[0] if not set(tier) & set(losers)]
    assert [1] * bool(count) == [len(tier) for tier in winners]


@pytest.mark.parametrize("replays", [0, 1, 2])
def test_tied_pairing_is_replayed_and_then_the_better_seed_advances(replays: int) -> None:
    played = play_out(Knockout(replays=replays), entries(4), everything_is_drawn)

    assert 3 * (1 + replays) == len(played)
    assert "1" == Knockout(replays=replays).rank(entries(4), played)[0][0][0]


def test_replay_changes_seats_and_is_a_separate_round() -> None:
    def play(pairing: Pairing) -> tuple[float, float]:
        return (1, 1) if pairing.round == 1 and pairing.table == 2 else (2, 0)

    played = play_out(Knockout(), entries(4), play)

    assert [["1-4", "3-2"], ["2-3"], ["1-2"]] == [of_round(played, number) for number in (1, 2, 3)]
    assert 1 == played[2].pairing.meeting


def test_withdrawn_agent_loses_its_next_pairing_without_a_game() -> None:
    before = play_out(Knockout(), entries(4))[:2]

    assert [] == Knockout().next(entries(4, out=[1]), before, 0)
    assert [["2"], ["1"], ["3", "4"]] == Knockout().rank(entries(4, out=[1]), before)[0]


def test_pairing_that_a_disqualified_agent_did_not_finish_is_no_loss() -> None:
    """1 led after one game of two: its opponent, 4, advances, as it does if no game was played."""
    first, second = Knockout().next(entries(4), [], 0)
    played = [PlayedPairing(first, (), (1, 0), is_over=False), PlayedPairing(second, (), (0, 2))]

    assert first.agents == {"1", "4"}
    assert [{"2", "4"}] == [pairing.agents for pairing in Knockout().next(entries(4, out=[1]), played, 0)]
    assert [["2"], ["1", "3", "4"]] == Knockout().rank(entries(4), played)[0]
