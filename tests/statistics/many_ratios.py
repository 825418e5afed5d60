"""The likelihood ratios of many tables at once, found in another way than the judge finds one.

Van den Bergh's steps (cantate.be/Fishtest/normalized_elo_practical.pdf, 4.1) from a uniform distribution, by numpy: for
tests that play thousands of tests side by side, and to compare with.
"""

import itertools
import math

import numpy as np
import numpy.typing as npt

from judge.statistics.match_estimate import GAME_SCORES
from judge.statistics.scales import NORMALIZED_ELO, bayes_elo_score, draw_elo_of, expected_score
from judge.statistics.sprt import Sprt

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

_UNSEEN = 1e-3
_MAX_STEPS = 200
"""Of one root. Every fourth step halves the interval, which ends at the precision of a float."""
_CLOSE = 1e-7
"""A root that moves by less, as a share of its distance to the next pole, is found; the ratio errs by its square."""
_MAX_TANGENTS = 1000
"""Four to ten are enough but for tables with kinds a million times as frequent as others."""
_SAME = 1e-10
"""A distribution that changes by less is found."""


def ratios(
    test: Sprt, tables: npt.ArrayLike, games: npt.ArrayLike | None = None, *, everywhere: bool = False
) -> Vector:
    """The LLR of each of many tables of three or five counts.

    `games` are lost, drawn and won games of each, for the bayesian model; None: the tables are of games.
    """
    counts = seen(tables)
    scores = np.linspace(0, 1, counts.shape[1])
    if test.model == "normalized":
        of_result = NORMALIZED_ELO / math.sqrt(1 if len(scores) == len(GAME_SCORES) else 2)
        return ratio_of_t_values(counts, scores, test.elo0 / of_result, test.elo1 / of_result, everywhere=everywhere)
    if test.model == "logistic":
        mean0, mean1 = (np.full(len(counts), expected_score(elo)) for elo in (test.elo0, test.elo1))
    else:
        of_games = counts if games is None else seen(games)
        of_games = of_games / of_games.sum(axis=1, keepdims=True)
        margins = [draw_elo_of(won, lost) for lost, _, won in of_games]
        mean0, mean1 = (
            np.array([bayes_elo_score(elo, margin) for margin in margins]) for elo in (test.elo0, test.elo1)
        )
    return ratio_of_means(counts, scores, mean0, mean1)


def seen(counts: npt.ArrayLike) -> Matrix:
    """Counts as floats, tables by kinds; a kind that did not come counts for a thousandth."""
    table = np.asarray(counts, dtype=np.float64)
    return np.where(table > 0, table, _UNSEEN)


def ratio_of_means(counts: Matrix, scores: Vector, mean0: Vector, mean1: Vector) -> Vector:
    """The LLR of each table (rows of `counts`, all positive) for a mean score of `mean1` against `mean0`.

    `scores` are those of the kinds, ascending; the means are between the first and the last.
    """
    total = counts.sum(axis=1, keepdims=True)
    logs = [_log_weights(counts / total, scores - np.reshape(mean, (-1, 1))) for mean in (mean0, mean1)]
    ratios: Vector = (counts * (logs[0] - logs[1])).sum(axis=1)
    return ratios


def ratio_of_t_values(counts: Matrix, scores: Vector, t0: float, t1: float, *, everywhere: bool = False) -> Vector:
    """The LLR of each table (rows of `counts`, all positive) for a t-value of `t1` against `t0`.

    The t-value is (mean - 1/2) / sigma of one result. `scores` are those of the kinds, from 0 to 1, symmetric.
    `everywhere`: the highest maximum that is found from any of several distributions, and not the one near a uniform.
    """
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = [_log_weights_of_t(shares, scores, t, everywhere=everywhere) for t in (t0, t1)]
    ratios: Vector = (counts * (logs[0] - logs[1])).sum(axis=1)
    return ratios


def _log_weights_of_t(shares: Matrix, scores: Vector, t: float, *, everywhere: bool) -> Matrix:
    """ln(q / p) for the likeliest p with this t-value."""
    if t < 0:
        return _log_weights_of_t(shares[:, ::-1], scores, -t, everywhere=everywhere)[:, ::-1]
    maxima = [
        _climb(shares, scores, t, start) for start in (_starts if everywhere and t else _uniform)(scores - 0.5, t)
    ]
    losses = np.stack([(shares * logs).sum(axis=1) for logs in maxima])
    best: Matrix = np.stack(maxima)[losses.argmin(axis=0), np.arange(len(shares))]
    return best


def _uniform(leads: Vector, t: float) -> list[Vector]:
    """A uniform distribution, mixed with so many sure wins that it has the t-value."""
    uniform = np.full(leads.size, 1 / leads.size)
    variance = float(uniform @ leads**2)
    lean = t * t * (0.25 - variance)
    sure = 2 * (lean + np.sqrt(lean**2 + (1 + t * t) * t * t * variance)) / (1 + t * t)
    start = (1 - sure) * uniform
    start[-1] += sure
    return [start]


def _starts(leads: Vector, t: float) -> list[Vector]:
    """With the t-value too: all distributions on two kinds, of which one is no success."""
    found = _uniform(leads, t)
    for at, other in itertools.product(np.flatnonzero(leads <= 0), np.flatnonzero(leads > 0)):
        between = leads[other] - leads[at]
        half = (t * t * between - 2 * leads[at]) / (2 * between * (1 + t * t))
        start = np.zeros(leads.size)
        start[other] = half + np.sqrt(max(half**2 - (leads[at] / between) ** 2 / (1 + t * t), 0))
        start[at] = 1 - start[other]
        found.append(start)
    return found


def _climb(shares: Matrix, scores: Vector, t: float, start: Vector) -> Matrix:
    p = np.tile(start, (len(shares), 1))
    logs = np.zeros_like(p)
    moving = np.arange(len(shares))
    for _ in range(_MAX_TANGENTS):
        mean = (p[moving] @ scores)[:, None]
        sigma = np.sqrt((p[moving] * (scores - mean) ** 2).sum(axis=1, keepdims=True))
        logs[moving] = _log_weights(shares[moving], scores - 0.5 - t / 2 * (sigma + (scores - mean) ** 2 / sigma))
        after = shares[moving] * np.exp(-logs[moving])
        change = np.abs(after - p[moving]).max(axis=1)
        p[moving] = after
        moving = moving[change > _SAME]
        if not moving.size:
            break
    return logs


def _log_weights(shares: Matrix, offsets: Matrix) -> Matrix:
    """ln(q / p) for the likeliest p under which the mean of `offsets` is 0; each row of them has both signs.

    Newton's method on the multiplier, between ends that move with every sign that is seen.
    """
    # No share of p is above 1, so 1 + x * offset is at least q: the poles are outside.
    with np.errstate(divide="ignore", over="ignore"):  # an offset of next to nothing
        ends = (shares - 1) / offsets
    low = np.where(offsets > 0, ends, -np.inf).max(axis=1)
    high = np.where(offsets < 0, ends, np.inf).min(axis=1)
    first, last = low, high
    x = np.zeros(len(shares))
    for step in range(_MAX_STEPS):
        parts = offsets / (1 + x[:, None] * offsets)
        excess = (shares * parts).sum(axis=1)
        low, high = np.where(excess > 0, x, low), np.where(excess > 0, high, x)
        slope = -(shares * parts**2).sum(axis=1)
        middle = (low + high) / 2
        newton = x - excess / slope
        is_inside = (low <= newton) & (newton <= high) & (step % 4 != 3)
        before, x = x, np.where(is_inside, newton, middle)
        if (np.abs(x - before) <= _CLOSE * np.minimum(x - first, last - x)).all():
            break
    return np.log1p(x[:, None] * offsets)
