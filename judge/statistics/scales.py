"""Scales of strength and significance: Elo, tails of distributions, adjustment for multiple tests.

With s the expected score of a game, 0 to 1, and sigma the standard deviation of its result, strength is measured as

    logistic    400 log10(s / (1 - s))                 used for ratings (Elo, The Rating of Chessplayers, 1978)
    normalized  (s - 1/2) / sigma * 800 / ln 10        strength relative to the noise of a game (Van den Bergh,
                                                       Normalized Elo, cantate.be/Fishtest/normalized_elo.pdf)
    BayesElo    u in P(win) = 1 / (1 + 10 ** ((d - u) / 400)), P(loss) = 1 / (1 + 10 ** ((d + u) / 400))
                                                       with d the draw margin (Rao and Kupper 1967; Coulom's BayesElo)

Without draws, the first two are nearly equal near s = 1/2. With d = 0 the third equals the first.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

ELO = 400 / math.log(10)
"""Elo per logistic unit."""

NORMALIZED_ELO = 800 / math.log(10)
"""Normalized Elo for a score one standard deviation of a game above 1/2."""

SprtModel = Literal["logistic", "normalized", "bayesian"]
"""The scale of a sequential test's hypotheses."""

MAX_SPRT_ELO = 4000

NORMAL = NormalDist()

CONFIDENCE_95 = NORMAL.inv_cdf(0.975)
"""Half-width of a 95 % interval in standard errors."""

SIGNIFICANCE = 0.05
"""Maximum error probability of a list of tests."""

_SERIES = 30
"""Maximum degrees of freedom for which Student's tail is a finite series."""


def rounded(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Without the last digits, which depend on the processor: equal values stay equal, and are not ordered by them."""
    return values.round(10) + 0.0


def rounded_p(p: float) -> float:
    """As `rounded`, to ten digits."""
    return float(f"{p:.10g}")


def expected_score(elo: float) -> float:
    """Expected score of a side that is `elo` stronger."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of_score(score: float) -> float | None:
    """None unless 0 < `score` < 1."""
    return ELO * math.log(score / (1 - score)) if 0 < score < 1 else None


def bayes_elo_score(elo: float, draw_elo: float) -> float:
    """Expected score of a side that is `elo` stronger in BayesElo's model."""
    won, lost = expected_score(elo - draw_elo), expected_score(-elo - draw_elo)
    return won + (1 - won - lost) / 2


def draw_elo_of(won: float, lost: float) -> float:
    """Draw margin of BayesElo's model from shares of won and lost games, between 0 and 1.

    The model's two equations give d - u and d + u; their sum is 2 d.
    """
    return ELO * (math.log((1 - won) / won) + math.log((1 - lost) / lost)) / 2


def wilson_interval(points: float, games: int) -> tuple[float, float, float]:
    """Share of points and its 95 % interval (Wilson 1927).

    A draw counts as half a win, so the interval may be too wide, never too narrow.
    """
    share, square = points / games, CONFIDENCE_95**2
    middle = (share + square / (2 * games)) / (1 + square / games)
    half = CONFIDENCE_95 / (1 + square / games) * math.sqrt(share * (1 - share) / games + square / (4 * games**2))
    return share, max(0.0, middle - half), min(1.0, middle + half)


def normal_tail(z: float) -> float:
    """P(standard normal value >= `z`)."""
    return math.erfc(z / math.sqrt(2)) / 2


def chi_square_tail(x: float, degrees: int) -> float:
    """P(chi-square value with `degrees` degrees of freedom >= `x`).

    The tail of k degrees is that of k - 2 plus (x / 2) ** (k / 2 - 1) exp(-x / 2) / Gamma(k / 2) (Abramowitz
    and Stegun 26.4.4 and 26.4.5).
    """
    if degrees <= 0 or x <= 0:
        return 1.0
    half = x / 2
    begins = math.erfc(math.sqrt(half)) if degrees % 2 else 0.0
    terms = (
        math.exp((k / 2 - 1) * math.log(half) - half - math.lgamma(k / 2))
        for k in range(3 if degrees % 2 else 2, degrees + 1, 2)
    )
    return min(1.0, begins + math.fsum(terms))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values: the probability of any false finding below a level is at most that level (Holm, A Simple
    Sequentially Rejective Multiple Test Procedure, 1979).

    Tests may be dependent.
    """
    adjusted = [1.0] * len(p_values)
    least = 0.0
    for done, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, p_values[at] * (len(p_values) - done)))
        adjusted[at] = least
    return adjusted


def variance_ratio_tail(ratio: float, degrees: int, residual: int) -> float:
    """P(variance ratio F with `degrees` above and `residual` below >= `ratio`).

    Bartlett's transformation of the likelihood ratio, m ln(1 + degrees / residual * ratio) with m = residual +
    degrees / 2 - 1, is nearly a chi-square value of `degrees`. The next term (Box, A General Distribution
    Theory for a Class of Likelihood Criteria, 1949) is g / m ** 2 times the difference that four more degrees
    make, with g = degrees (degrees ** 2 - 4) / 48. From ten residual degrees on, a tail of 5 % has a relative
    error of 1 %.
    """
    if degrees <= 0 or residual <= 0:
        return 1.0
    m = residual + degrees / 2 - 1
    x = m * math.log1p(degrees / residual * ratio)
    tail = chi_square_tail(x, degrees)
    term = degrees * (degrees**2 - 4) / 48 / m**2 * (chi_square_tail(x, degrees + 4) - tail)
    return min(1.0, max(0.0, tail + term))


@lru_cache
def variance_ratio_point(level: float, degrees: int, residual: int) -> float:
    """Inverse of `variance_ratio_tail`, 0 < `level` < 1; `degrees` and `residual` >= 1."""
    low, high = 0.0, 1.0
    while variance_ratio_tail(high, degrees, residual) > level:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if variance_ratio_tail(middle, degrees, residual) > level else (low, middle)
    return high


def student_tail(t: float, degrees: int) -> float:
    """P(Student's t >= `t`), `degrees` >= 1.

    Up to 30 degrees by the finite series of Abramowitz and Stegun 26.7.3 and 26.7.4, otherwise as a variance
    ratio t ** 2.
    """
    if degrees > _SERIES:
        tail = variance_ratio_tail(t * t, 1, degrees) / 2
    else:
        angle = math.atan(abs(t) / math.sqrt(degrees))
        square = math.cos(angle) ** 2
        total = term = 1.0
        for k in range(2 + degrees % 2, degrees - 1, 2):
            term *= (k - 1) / k * square
            total += term
        share = math.sin(angle) * total
        if degrees % 2:
            share = 2 / math.pi * (angle + (share * math.cos(angle) if degrees > 1 else 0.0))
        tail = (1 - share) / 2
    return tail if t > 0 else 1 - tail


def chi_square_shift(level: float, degrees: int, power: float) -> float:
    """The noncentrality with which a chi-square value exceeds its `level` with this `power`.

    The noncentral value (mean degrees + shift, variance 2 degrees + 4 shift) is taken as normal.
    """
    low, high = 0.0, 4.0 * degrees + 2000.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if chi_square_tail(middle, degrees) > level else (low, middle)
    threshold, reach = high, NORMAL.inv_cdf(power)
    # threshold = degrees + shift - reach * sqrt(2 degrees + 4 shift), solved for the root.
    root = 2 * reach + math.sqrt(4 * reach**2 + 4 * (threshold - degrees) + 2 * degrees)
    return max(0.0, (root**2 - 2 * degrees) / 4)


def hypergeometric_tail(found: int, drawn: int, special: int, total: int) -> float:
    """P(at least `found` of `special` items among `drawn` random ones of `total`), as in Fisher's exact test (The
    Logic of Inductive Inference, 1935).
    """

    def log_ways(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    all_ways = log_ways(total, drawn)
    least, most = max(found, drawn + special - total, 0), min(drawn, special)
    terms = (log_ways(special, k) + log_ways(total - special, drawn - k) - all_ways for k in range(least, most + 1))
    return min(1.0, math.fsum(map(math.exp, terms)))
