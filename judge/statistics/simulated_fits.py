"""Fits Davidson's model (`judge.statistics.draw_models`) to many leagues with the same pairs.

Rows are leagues. The maximum is that of `judge.statistics.bradley_terry` without first-move advantage. Newton's
limited step converges from any start.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from judge.statistics.bradley_terry import Fit, Matrix, Places, Vector
from judge.statistics.draw_models import Davidson, share

_CLOSE = 1e-5
"""Largest change of a rating in the last step, in logistic units."""

MAX_STEP = 1.0
"""Largest change of a rating in one step, in logistic units."""

_RIDGE = 1e-9
"""Far from the maximum the information would be singular."""

_SHARED_STEPS = 40
"""Steps with the start's information; then each league has its own."""

_MAX_STEPS = 100

_DRAWS = Davidson()


@dataclass(frozen=True)
class LeagueFits:
    """Pairs by agents' places. `games` and `prior` (virtual draws) are per pair, `prior_draws` per agent."""

    first: Places
    second: Places
    games: Vector
    prior: Vector
    prior_draws: float
    anchor: Matrix
    """As in `Fit`."""

    @classmethod
    def of(cls, fit: Fit) -> Self:
        """Leagues with the pairs of a fit."""
        return cls(fit.tally.first, fit.tally.second, fit.games, fit.prior, fit.model.prior_draws, fit.anchor)

    def fit(self, wins: Matrix, draws: Matrix, losses: Matrix, ratings: Vector, draw: float) -> tuple[Matrix, Vector]:
        """Ratings and draw parameters at the maximum, from a start. Counts have a row per league."""
        leagues = len(wins)
        at = np.tile(ratings, (leagues, 1))
        d: Vector = np.where(draws.any(axis=1), draw, _DRAWS.NO_DRAWS)
        inverse = np.linalg.inv(self.information(ratings[None], np.array([draw]))[0])
        going = np.arange(leagues)
        for number in range(_MAX_STEPS):
            here, there = at[going], d[going]
            slope = self.slope(here, there, wins[going], draws[going], losses[going])
            close = _CLOSE
            if number < _SHARED_STEPS:
                # These steps converge linearly.
                step: Matrix = slope @ inverse
                close /= 100
            else:
                step = np.linalg.solve(self.information(here, there), slope[..., None])[..., 0].astype(np.float64)
            largest = abs(step).max(axis=1)
            step *= np.minimum(1, MAX_STEP / np.maximum(largest, _CLOSE))[:, None]
            at[going] += step[:, :-1]
            d[going] += step[:, -1]
            going = going[largest > close]
            if not len(going):
                break
        return at, d

    def slope(self, at: Matrix, d: Vector, wins: Matrix, draws: Matrix, losses: Matrix) -> Matrix:
        """A row per league."""
        won, drawn, lost = self.chances(at, d)
        games = wins + draws + losses
        lead = won - lost
        by_u = (wins - losses - games * lead) / 2 - self.prior * lead / (won + lost)
        slope = np.empty((len(at), at.shape[1] + 1))
        slope[:, :-1] = self._summed(by_u, -by_u)
        by_d = draws.sum(axis=1) - (games * drawn).sum(axis=1) - self.prior_draws * _drawn_by_equals(d)
        slope[:, -1] = np.where(np.isfinite(d), by_d, 0)
        return slope

    def information(self, at: Matrix, d: Vector) -> Matrix:
        """Minus the second derivatives, invertible."""
        first, second, agents = self.first, self.second, at.shape[1]
        u, none = self._leads(at), np.zeros_like(self.games)
        found = _DRAWS.slopes(u, d[:, None], self.games, none, none)
        chance = 1 / (1 + np.exp(u))
        uu = 2 * self.prior * chance * (1 - chance) - found.uu
        information = np.empty((len(at), agents + 1, agents + 1))
        block = information[:, :-1, :-1]
        block[:] = self.anchor
        block[:, first, second] -= uu
        block[:, second, first] -= uu
        places = np.arange(agents)
        block[:, places, places] += self._summed(uu, uu) + _RIDGE
        information[:, -1, :-1] = information[:, :-1, -1] = self._summed(-found.ud, found.ud)
        drawn = _drawn_by_equals(d)
        bend = self.prior_draws * drawn * (1 - drawn) - found.dd.sum(axis=1)
        information[:, -1, -1] = np.where(np.isfinite(d), bend, 1)
        return information

    def chances(self, at: Matrix, d: Vector) -> tuple[Matrix, Matrix, Matrix]:
        """Probabilities of win, draw and loss."""
        return _DRAWS.chances(self._leads(at), d[:, None])

    def _leads(self, at: Matrix) -> Matrix:
        return at[:, self.first] - at[:, self.second]

    def _summed(self, of_first: Matrix, of_second: Matrix) -> Matrix:
        """Sums per agent."""
        agents = len(self.anchor)
        return np.stack(
            [
                np.bincount(self.first, one, agents) + np.bincount(self.second, other, agents)
                for one, other in zip(of_first, of_second, strict=True)
            ]
        )


def _drawn_by_equals(d: Vector) -> Vector:
    return share(d - np.log(2))
