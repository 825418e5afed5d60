"""How likely a game is won, drawn or lost by its first seat: two models with a parameter for draws.

With u the first seat's lead in logistic units (rating minus rating plus the advantage of sitting first) and d the
parameter of draws:

- **Rao and Kupper** (Ties in Paired-Comparison Experiments, 1967; BayesElo's): who is better by less than a margin d >
  0 only draws. P(win) = 1 / (1 + exp(d - u)), P(loss) = 1 / (1 + exp(d + u)), and the rest are draws, which is P(win)
  P(loss) (exp(2 d) - 1). Between equals tanh(d / 2) of the games are drawn. No draws: d = 0.
- **Davidson** (On Extending the Bradley-Terry Model to Accommodate Ties, 1970; Ordo's): a draw is as frequent as the
  geometric mean of win and loss, times exp(d). P(win) : P(draw) : P(loss) = exp(u / 2) : exp(d) : exp(-u / 2). Between
  equals exp(d) / (2 + exp(d)) of the games are drawn. No draws: d = minus infinity. It is an exponential family: its
  curvature is minus the covariance of what is counted, so that only sums of wins, draws and losses matter.

The logarithm of either likelihood is concave in u and d together.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Slopes:
    """Derivatives of the logarithm of the likelihood for each pair, by u and d, first and second."""

    by_u: Vector
    by_d: Vector
    uu: Vector
    ud: Vector
    dd: Vector


class DrawModel(Protocol):
    """Counts are arrays with an element for each ordered pair: games that the first seat won, drew and lost."""

    NO_DRAWS: float
    """The d at which there are none."""

    def height(self, u: Vector, d: float, wins: Vector, draws: Vector, losses: Vector) -> float:
        """The logarithm of the likelihood; minus infinity for an impossible d."""

    def slopes(self, u: Vector, d: float, wins: Vector, draws: Vector, losses: Vector) -> Slopes:
        """Its derivatives."""

    def chances(self, u: Vector, d: float) -> tuple[Vector, Vector, Vector]:
        """The probabilities that the first seat wins, draws and loses."""

    def start(self, share: float) -> float:
        """The d at which so many games between equals are drawn, 0 < `share` < 1."""

    def share(self, d: float) -> float:
        """How many games between equals are drawn."""


class RaoKupper:
    """A draw where neither is better by more than the margin d."""

    NO_DRAWS = 0.0

    def height(self, u: Vector, d: float, wins: Vector, draws: Vector, losses: Vector) -> float:
        """As `DrawModel.height`."""
        height = ((wins + draws) * log_share(u - d)).sum() + ((losses + draws) * log_share(-u - d)).sum()
        if draws.any():
            if d <= 0:
                return -math.inf
            height += draws.sum() * math.log(math.expm1(2 * d))
        return float(height)

    def slopes(self, u: Vector, d: float, wins: Vector, draws: Vector, losses: Vector) -> Slopes:
        """As `DrawModel.slopes`."""
        for_first, for_second = wins + draws, losses + draws
        short_of_win, short_of_loss = share(d - u), share(d + u)
        win_bend = for_first * short_of_win * (1 - short_of_win)
        loss_bend = for_second * short_of_loss * (1 - short_of_loss)
        by_d = -(for_first * short_of_win + for_second * short_of_loss)
        dd = -(win_bend + loss_bend)
        if d > 0:
            by_d += 2 * draws / -math.expm1(-2 * d)
            dd -= draws / math.sinh(d) ** 2
        by_u = for_first * short_of_win - for_second * short_of_loss
        return Slopes(by_u, by_d, -(win_bend + loss_bend), win_bend - loss_bend, dd)

    def chances(self, u: Vector, d: float) -> tuple[Vector, Vector, Vector]:
        """As `DrawModel.chances`."""
        won, lost = share(u - d), share(-u - d)
        return won, 1 - won - lost, lost

    def start(self, share: float) -> float:
        """As `DrawModel.start`."""
        return 2 * math.atanh(share)

    def share(self, d: float) -> float:
        """As `DrawModel.share`."""
        return math.tanh(d / 2)


class Davidson:
    """A draw as often as the geometric mean of win and loss, times exp(d)."""

    NO_DRAWS = -math.inf

    def height(self, u: Vector, d: float, wins: Vector, draws: Vector, losses: Vector) -> float:
        """As `DrawModel.height`."""
        total = ((wins - losses) * u / 2 - (wins + draws + losses) * self._log_sum(u, d)).sum()
        return float(total + (d * draws.sum() if draws.any() else 0.0))

    def slopes(self, u: Vector, d: float, wins: Vector, draws: Vector, losses: Vector) -> Slopes:
        """As `DrawModel.slopes`."""
        games = wins + draws + losses
        won, drawn, lost = self.chances(u, d)
        lead = (won - lost) / 2
        return Slopes(
            by_u=(wins - losses) / 2 - games * lead,
            by_d=draws - games * drawn,
            uu=-games * ((won + lost) / 4 - lead**2),
            ud=games * drawn * lead,
            dd=-games * drawn * (1 - drawn),
        )

    def chances(self, u: Vector, d: float) -> tuple[Vector, Vector, Vector]:
        """As `DrawModel.chances`."""
        log_sum = self._log_sum(u, d)
        return np.exp(u / 2 - log_sum), np.exp(d - log_sum), np.exp(-u / 2 - log_sum)

    def start(self, share: float) -> float:
        """As `DrawModel.start`."""
        return math.log(2 * share / (1 - share))

    def share(self, d: float) -> float:
        """As `DrawModel.share`."""
        return float(share(d - math.log(2)))

    def _log_sum(self, u: Vector, d: float) -> Vector:
        return np.logaddexp(np.logaddexp(u / 2, -u / 2), d)


def share(x: Vector | float) -> Vector:
    """The logistic function."""
    return np.exp(log_share(x))


def log_share(x: Vector | float) -> Vector:
    """Its logarithm, for any x."""
    return -np.logaddexp(0, -np.asarray(x, dtype=np.float64))
