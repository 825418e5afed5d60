"""The scales of strength: score per game, and logistic, normalized and BayesElo's Elo.

With s the expected score of a game, 0 to 1, and sigma the standard deviation of its result:

    logistic    400 log10(s / (1 - s))                 used for ratings (Elo, The Rating of Chessplayers, 1978)
    normalized  (s - 1/2) / sigma * 800 / ln 10        strength relative to the noise of a game (Van den Bergh,
                                                       Normalized Elo, cantate.be/Fishtest/normalized_elo.pdf)
    BayesElo    u in P(win) = 1 / (1 + 10 ** ((d - u) / 400)), P(loss) = 1 / (1 + 10 ** ((d + u) / 400))
                                                       with d the draw margin (Rao and Kupper 1967; Coulom's BayesElo)

Without draws, the first two are nearly equal near s = 1/2. With d = 0 the third equals the first.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
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
