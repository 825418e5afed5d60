"""Estimates of one match against what others published, and what results of one kind must not be taken for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.statistics.match_estimate import Interval, MatchCounts, MatchEstimate, estimate_match
from tests.contest.rounds import game
from tests.examples import examples


def estimate(*numbers: int) -> MatchEstimate:
    found = estimate_match(MatchCounts.of_numbers(numbers))
    assert found is not None
    return found


def reach(interval: Interval) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return (interval.high - interval.low) / 2


def test_the_pairs_of_fastchess_s_pull_request_783() -> None:
    normalized = estimate(379, 10170, 21828, 10640, 343).normalized

    assert normalized.value == pytest.approx(3.05, abs=0.005)
    assert reach(normalized) == pytest.approx(2.31, abs=0.005)


@pytest.mark.parametrize(
    ("numbers", "normalized", "elo", "los"),
    [
        # The cases of fastchess's own tests: nElo and its error, Elo and its error, LOS in percent.
        ((89, 123, 76), (-20.76, 40.13), None, 15.53),
        ((96, 111, 136), (49.77, 36.77), (40.70, 30.43), 99.60),
        ((356, 0, 34), (-508.44, 34.48), None, None),
        ((34, 54, 32, 31, 64, 75), (57.94, 28.28), (55.58, 27.65), 100.0),
        ((332, 433, 41, 457, 333, 334), (-9.17, 10.96), (-8.64, 10.33), 5.05),
        ((7895, 8757, 200, 5485, 568, 9999), (-19.01, 2.65), (-21.04, 2.95), 0.0),
    ],
)
def test_estimates_are_those_of_fastchess(
    numbers: tuple[int, ...], normalized: tuple[float, float], elo: tuple[float, float] | None, los: float | None
) -> None:
    found = estimate(*numbers)

    assert (found.normalized.value, reach(found.normalized)) == pytest.approx(normalized, abs=0.3)
    if elo is not None:
        assert (found.elo.value, reach(found.elo)) == pytest.approx(elo, abs=0.3)
    if los is not None:
        assert 100 * found.los == pytest.approx(los, abs=0.005)


def test_results_of_one_kind_have_open_or_wide_intervals() -> None:
    # 10 of 10: the probability of a win is at least 0.025 ** 0.1 = 0.6915, which are 140 Elo.
    wins = estimate(0, 0, 10)
    assert (None, None) == (wins.elo.value, wins.elo.high)
    assert wins.elo.low == pytest.approx(140.3, abs=0.1)
    assert wins.los == pytest.approx(1 - 2**-11)
    assert Interval(None, None, None) == wins.normalized
    # 10 of 10 drawn: at least 69 % of all games are drawn, and the others may be of any result.
    draws = estimate(0, 10, 0)
    assert (0, 0.5) == (draws.elo.value, draws.los)
    assert (draws.elo.low, draws.elo.high) == pytest.approx((-110.8, 110.8), abs=0.1)
    # The upper end of 9.5 of 10 is above all scores.
    nearly_all = estimate(0, 1, 9)
    assert nearly_all.elo.value is not None
    assert nearly_all.elo.high is None
    assert estimate_match(MatchCounts.of_games(0, 0, 0)) is None


@settings(deadline=None, max_examples=examples(100))
@given(st.lists(st.integers(0, 100), min_size=3, max_size=3).filter(any))
def test_from_the_other_side_all_is_reversed(numbers: list[int]) -> None:
    here, there = estimate(*numbers), estimate(*numbers[::-1])

    assert here.score == pytest.approx(1 - there.score)
    assert here.los == pytest.approx(1 - there.los)
    for mine, theirs in ((here.elo.low, there.elo.high), (here.elo.high, there.elo.low)):
        assert (mine is None) == (theirs is None)
        assert mine is None or mine == pytest.approx(-(theirs or 0), abs=1e-6)


def test_pairs_are_the_two_games_of_an_opening_and_without_one_games_are_counted() -> None:
    """2:0, 1:1, and a pair of which the second game is missing."""
    played = [game(text, number=number) for number, text in enumerate(["a>b", "b<a", "a>b", "b>a", "a=b"])]

    assert MatchCounts((0, 0, 1, 0, 1), (1, 0, 3)) == MatchCounts.of_results(played, "a")
    assert MatchCounts((1, 0, 1, 0, 0), (3, 0, 1)) == MatchCounts.of_results(played, "b")
    assert MatchCounts((0, 0, 0), (0, 0, 0)) == MatchCounts.of_results([], "a")
    assert MatchCounts((0, 1, 1), (0, 1, 1)) == MatchCounts.of_results([game("a>b"), game("a=b", number=2)], "a")


def test_six_counters_describe_the_games_and_other_numbers_are_refused() -> None:
    assert MatchCounts((1, 2, 7, 5, 6), (8, 13, 21)) == MatchCounts.of_numbers((1, 2, 3, 4, 5, 6))
    for numbers in ((1, 2), (1, 2, 3, 4), (1, -2, 3)):
        with pytest.raises(InputError):
            MatchCounts.of_numbers(numbers)
