"""The likelihood ratio of a table, found in another way than the judge finds it.

Van den Bergh's steps (cantate.be/Fishtest/normalized_elo_practical.pdf, 4.1), from each of several distributions.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from judge.statistics.match_estimate import GAME_SCORES
from judge.statistics.scales import NORMALIZED_ELO, bayes_elo_score, draw_elo_of, expected_score
from judge.statistics.sprt import Sprt

Vector = npt.NDArray[np.float64]

_UNSEEN = 1e-3
"""A kind of result that did not come counts for so many."""


def ratio(test: Sprt, table: Sequence[float], games: Sequence[float] | None = None) -> float:
    """The LLR of three or five counts. `games` are lost, drawn and won games, for the bayesian model."""
    counts = _seen(table)
    shares, scores = counts / counts.sum(), np.linspace(0, 1, len(counts))
    if test.model == "normalized":
        of_result = NORMALIZED_ELO / math.sqrt(1 if len(scores) == len(GAME_SCORES) else 2)
        logs = [_log_weights_of_t(shares, scores, elo / of_result) for elo in (test.elo0, test.elo1)]
    elif test.model == "logistic":
        logs = [_log_weights(shares, scores - expected_score(elo)) for elo in (test.elo0, test.elo1)]
    else:
        lost, _, won = _seen(games or table) / _seen(games or table).sum()
        margin = draw_elo_of(won, lost)
        logs = [_log_weights(shares, scores - bayes_elo_score(elo, margin)) for elo in (test.elo0, test.elo1)]
    return float(counts @ (logs[0] - logs[1]))


def _seen(table: Sequence[float]) -> Vector:
    return np.array([count or _UNSEEN for count in table], dtype=np.float64)


def _log_weights_of_t(shares: Vector, scores: Vector, t: float) -> Vector:
    """ln(q / p) for the likeliest p with the t-value (mean - 1/2) / sigma: of all maxima the highest."""
    if t < 0:
        return _log_weights_of_t(shares[::-1], scores, -t)[::-1]
    return min((_climb(shares, scores, t, start) for start in _starts(scores - 0.5, t)), key=lambda logs: shares @ logs)


def _starts(leads: Vector, t: float) -> Iterator[Vector]:
    """Distributions with the t-value: a uniform one with some sure wins, and all on two kinds of one is no success."""
    uniform = np.full(leads.size, 1 / leads.size)
    variance = float(uniform @ leads**2)
    lean = t * t * (0.25 - variance)
    sure = 2 * (lean + np.sqrt(lean**2 + (1 + t * t) * t * t * variance)) / (1 + t * t)
    yield (1 - sure) * uniform + sure * np.eye(leads.size)[-1]
    for at, other in itertools.product(np.flatnonzero(leads <= 0), np.flatnonzero(leads > 0)) if t else ():
        between = leads[other] - leads[at]
        half = (t * t * between - 2 * leads[at]) / (2 * between * (1 + t * t))
        share = half + np.sqrt(max(half**2 - (leads[at] / between) ** 2 / (1 + t * t), 0))
        yield (1 - share) * np.eye(leads.size)[at] + share * np.eye(leads.size)[other]


def _climb(shares: Vector, scores: Vector, t: float, p: Vector) -> Vector:
    for _ in range(1000):
        mean = p @ scores
        sigma = np.sqrt(p @ (scores - mean) ** 2)
        logs = _log_weights(shares, scores - 0.5 - t / 2 * (sigma + (scores - mean) ** 2 / sigma))
        before, p = p, shares * np.exp(-logs)
        if np.abs(p - before).max() < 1e-10:
            break
    return logs


def _log_weights(shares: Vector, offsets: Vector) -> Vector:
    """ln(q / p) for the likeliest p under which the mean of `offsets`, which have both signs, is 0."""
    # No share of p is above 1, so 1 + x * offset is at least q: the poles are outside.
    with np.errstate(divide="ignore", over="ignore"):  # an offset of next to nothing
        ends = (shares - 1) / offsets
    low, high = ends[offsets > 0].max(), ends[offsets < 0].min()
    for _ in range(100):
        x = (low + high) / 2
        low, high = (x, high) if shares @ (offsets / (1 + x * offsets)) > 0 else (low, x)
    logs: Vector = np.log1p((low + high) / 2 * offsets)
    return logs
