"""Ratings that are updated after each result: Bradley-Terry with draws and a first-seat advantage
(docs/decisions/0013-matchmaking-of-ladders.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from judge.contest_games import GameResult
from judge.statistics.portable_math import Matrix, Vector, exp, inverse, log, product, share, subtract_square
from judge.statistics.scales import CONFIDENCE_95

_ELO = 173.71779276130073
"""Elo per logistic unit, 400 / ln 10."""

_CLOSE = 1e-10
"""Largest last step of an exact fit, in logistic units."""

_PRIOR_DRAWS = 2.0
"""Virtual games between equals for the draw parameter, half won and half lost."""

_ADVANTAGE_VARIANCE = 2.0
"""Of the first-seat advantage before the first game, in squared logistic units: that of two such games."""

_MAX_STEPS = 200
_MIN_REFIT_RESULTS = 10


@dataclass(frozen=True, slots=True)
class Prior:
    """An agent's rating before its first game, in Elo. Deviation 0 fixes the rating: an anchor."""

    mean: float = 0.0
    deviation: float = 500.0


@dataclass(frozen=True, slots=True)
class OnlineRating:
    """An agent's rating and standard error, in Elo."""

    elo: float
    deviation: float

    @property
    def reach(self) -> float:
        """Half-width of the 95 % interval, in Elo."""
        return CONFIDENCE_95 * self.deviation


@dataclass(frozen=True, slots=True)
class _Games:
    first: np.ndarray[tuple[int], np.dtype[np.intp]]
    second: np.ndarray[tuple[int], np.dtype[np.intp]]
    wins: Vector
    draws: Vector
    losses: Vector

    def leads(self, at: Vector) -> Vector:
        leads: Vector = at[self.first] - at[self.second] + at[0]
        return leads


class OnlineRatings:
    """Each agent has a place, from 0 in the order of admission."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._pairs: dict[tuple[int, int], list[float]] = {}
        self._since_refit = 0
        # Coordinate 0 is the advantage; an agent's coordinate is its place plus 1.
        self._size = 1
        self._at: Vector = np.zeros(16)
        self._mean: Vector = np.zeros(16)
        self._variance: Vector = np.zeros(16)
        self._covariance: Matrix = np.zeros((16, 16))
        self._variance[0] = self._covariance[0, 0] = _ADVANTAGE_VARIANCE
        self._draw = 0.0

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents by place."""
        return tuple(self._places)

    @property
    def ratings(self) -> Vector:
        """Ratings by place, in logistic units."""
        return self._at[1 : self._size]

    @property
    def covariance(self) -> Matrix:
        """Covariance of the ratings by place, in squared logistic units."""
        return self._covariance[1 : self._size, 1 : self._size]

    def rating(self, agent: str) -> OnlineRating:
        """The agent's rating. Raises KeyError if it was not admitted."""
        at = self._places[agent] + 1
        deviation = sqrt(max(0.0, float(self._covariance[at, at])))
        return OnlineRating(float(self._at[at]) * _ELO, deviation * _ELO)

    def relative_deviation(self, agent: str) -> float:
        """Standard error of the agent's rating relative to the mean of all agents, in Elo."""
        return float(self.relative_deviations()[self._places[agent]])

    def relative_deviations(self) -> Vector:
        """By place."""
        covariance = self.covariance
        variance = covariance.diagonal() - 2 * covariance.mean(axis=1) + covariance.mean()
        found: Vector = np.sqrt(np.maximum(variance, 0.0)) * _ELO
        return found

    def saved(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """For `restored`."""
        size = self._size
        pairs = [(*pair, *counts) for pair, counts in self._pairs.items()]
        return {
            "at": self._at[:size],
            "mean": self._mean[:size],
            "variance": self._variance[:size],
            "covariance": self._covariance[:size, :size],
            "pairs": np.array(pairs, dtype=np.int64).reshape(-1, 5),
            "numbers": np.array([self._draw, self._since_refit, len(self._at)], dtype=np.float64),
        }

    @classmethod
    def restored(cls, agents: Sequence[str], saved: Mapping[str, np.ndarray[Any, Any]]) -> "OnlineRatings":
        """`agents`: by place. Raises ValueError or KeyError."""
        found, size = cls(), len(agents) + 1
        draw, since_refit, capacity = map(float, saved["numbers"])
        if not size <= capacity <= 4 * size + 16 or saved["covariance"].shape != (size, size):
            raise ValueError("the state is of another number of agents")
        while len(found._at) < capacity:
            found._grow()
        for name in ("at", "mean", "variance"):
            getattr(found, f"_{name}")[:size] = saved[name]
        found._covariance[:size, :size] = saved["covariance"]
        found._places = {agent: place for place, agent in enumerate(agents)}
        found._pairs = {(i, j): counts for i, j, *counts in saved["pairs"].tolist()}
        found._size, found._draw, found._since_refit = size, draw, int(since_refit)
        return found

    def version_prior(self, parent: str, widening: float) -> Prior:
        """The prior of a new version: its parent's rating, whose variance grows by `widening` squared (Elo)."""
        rating = self.rating(parent)
        return Prior(rating.elo, sqrt(rating.deviation * rating.deviation + widening * widening))

    def admit(self, agent: str, prior: Prior | None = None) -> None:
        """Add an agent. Raises ValueError if it was added before."""
        if agent in self._places:
            raise ValueError(f"agent {agent} is already rated")
        prior = prior or Prior()
        at = self._size
        if at == len(self._at):
            self._grow()
        self._places[agent] = at - 1
        deviation = prior.deviation / _ELO
        self._at[at] = self._mean[at] = prior.mean / _ELO
        self._variance[at] = self._covariance[at, at] = deviation * deviation
        self._size += 1

    def add_result(self, result: GameResult) -> None:
        """Update the ratings. A game that both lost by faults is ignored."""
        ending = result.end
        if ending is not None:
            self.add(result.first, result.second, ending)

    def count_result(self, result: GameResult) -> None:
        """Count a result for the next refit, as `count`."""
        ending = result.end
        if ending is not None:
            self.count(result.first, result.second, ending)

    def add(self, first: str, second: str, ending: int) -> None:
        """Update the ratings with a game of two agents. `ending`: 0 if the first won, 1 for a draw, 2 if it lost."""
        self._update(first, second, tuple(float(ending == each) for each in range(3)))

    def _update(self, first: str, second: str, counts: Sequence[float]) -> None:
        i, j = self._places[first] + 1, self._places[second] + 1
        total = self._pairs.setdefault((i, j), [0.0, 0.0, 0.0])
        total[:] = [before + each for before, each in zip(total, counts, strict=True)]
        size = self._size
        covariance = self._covariance[:size, :size]
        column = covariance[i] - covariance[j] + covariance[0]
        variance = float(column[i] - column[j] + column[0])
        lead = float(self._at[i] - self._at[j] + self._at[0])
        move, bend = self._solve(lead, variance, *(np.array([each]) for each in counts))
        self._at[:size] += column * move
        subtract_square(covariance, column * sqrt(bend / (1 + variance * bend)))
        self._since_refit += 1
        if self._since_refit >= max(_MIN_REFIT_RESULTS, len(self._places) // 2):
            self.refit()

    def count(self, first: str, second: str, ending: int) -> None:
        """Count a game for the next refit, without an update. For many results at once."""
        self._pairs.setdefault((self._places[first] + 1, self._places[second] + 1), [0.0, 0.0, 0.0])[ending] += 1

    def refit(self) -> None:
        """Fit all results exactly."""
        self._since_refit = 0
        if not self._pairs:
            return
        first, second = np.array(list(self._pairs), dtype=np.intp).T
        wins, draws, losses = np.array(list(self._pairs.values()), dtype=np.float64).T
        games = _Games(first, second, wins, draws, losses)
        for _ in range(_MAX_STEPS):
            before = self._draw
            self._climb(games)
            self._fit_draws(games)
            if abs(self._draw - before) <= _CLOSE:
                break
        *_, bend = self._slopes(games.leads(self._at), wins, draws, losses)
        self._covariance[: self._size, : self._size] = self._inverse(games, bend)

    def _grow(self) -> None:
        size = len(self._at)
        for name in ("_at", "_mean", "_variance", "_covariance"):
            setattr(self, name, np.pad(getattr(self, name), (0, size)))

    def _solve(self, lead: float, variance: float, wins: Vector, draws: Vector, losses: Vector) -> tuple[float, float]:
        low, high, move = -1.0, 1.0, 0.0
        for _ in range(_MAX_STEPS):
            slope, _, bend = self._slopes(np.array([lead + variance * move]), wins, draws, losses)
            miss = move - float(slope[0])
            low, high = (low, move) if miss > 0 else (move, high)
            step = miss / (1 + variance * float(bend[0]))
            nearer = move - step
            if abs(step) <= _CLOSE:
                break
            move = nearer if low < nearer < high else (low + high) / 2
        return move, float(bend[0])

    def _slopes(self, u: Vector, wins: Vector, draws: Vector, losses: Vector) -> tuple[Vector, Vector, Vector]:
        """Slopes by the leads, and by minus the draw parameter (without the part of draws alone); curvature."""
        short_of_win, short_of_loss = share(self._draw - u), share(self._draw + u)
        for_first, for_second = (wins + draws) * short_of_win, (losses + draws) * short_of_loss
        bend = for_first * (1 - short_of_win) + for_second * (1 - short_of_loss)
        return for_first - for_second, for_first + for_second, bend

    # --- exact fit -------------------------------------------------------------------------------------------------

    def _climb(self, games: _Games) -> None:
        size = self._size
        at, covariance, last = self._at[:size].copy(), self._covariance[:size, :size], float("inf")
        gradient, bend = self._gradient(games, at)
        for _ in range(_MAX_STEPS):
            step = product(covariance, gradient)
            length = float(np.abs(step).max())
            if length <= _CLOSE:
                break
            if length > last / 2:
                covariance = self._inverse(games, bend)
                step = product(covariance, gradient)
                last = float("inf")
            else:
                last = length
            rise = float(np.add.accumulate(gradient * step)[-1])
            for _ in range(_MAX_STEPS):
                moved = at + step
                ahead, bend = self._gradient(games, moved)
                # The slope along the step: much below zero after a step beyond the maximum.
                if float(np.add.accumulate(ahead * step)[-1]) >= -rise / 2:
                    break
                step, rise = step / 2, rise / 2
            at, gradient = moved, ahead
        self._at[:size] = at

    def _gradient(self, games: _Games, at: Vector) -> tuple[Vector, Vector]:
        slope, _, bend = self._slopes(games.leads(at), games.wins, games.draws, games.losses)
        size = self._size
        gradient: Vector = np.zeros(size)
        gradient += np.bincount(games.first, slope, size)
        gradient -= np.bincount(games.second, slope, size)
        gradient[0] += np.add.accumulate(slope)[-1]
        variance = self._variance[:size]
        is_free = variance > 0
        gradient[is_free] -= (at - self._mean[:size])[is_free] / variance[is_free]
        gradient[~is_free] = 0.0
        return gradient, bend

    def _inverse(self, games: _Games, bend: Vector) -> Matrix:
        size, first, second = self._size, games.first, games.second
        advantage = np.zeros_like(first)
        curvature = np.zeros(size * size)
        for rows, columns, sign in (
            *((first, first, 1), (second, second, 1), (first, second, -1), (second, first, -1)),
            *((first, advantage, 1), (advantage, first, 1), (second, advantage, -1), (advantage, second, -1)),
            (advantage, advantage, 1),
        ):
            curvature += sign * np.bincount(rows * size + columns, bend, size * size)
        free = np.flatnonzero(self._variance[:size] > 0)
        among_free = np.ix_(free, free)
        square = curvature.reshape(size, size)[among_free]
        square[np.diag_indices(len(free))] += 1 / self._variance[free]
        result = np.zeros((size, size))
        result[among_free] = inverse(square)
        return result

    def _fit_draws(self, games: _Games) -> None:
        drawn = float(np.add.accumulate(games.draws)[-1])
        if not drawn:
            return
        u = np.append(games.leads(self._at), 0.0)
        wins, losses = np.append(games.wins, _PRIOR_DRAWS / 2), np.append(games.losses, _PRIOR_DRAWS / 2)
        draws = np.append(games.draws, 0.0)
        if not self._draw:
            portion = min(drawn / float(np.add.accumulate(wins + draws + losses)[-1]), 0.9)
            self._draw = float(log((1 + portion) / (1 - portion)))
        for _ in range(_MAX_STEPS):
            _, by_draw, bend = self._slopes(u, wins, draws, losses)
            grown = float(exp(self._draw))
            twice_sinh = grown - 1 / grown
            slope = 2 * drawn * grown / twice_sinh - float(np.add.accumulate(by_draw)[-1])
            curvature = float(np.add.accumulate(bend)[-1]) + 4 * drawn / (twice_sinh * twice_sinh)
            step = max(slope / curvature, -self._draw / 2)
            self._draw += step
            if abs(step) <= _CLOSE / 10:
                break
