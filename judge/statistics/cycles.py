"""Checks whether ratings explain the results: no rating fits agents that beat each other in a ring.

With s the score of a pair of agents, and e, v its expectation and variance under the fitted model
(`judge.statistics.bradley_terry`):

- **All pairs**: the sum of (s - e) ** 2 / v is a chi-square value with (pairs - rating differences) degrees of
  freedom (Pearson).
- **A ring of three**: s - e, divided by the slope b of the expectation, is the deviation of a lead from the rating
  difference. Around the ring rating differences sum to 0. So the sum of the deviations, divided by its standard
  error sqrt(v / b ** 2 + ...), is standard normal if ratings explain the results. All rings' p-values are adjusted
  by Holm's procedure.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from judge.contest_games import GameResult
from judge.statistics.bradley_terry import Fit, Matrix, PairCounts
from judge.statistics.rating_model import DEFAULT_MODEL
from judge.statistics.scales import ELO, SIGNIFICANCE, chi_square_tail, holm, normal_tail, rounded_p

MAX_AGENTS = 100
"""Agents in the search for rings, those with the most games."""


@dataclass(frozen=True, slots=True)
class Ring:
    """Three agents; each does better against the next, and the last against the first, than ratings predict.

    `elo`: sum around the ring; `p` is adjusted.
    """

    agents: tuple[str, str, str]
    elo: float
    p: float


@dataclass(frozen=True, slots=True)
class RatingsCheck:
    """Chi-square test of all pairs, and significant rings."""

    chi_square: float
    degrees: int
    p: float
    rings: tuple[Ring, ...]


def check_ratings(results: Iterable[GameResult]) -> RatingsCheck:
    """Compare results with ratings fitted to them."""
    fit = Fit(PairCounts.of(results), DEFAULT_MODEL)
    tally, names = fit.tally, list(fit.tally.place)
    if not names:
        return RatingsCheck(0.0, 0, 1.0, ())
    off, bend, variance = _residuals(fit, len(names))
    pairs = np.triu(variance > 0)
    chi_square = float((off[pairs] ** 2 / variance[pairs]).sum())
    degrees = int(pairs.sum()) - (len(names) - len(fit.likelihood.pools))
    most = sorted(range(len(names)), key=lambda at: (-tally.games[at], names[at]))[:MAX_AGENTS]
    rings = _rings(off, bend, variance, sorted(most), names)
    return RatingsCheck(chi_square, degrees, chi_square_tail(chi_square, degrees), rings)


def _residuals(fit: Fit, agents: int) -> tuple[Matrix, Matrix, Matrix]:
    tally = fit.tally
    games = fit.likelihood.games
    won, drawn, _ = fit.chances()
    score, expected = tally.wins + tally.draws / 2, games * (won + drawn / 2)
    variance = games * (won + drawn / 4 - (won + drawn / 2) ** 2)
    bend = games * fit.slopes_of_score()
    off_of, bend_of, variance_of = (np.zeros((agents, agents)) for _ in range(3))
    for table, values, sign in ((off_of, score - expected, -1), (bend_of, bend, 1), (variance_of, variance, 1)):
        table[tally.first, tally.second] += values
        table[tally.second, tally.first] += sign * values
    return off_of, bend_of, variance_of


def _rings(off: Matrix, bend: Matrix, variance: Matrix, agents: list[int], names: list[str]) -> tuple[Ring, ...]:
    here = np.ix_(agents, agents)
    met = bend[here] > 0
    lead = np.divide(off[here], bend[here], out=np.zeros_like(off[here]), where=met).tolist()
    error = np.divide(variance[here], bend[here] ** 2, out=np.full_like(off[here], math.inf), where=met).tolist()
    found = []
    for a, b, c in combinations(range(len(agents)), 3):
        spread = error[a][b] + error[b][c] + error[c][a]
        if spread < math.inf:
            around = lead[a][b] + lead[b][c] + lead[c][a]
            found.append(((a, b, c), around, 2 * normal_tail(abs(around) / math.sqrt(spread))))
    adjusted = holm([p for *_, p in found])
    rings = []
    for (places, around, _), p in zip(found, adjusted, strict=True):
        if p <= SIGNIFICANCE:
            one, other, third = (names[agents[at]] for at in places)
            ring = (one, other, third) if around > 0 else (one, third, other)
            rings.append(Ring(ring, abs(around) * ELO, p))
    return tuple(sorted(rings, key=lambda ring: (rounded_p(ring.p), -round(ring.elo, 6), ring.agents)))
