"""Swiss: what a round owes to the rounds before it."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.contest_games import Pairing
from judge.tournament.formats.swiss import Swiss
from judge.tournament.results import PlayedPairing
from tests.contest.rounds import entries, leans, of_round, play_out
from tests.examples import examples


def pairs(played: list[PlayedPairing], number: int) -> set[frozenset[str]]:
    return {each.pairing.agents for each in played if each.pairing.round == number}


@pytest.mark.parametrize(
    "rounds", [["1-5 2-6 3-7 4-8", "1-3 2-4 5-7 6-8", "1-2 3-5 4-6 7-8"], ["1-4 2-5 3-6", "1-2 3-4 5-6"]]
)
def test_the_upper_half_meets_the_lower_half_and_winners_meet_winners(rounds: list[str]) -> None:
    """The better seed always wins: worked by hand after FIDE C.04.3.

    Of eight, round 1 folds 1234 | 5678. Round 2 folds the winners 12 | 34 and the losers 56 | 78. Then 1 and 2 have two
    wins, 3, 4, 5 and 6 one, 7 and 8 none: 1-2, the fold 34 | 56, and 7-8, none of whom have met. Of six, 3 is the last
    of the winners and floats down to 4, the first of the losers.
    """
    played = play_out(Swiss(rounds=len(rounds)), entries(2 * len(rounds[0].split())))

    for number, expected in enumerate(rounds, 1):
        assert {frozenset(pair.split("-")) for pair in expected.split()} == pairs(played, number)


def test_last_of_the_field_gets_the_bye_and_no_agent_gets_two() -> None:
    played = play_out(Swiss(rounds=5), entries(5))
    byes = [each.pairing.first for each in played if each.pairing.second is None]

    assert "5" == byes[0]
    assert ["1", "2", "3", "4", "5"] == sorted(byes)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(2, 14), st.integers(1, 2), st.integers(0, 9), st.randoms(use_true_random=False))
def test_swiss_round_invariants(count: int, games: int, seed: int, chance: random.Random) -> None:
    """Up to half as many rounds as agents: everybody plays, nobody meets again, no second bye, seats balanced."""
    rounds = max(1, count // 2)

    def play(pairing: Pairing) -> tuple[float, float]:
        return (2, 0) if pairing.second is None else chance.choice([(2, 0), (1, 1), (0, 2)])

    played = play_out(Swiss(rounds=rounds, games=games), entries(count), play, seed)
    met = Counter(each.pairing.agents for each in played)

    assert rounds == max(each.pairing.round for each in played)
    for number in range(1, rounds + 1):
        seated = [agent for agents in pairs(played, number) for agent in agents]
        assert sorted(entry.id for entry in entries(count)) == sorted(seated)
    # With so few rounds there is always a matching without a repeat (Dirac: half of the others are left).
    assert 1 == max(met.values())
    if games == 1:
        assert all(abs(lean) <= 2 for lean in leans(played).values())


@pytest.mark.parametrize("count", [4, 5, 6, 7])
def test_repeats_after_a_full_round_robin_are_minimal(count: int) -> None:
    """Twice the rounds of a round robin: whoever is unlucky, pairs come again before a third time is needed."""
    once = count - 1 + count % 2
    met = Counter(each.pairing.agents for each in play_out(Swiss(rounds=once + 1), entries(count)))

    # One who painted itself into a corner may meet somebody again one round early, but never a third time.
    assert max(met.values()) <= 2
    assert sum(times - 1 for times in met.values()) <= (count + 1) // 2 * 2


def test_seed_decides_only_the_first_seat() -> None:
    firsts = {seed: of_round(play_out(Swiss(rounds=1, games=1), entries(8), seed=seed), 1) for seed in range(8)}

    assert {"1-5 6-2 3-7 8-4", "5-1 2-6 7-3 4-8"} == {" ".join(tables) for tables in firsts.values()}


@pytest.mark.parametrize(("counts", "expected"), [(True, "1-3 2-4 6-7 8"), (False, "2-3 4-1 6-7 8")])
def test_points_against_a_disqualified_agent_pair_nobody(counts: bool, expected: str) -> None:
    """Those against an agent that withdrew count."""
    chosen, agents = Swiss(rounds=3), entries(8)
    played = play_out(Swiss(rounds=1), agents)
    agents[4] = replace(agents[4], active=False, counts=counts)

    drawn = chosen.next(agents, played, 0)
    assert {frozenset(pair.split("-")) for pair in expected.split()} == {pairing.agents for pairing in drawn}
