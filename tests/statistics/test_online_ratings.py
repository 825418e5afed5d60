"""Ratings updated after each result: equal to a full fit, anchors, versions and the same bits."""

import hashlib
import math
import random
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.contest_games import GameResult
from judge.games.types import Verdict
from judge.statistics.bradley_terry import RaoKupper
from judge.statistics.online_ratings import OnlineRatings, Prior
from judge.statistics.scales import ELO

Vector = npt.NDArray[np.float64]
Game = tuple[int, int, int]
"""First agent, second agent, ending: 0 if the first won, 1 for a draw, 2 if it lost."""


def full_fit(games: Sequence[Game], priors: Sequence[Prior], draw: float) -> tuple[Vector, npt.NDArray[np.float64]]:
    """Ratings and covariance, in logistic units. `draw` is the model's d."""
    draws = RaoKupper()
    design = np.zeros((len(games), len(priors) + 1))
    for row, (first, second, _) in enumerate(games):
        design[row, [0, first + 1, second + 1]] = 1, 1, -1
    counts = np.array([[float(ending == each) for each in range(3)] for *_, ending in games]).reshape(-1, 3).T
    mean = np.array([0.0, *(prior.mean / ELO for prior in priors)])
    variance = np.array([2.0, *((prior.deviation / ELO) ** 2 for prior in priors)])
    free = np.flatnonzero(variance)
    at = mean.copy()

    def slopes(at: Vector) -> tuple[Vector, npt.NDArray[np.float64]]:
        lead = design @ at
        slope = design.T @ draws.slopes(lead, draw, *counts)[0]
        slope[free] -= (at - mean)[free] / variance[free]
        bend = (design.T * -draws.bends(lead, draw, *counts)[0]) @ design
        return slope[free], bend[np.ix_(free, free)] + np.diag(1 / variance[free])

    for _ in range(200):
        slope, bend = slopes(at)
        step = np.linalg.solve(bend, slope)
        while slopes(at + np.bincount(free, step, len(at)))[0] @ step < -(slope @ step) / 2:
            step = step / 2
        at[free] += step
        if np.abs(step).max(initial=0) < 1e-11:
            break
    covariance = np.zeros((len(at), len(at)))
    covariance[np.ix_(free, free)] = np.linalg.inv(slopes(at)[1])
    return at[1:], covariance[1:, 1:]


def rate_online(games: Sequence[Game], priors: Sequence[Prior]) -> OnlineRatings:
    """The same games one after the other."""
    ratings = OnlineRatings()
    for at, prior in enumerate(priors):
        ratings.admit(str(at), prior)
    for first, second, ending in games:
        ratings.add(str(first), str(second), ending)
    return ratings


EXACT = 1e-8
"""Tolerance after a refit, in logistic units and their squares."""

MAX_SHIFT = 2.0
"""Tolerance of a rating between two refits, in standard errors."""

MAX_RATIO = 2.0
"""Tolerance of a standard error between two refits, a factor."""


@st.composite
def sequences(draw: st.DrawFn) -> tuple[list[Game], list[Prior]]:
    priors = draw(
        st.lists(st.builds(Prior, st.sampled_from([0, -300, 400]), st.sampled_from([0, 100, 350, 500])), min_size=2)
    )
    places = st.integers(0, len(priors) - 1)
    games = draw(
        st.lists(st.tuples(places, places, st.integers(0, 2)).filter(lambda game: game[0] != game[1]), max_size=80)
    )
    return games, priors


def fitted_draw(ratings: OnlineRatings) -> float:
    return float(ratings.saved()["numbers"][0])


@given(sequences())
@settings(max_examples=60, deadline=None)
def test_updates_are_near_a_full_fit_and_a_refit_equals_it(sequence: tuple[list[Game], list[Prior]]) -> None:
    games, priors = sequence
    ratings = rate_online(games, priors)

    assert (ratings.covariance == ratings.covariance.T).all()
    for place, prior in enumerate(priors):
        if not prior.deviation:
            assert math.isclose(ratings.rating(str(place)).elo, prior.mean, abs_tol=1e-9)
            assert ratings.rating(str(place)).deviation == 0
    at, covariance = full_fit(games, priors, fitted_draw(ratings))
    error = np.sqrt(covariance.diagonal())
    free = error > 0
    ratio = np.sqrt(ratings.covariance.diagonal())[free] / error[free]
    assert (np.abs(ratings.ratings - at)[free] <= MAX_SHIFT * error[free]).all()
    assert ((ratio < MAX_RATIO) & (ratio > 1 / MAX_RATIO)).all()

    ratings.refit()

    at, covariance = full_fit(games, priors, fitted_draw(ratings))
    assert np.abs(ratings.ratings - at).max() < EXACT
    assert np.abs(ratings.covariance - covariance).max() < EXACT


def test_draw_parameter_is_at_its_maximum() -> None:
    games = random_games(8, 600)
    priors = [Prior()] * 8
    ratings = rate_online(games, priors)

    ratings.refit()

    strength = ratings.ratings
    advantage = float(ratings.saved()["at"][0])
    u = np.array([strength[first] - strength[second] + advantage for first, second, _ in games] + [0.0])
    counts = [[float(ending == each) for *_, ending in games] + [1.0 * (each != 1)] for each in range(3)]
    _, by_d = RaoKupper().slopes(u, fitted_draw(ratings), *map(np.array, counts))
    assert abs(by_d.sum()) < 1e-6
    assert fitted_draw(ratings) > 0


def random_games(agents: int, games: int) -> list[Game]:
    chance = random.Random(3)
    played = []
    for _ in range(games):
        first, second = chance.sample(range(agents), 2)
        lead = 0.4 * (second - first)
        played.append((first, second, 1 if chance.random() < 0.2 else 2 * int(chance.random() > 1 / (1 + 2.7**-lead))))
    return played


def test_same_results_give_known_bits() -> None:
    """Computed once. Other bits on a machine mean that it can neither choose nor verify pairs."""
    ratings = rate_online(random_games(12, 300), [Prior(deviation=0)] + [Prior()] * 11)

    digest = hashlib.sha256(ratings.ratings.tobytes() + ratings.covariance.tobytes()).hexdigest()
    assert digest == "af9a8c1116c7ee13e4ad5de87db314b38ce7c1d51312509b6caba2336611b7fa"


def test_new_version_starts_at_its_parents_rating_with_a_wider_interval() -> None:
    ratings = rate_online(random_games(5, 100), [Prior()] * 5)
    parent = ratings.rating("4")

    ratings.admit("4.1", ratings.version_prior("4", 150))

    version = ratings.rating("4.1")
    assert math.isclose(version.elo, parent.elo)
    assert math.isclose(version.deviation, math.hypot(parent.deviation, 150))
    assert version.reach > 1.95 * version.deviation
    with pytest.raises(ValueError, match="agent 4 is already rated"):
        ratings.admit("4")


def test_advantage_of_the_first_seat_is_found() -> None:
    games: list[Game] = [(at % 2, 1 - at % 2, 0 if at % 10 < 7 else 2) for at in range(1000)]

    ratings = rate_online(games, [Prior()] * 2)

    assert 120 < ratings.saved()["at"][0] * ELO < 175


def test_results_of_games_are_read() -> None:
    ratings = OnlineRatings()
    for agent in "ab":
        ratings.admit(agent)

    ratings.add_result(GameResult("a", "b", None, Verdict.CRASH))
    assert ratings.rating("a").elo == 0
    ratings.add_result(GameResult("a", "b", "b", Verdict.WIN))
    assert ratings.rating("b").elo > 50 > -50 > ratings.rating("a").elo
    ratings.add_result(GameResult("b", "a", None, Verdict.DRAW))
    assert ratings.agents == ("a", "b")
