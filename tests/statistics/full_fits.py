"""A full fit of the model of `judge.statistics.online_ratings`, with LAPACK and `judge.statistics.bradley_terry`."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

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
