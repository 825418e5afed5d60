"""Probabilities of win, draw and loss of the first seat: two models with a draw parameter.

With u the first seat's lead in logistic units (rating difference plus first-move advantage) and d the draw parameter:

- **Rao and Kupper** (Ties in Paired-Comparison Experiments, 1967; BayesElo): a lead within the margin d > 0 only
  draws. P(win) = 1 / (1 + exp(d - u)), P(loss) = 1 / (1 + exp(d + u)), P(draw) = P(win) P(loss) (exp(2 d) - 1).
  Between equals tanh(d / 2) of the games are drawn. No draws: d = 0.
- **Davidson** (On Extending the Bradley-Terry Model to Accommodate Ties, 1970; Ordo): P(draw) is the geometric mean
  of P(win) and P(loss), times exp(d). P(win) : P(draw) : P(loss) = exp(u / 2) : exp(d) : exp(-u / 2). Between equals
  exp(d) / (2 + exp(d)) of the games are drawn. No draws: d = minus infinity. It is an exponential family: its
  curvature is minus the covariance of the counts, so only sums of wins, draws and losses matter.

Both log-likelihoods are concave in (u, d).
"""

import math

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Slopes = tuple[Vector, Vector]
Bends = tuple[Vector, Vector, Vector]


class RaoKupper:
    """Draws within the margin d.

    Arrays have one element per ordered pair: games of the first seat. Where `d` is an array, they may have a row per
    league.
    """

    NO_DRAWS = 0.0

    def height(self, u: Vector, d: float, wins: Vector, draws: Vector, losses: Vector) -> float:
        """Log-likelihood; minus infinity for an impossible d."""
        height = ((wins + draws) * log_share(u - d)).sum() + ((losses + draws) * log_share(-u - d)).sum()
        if draws.any():
            if d <= 0:
                return -math.inf
            height += draws.sum() * math.log(math.expm1(2 * d))
        return float(height)

    def slopes(self, u: Vector, d: float | Vector, wins: Vector, draws: Vector, losses: Vector) -> Slopes:
        """Derivatives of each pair's `height` by u and d."""
        for_first, for_second = (wins + draws) * share(d - u), (losses + draws) * share(d + u)
        return for_first - for_second, 2 * draws / -np.expm1(-2 * _margin(d)) - for_first - for_second

    def bends(self, u: Vector, d: float | Vector, wins: Vector, draws: Vector, losses: Vector) -> Bends:
        """Second derivatives, by u twice, by u and d, and by d twice."""
        short_of_win, short_of_loss = share(d - u), share(d + u)
        win_bend = (wins + draws) * short_of_win * (1 - short_of_win)
        loss_bend = (losses + draws) * short_of_loss * (1 - short_of_loss)
        both = win_bend + loss_bend
        return -both, win_bend - loss_bend, -both - draws / np.sinh(_margin(d)) ** 2

    def chances(self, u: Vector, d: float | Vector) -> tuple[Vector, Vector, Vector]:
        """Probabilities of win, draw and loss."""
        won, lost = share(u - d), share(-u - d)
        return won, 1 - won - lost, lost

    def start(self, share: float) -> float:
        """d for this share of draws between equals, 0 < `share` < 1."""
        return 2 * math.atanh(share)

    def share(self, d: float) -> float:
        """Share of draws between equals."""
        return math.tanh(d / 2)


class Davidson:
    """Draws in proportion to the geometric mean of win and loss. Methods as of `RaoKupper`."""

    NO_DRAWS = -math.inf

    def height(self, u: Vector, d: float, wins: Vector, draws: Vector, losses: Vector) -> float:
        logarithm = np.logaddexp(np.logaddexp(u / 2, -u / 2), d)
        total = ((wins - losses) * u / 2 - (wins + draws + losses) * logarithm).sum()
        return float(total + (d * draws.sum() if draws.any() else 0.0))

    def slopes(self, u: Vector, d: float | Vector, wins: Vector, draws: Vector, losses: Vector) -> Slopes:
        games = wins + draws + losses
        won, drawn, lost = self.chances(u, d)
        return (wins - losses - games * (won - lost)) / 2, draws - games * drawn

    def bends(self, u: Vector, d: float | Vector, wins: Vector, draws: Vector, losses: Vector) -> Bends:
        games = wins + draws + losses
        won, drawn, lost = self.chances(u, d)
        lead = (won - lost) / 2
        return -games * ((won + lost) / 4 - lead**2), games * drawn * lead, -games * drawn * (1 - drawn)

    def chances(self, u: Vector, d: float | Vector) -> tuple[Vector, Vector, Vector]:
        # Relative to the stronger side's share: nothing overflows.
        root = np.exp(-abs(u) / 2)
        weak, drawn = root * root, np.exp(d) * root
        total = 1 + drawn + weak
        strong, drawn, weak = 1 / total, drawn / total, weak / total
        leads = u > 0
        return np.where(leads, strong, weak), drawn, np.where(leads, weak, strong)

    def start(self, share: float) -> float:
        return math.log(2 * share / (1 - share))

    def share(self, d: float) -> float:
        return float(share(d - math.log(2)))


DrawModel = RaoKupper | Davidson


def _margin(d: float | Vector) -> Vector:
    """Without a margin there are no draws, and their derivatives are 0."""
    return np.where(np.asarray(d) > 0, d, np.inf)


def share(x: Vector | float) -> Vector:
    """The logistic function."""
    return np.exp(log_share(x))


def log_share(x: Vector | float) -> Vector:
    """Logarithm of `share`, for any x."""
    return -np.logaddexp(0, -np.asarray(x, dtype=np.float64))
