"""Fits many leagues with the same pairs, such as simulated ones, from the maximum of one.

Newton's limited step converges from any start for Davidson's model (`judge.statistics.draw_models`).
"""

import numpy as np

from judge.statistics.bradley_terry import Likelihood, Matrix, Vector

_CLOSE = 1e-5
"""Largest change of a rating in the last step, in logistic units."""

MAX_STEP = 1.0
"""Largest change of a rating in one step, in logistic units."""

_RIDGE = 1e-9
"""Far from the maximum the information would be singular."""

_SHARED_STEPS = 40
"""Steps with the start's information; then each league has its own."""

_MAX_STEPS = 100


def fit_leagues(likelihood: Likelihood, start: Vector, wins: Matrix, draws: Matrix, losses: Matrix) -> Matrix:
    """The points of the maxima, from the point `start`. Counts have a row per league."""
    counts = wins, draws, losses
    at = likelihood.start(start[:-2], start[-1], draws)
    inverse = np.linalg.inv(_ridged(likelihood, start[None], wins[:1], draws[:1], losses[:1])[0])
    going = np.arange(len(wins))
    for number in range(_MAX_STEPS):
        here = at[going], *(each[going] for each in counts)
        slope = likelihood.slope(*here)
        close = _CLOSE
        if number < _SHARED_STEPS:
            # These steps converge linearly.
            step: Matrix = slope @ inverse
            close /= 100
        else:
            step = np.linalg.solve(_ridged(likelihood, *here), slope[..., None])[..., 0].astype(np.float64)
        largest = abs(step).max(axis=1)
        step *= np.minimum(1, MAX_STEP / np.maximum(largest, _CLOSE))[:, None]
        at[going] += step
        going = going[largest > close]
        if not len(going):
            break
    return at


def _ridged(likelihood: Likelihood, at: Matrix, wins: Matrix, draws: Matrix, losses: Matrix) -> Matrix:
    ridge = np.full(at.shape[1], _RIDGE)
    ridge[-2:] = 0
    return likelihood.information(at, wins, draws, losses) + np.diag(ridge)
