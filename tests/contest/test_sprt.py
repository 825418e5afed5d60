"""The sequential test against what can be worked by hand and against the definition of its likelihoods."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from judge.contest.sprt import (
    PAIR_SCORES,
    Sprt,
    SprtDecision,
    count_pairs,
    expected_score,
    llr,
)
from tests.contest.rounds import game

GAME_SCORES = (0.0, 0.5, 1.0)
"""Of single games: loss, draw, win."""


def test_wald_s_bounds() -> None:
    """ln(0.05 / 0.95) and ln(0.95 / 0.05)."""
    state = Sprt(elo0=0, elo1=10, alpha=0.05, beta=0.05).state((0, 0, 0), GAME_SCORES)

    assert state.lower == pytest.approx(-math.log(19))
    assert state.upper == pytest.approx(math.log(19))
    assert (0, SprtDecision.GO_ON) == (state.llr, state.decision)


def test_bounds_of_unequal_errors() -> None:
    """ln(0.2 / 0.99) and ln(0.8 / 0.01)."""
    state = Sprt(alpha=0.01, beta=0.2).state((1, 1, 1), GAME_SCORES)

    assert state.lower == pytest.approx(math.log(0.2 / 0.99))
    assert state.upper == pytest.approx(math.log(80))


def test_without_draws_it_is_the_ratio_of_two_coins() -> None:
    """60 wins and 40 losses, 0 against 50 Elo: the score under H1 is 1 / (1 + 10 ** -0.125) = 0.57146, so the LLR is
    60 ln(0.57146 / 0.5) + 40 ln(0.42854 / 0.5) = 8.0147 - 6.1699 = 1.845.
    """
    wins = 60 * math.log(expected_score(50) / 0.5)
    losses = 40 * math.log((1 - expected_score(50)) / 0.5)

    assert expected_score(50) == pytest.approx(0.57146, abs=1e-5)
    assert Sprt(elo0=0, elo1=50).state((40, 0, 60), GAME_SCORES).llr == pytest.approx(wins + losses, abs=2e-3)


def test_near_the_middle_it_is_the_normal_one() -> None:
    """c-gomoku-cli's formula: (s1 - s0) (2 s - s0 - s1) / (2 var / n), good for hypotheses that are close.

    300 losses, 200 draws, 500 wins: s = 0.6, var = 0.3 * 0.36 + 0.2 * 0.01 + 0.5 * 0.16 = 0.19.
    """
    s0, s1 = expected_score(60), expected_score(70)
    normal = (s1 - s0) * (1.2 - s0 - s1) / (2 * 0.19 / 1000)

    assert Sprt(elo0=60, elo1=70).state((300, 200, 500), GAME_SCORES).llr == pytest.approx(normal, rel=0.01)


def test_each_likelihood_is_the_best_of_its_mean() -> None:
    """Looked for on a grid: all trinomials of mean s have one free number, the share of draws."""
    losses, draws, wins = 3, 4, 5

    def best(mean: float) -> float:
        heights = []
        for step in range(1, 100_000):
            drawn = step / 100_000
            won, lost = mean - drawn / 2, 1 - mean - drawn / 2
            if won > 0 and lost > 0:
                heights.append(losses * math.log(lost) + draws * math.log(drawn) + wins * math.log(won))
        return max(heights)

    expected = best(0.6) - best(0.5)
    assert llr((losses, draws, wins), GAME_SCORES, 0.5, 0.6) == pytest.approx(expected, abs=1e-6)


def test_it_stops_on_either_side() -> None:
    test = Sprt(elo0=0, elo1=20)

    assert SprtDecision.H1 is test.state((1000, 3000, 1300), GAME_SCORES).decision
    assert SprtDecision.H0 is test.state((1300, 3000, 1000), GAME_SCORES).decision
    assert SprtDecision.GO_ON is test.state((10, 30, 11), GAME_SCORES).decision


def test_pairs_that_always_split_prove_equality_sooner() -> None:
    """Openings that decide the game: every pair ends 1:1. Pairs see that nothing varies; single games see a coin."""
    test = Sprt(elo0=0, elo1=20)

    assert SprtDecision.GO_ON is test.state((100, 0, 100), GAME_SCORES).decision
    assert SprtDecision.H0 is test.state([0, 0, 100, 0, 0]).decision


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 50), min_size=5, max_size=5),
    st.floats(-100, 100),
    st.floats(1, 100),
)
def test_swapping_the_agents_and_the_hypotheses_changes_the_sign(counts: list[int], elo0: float, width: float) -> None:
    forth = Sprt(elo0=elo0, elo1=elo0 + width).state(counts).llr
    back = Sprt(elo0=-elo0 - width, elo1=-elo0).state(counts[::-1]).llr

    assert math.isfinite(forth)
    assert forth == pytest.approx(-back, abs=1e-6)


@settings(deadline=None)
@given(st.lists(st.integers(0, 50), min_size=3, max_size=3))
def test_a_win_more_speaks_for_the_stronger_hypothesis(counts: list[int]) -> None:
    lost, drawn, won = counts
    before = llr(counts, GAME_SCORES, 0.5, 0.6)

    assert llr((lost, drawn, won + 1), GAME_SCORES, 0.5, 0.6) > before or not any(counts)


def test_pairs_are_the_two_games_of_an_opening() -> None:
    """2:0, 1:1, and a pair of which the second game is missing."""
    played = [
        game("a>b", number=0),
        game("b<a", number=1),
        game("a>b", number=2),
        game("b>a", number=3),
        game("a=b", number=4),
    ]

    assert [0, 0, 1, 0, 1] == count_pairs(played, "a")
    assert [1, 0, 1, 0, 0] == count_pairs(played, "b")
    assert len(PAIR_SCORES) == len(count_pairs([], "a"))


def test_hypotheses_stand_in_order() -> None:
    with pytest.raises(ValidationError, match="elo0 must be less than elo1"):
        Sprt(elo0=10, elo1=10)
