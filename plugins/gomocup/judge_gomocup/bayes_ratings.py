"""Gomocup's ratings since 2017: those of Coulom's BayesElo with `offset 1600`, `mm` and `exactdist`.

`judge.statistics.bayeselo` computes the ratings. This module adds their 95 % intervals (`exactdist`), and each player's
percentages and mean opponent.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge.contest_games import PairResult
from judge.statistics.bayeselo import DRAW_ELO, OFFSET, Opponents, PairTable
from judge.statistics.scales import ELO
from judge.tournament.skipped_pairs import round_elo

_Vector = npt.NDArray[np.float64]

_REACH_ELO = 1500
_POINTS = 1001

_TAIL = 0.025


@dataclass(frozen=True, slots=True)
class BayesRating:
    """The 95 % interval is from `elo - minus` to `elo + plus`, with all opponents fixed.

    `plus` is negative for ratings beyond 1500 Elo above the mean, where the distribution is cut off, as in BayesElo.
    """

    player: str
    elo: float
    plus: float
    minus: float
    games: int
    wins: int
    draws: int
    opponents: float

    @property
    def score_percent(self) -> int:
        """Wins plus half the draws, rounded."""
        return round_elo((200 * self.wins + 100 * self.draws) / (2 * self.games))

    @property
    def draw_percent(self) -> int:
        """Share of draws, rounded."""
        return round_elo(100 * self.draws / self.games)


def bayes_ratings(results: Iterable[PairResult]) -> list[BayesRating]:
    """Ratings of all players with games, best first."""
    table = PairTable(results)
    if not table.number:
        return []
    ratings = table.ratings()
    rated = []
    for player, number in table.number.items():
        opponents = table.opponents[number]
        low, high = _interval(float(ratings[number]), opponents, ratings)
        wins, draws, losses = (int(count) for count in table.counts[number])
        elo = float(ratings[number])
        games = wins + draws + losses
        mean = float((opponents.games * ratings[opponents.numbers]).sum()) / games
        rated.append(BayesRating(player, OFFSET + elo, high - elo, elo - low, games, wins, draws, OFFSET + mean))
    return sorted(rated, key=lambda rating: -rating.elo)


def _interval(rating: float, opponents: Opponents, ratings: _Vector) -> tuple[float, float]:
    step = 2 * _REACH_ELO / _POINTS
    points = -_REACH_ELO + step * (np.arange(_POINTS) + 0.5)
    shifts = (points - rating) / (len(ratings) - 1)
    lead = points[:, None] - ratings[opponents.numbers][None, :] + shifts[:, None]
    height = -(
        opponents.won * np.logaddexp(0, (DRAW_ELO - lead) / ELO)
        + opponents.lost * np.logaddexp(0, (DRAW_ELO + lead) / ELO)
    ).sum(axis=1)
    density = np.exp(height - height.max())
    density /= density.sum()
    low, high = (step * _quantile(each) for each in (density, density[::-1]))
    return float(points[0]) + low, float(points[-1]) - high


def _quantile(density: _Vector) -> float:
    before = np.concatenate([[0.0], density[:-1]])
    areas = np.cumsum((before + density) / 2)
    at = int(np.searchsorted(areas, _TAIL))
    left = areas[at - 1] if at else 0.0
    return float(at - 1 + (_TAIL - left) / (areas[at] - left))
