"""The scales of strength: a score a game, and what it is in logistic, normalized and BayesElo's Elo.

With s the expected score of a game, 0 to 1, and sigma the standard deviation of its result:

    logistic    400 log10(s / (1 - s))                 what ratings are in (Elo, The Rating of Chessplayers, 1978)
    normalized  (s - 1/2) / sigma * 800 / ln 10        strength in units of what a game tells (Van den Bergh,
                                                       Normalized Elo, cantate.be/Fishtest/normalized_elo.pdf)
    BayesElo    u in P(win) = 1 / (1 + 10 ** ((d - u) / 400)), P(loss) = 1 / (1 + 10 ** ((d + u) / 400))
                                                       with d the draw margin (Rao and Kupper 1967; Coulom's BayesElo)

Near s = 1/2 the slope of the first is 1600 / ln 10. A game that is never drawn has sigma = 1/2 there, so the factor of
the second makes the two equal in games without draws. The third gives the first where d is 0.
"""

import math
from statistics import NormalDist

ELO = 400 / math.log(10)
"""Elo for one unit of the logistic scale."""

NORMALIZED_ELO = 800 / math.log(10)
"""Normalized Elo for a score that is one standard deviation of a game above a half."""

NORMAL = NormalDist()

CONFIDENCE_95 = NORMAL.inv_cdf(0.975)
"""Standard errors to either side of a 95 % interval."""


def expected_score(elo: float) -> float:
    """What a side that is `elo` stronger scores a game."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of_score(score: float) -> float | None:
    """The logistic Elo of a score; None for 0, 1 and beyond, which no finite Elo gives."""
    return ELO * math.log(score / (1 - score)) if 0 < score < 1 else None


def bayes_elo_score(elo: float, draw_elo: float) -> float:
    """What a side that is `elo` stronger in BayesElo's model scores a game."""
    won, lost = expected_score(elo - draw_elo), expected_score(-elo - draw_elo)
    return won + (1 - won - lost) / 2


def draw_elo_of(won: float, lost: float) -> float:
    """The draw margin of BayesElo's model from the shares of games won and lost, each between 0 and 1.

    Of the two equations of the model one gives d - u, the other d + u; their sum is 2 d.
    """
    return ELO * (math.log((1 - won) / won) + math.log((1 - lost) / lost)) / 2
