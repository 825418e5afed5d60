"""Ratings of BayesElo by hand. plugins/gomocup compares them with those of real leagues."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.contest_games import PairResult
from judge.statistics.bayeselo import strengths_of


def test_a_draw_is_a_win_and_a_loss() -> None:
    """Three draws and two virtual ones pull like five wins and five losses: the sums are 6 : 5."""
    first, second = strengths_of([PairResult("a", "b", 1, 3, 0)]).values()

    assert first - second == pytest.approx(400 * math.log10(6 / 5), abs=0.005)
    assert {"a": 1600, "b": 1600} == strengths_of([PairResult("a", "b", 0, 4, 0)])


counts = st.integers(0, 12)
pairs = st.sampled_from([(one, other) for one in "abcde" for other in "abcde" if one < other])
leagues = st.dictionaries(pairs, st.tuples(counts, counts, counts))


@given(leagues)
def test_score_of_each_player_is_the_expected_one(league: dict[tuple[str, str], tuple[int, int, int]]) -> None:
    """At the maximum the sums of wins and virtual draws are their expectations; the cup stops close to it."""
    results = [PairResult(*pair, *ends) for pair, ends in league.items()]
    found = strengths_of(results)

    assert set(found) == {player for result in results if any(result[2:]) for player in result[:2]}
    games = dict.fromkeys(found, 0)
    for result in results:
        for player in result[:2] if any(result[2:]) else ():
            games[player] += sum(result[2:])
    excess = dict.fromkeys(found, 0.0)
    for first, second, *ends in results:
        if any(ends):
            wins, draws, losses = ends
            prior = sum(ends) * (1 / games[first] + 1 / games[second])
            total = wins + losses + 2 * (draws + prior)
            expected = total / (1 + 10 ** ((found[second] - found[first]) / 400))
            excess[first] += wins + draws + prior - expected
            excess[second] -= wins + draws + prior - expected
    assert all(abs(each) < 0.05 + 0.001 * games[player] for player, each in excess.items())
