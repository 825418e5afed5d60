"""Bradley and Terry's model with draws and a first-move advantage, fitted to games by maximum likelihood.

It is Rao and Kupper's form, the one that BayesElo fits. With u the first seat's rating minus the second's plus the
advantage, and d the draw margin, all in Elo:

    P(first wins) = 1 / (1 + 10 ** ((d - u) / 400))    P(second wins) = 1 / (1 + 10 ** ((d + u) / 400))

and the rest are draws. The logarithm of the likelihood is concave in all of them, so Newton's method finds the one
maximum; what it takes from the curvature there is the covariance.

The prior keeps everything finite. Each agent has `prior_draws` virtual draws (two, as in BayesElo), shared out over its
opponents by the games against them. They are draws of the bare model, without margin and advantage, so they speak of
ratings alone. Where advantage or margin are estimated they have the like: so many virtual games between equals, of
which the first seat won a half and lost a half, and of which none was a draw.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from judge.contest.ratings import ELO, RatingModel
from judge.matches import ResultRow

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_CLOSE = 1e-9
"""A step below this, in logistic units, is the last: two millionths of an Elo."""

_MOST_STEPS = 200
"""Newton takes about ten."""


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Games added up: for each ordered pair of agents that met (their places) how many ended in which way."""

    place: Mapping[str, int]
    """Of each agent, by its id."""
    first: Places
    second: Places
    wins: Vector
    draws: Vector
    losses: Vector
    games: Vector
    """Of each agent."""
    scores: Vector
    """Of each agent: games won, draws as halves."""

    @classmethod
    def of(cls, games: Sequence[ResultRow]) -> Self:
        """Add `games` up; places follow the ids, so that nothing depends on the order of games."""
        agents = sorted({agent for game in games for agent in game.agents})
        place = {agent: at for at, agent in enumerate(agents)}
        ends: dict[tuple[int, int], list[int]] = {}
        for game in games:
            pair = (place[game.first], place[game.second])
            won = game.scores[0]
            ends.setdefault(pair, [0, 0, 0])[0 if won == 1 else 2 if won == 0 else 1] += 1
        pairs = sorted(ends)
        first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        counts = [ends[pair] for pair in pairs]
        wins, draws, losses = np.array(counts, dtype=np.float64).reshape(-1, 3).T
        seats = np.concatenate([first, second])
        games_of, scores_of = np.zeros(len(agents)), np.zeros(len(agents))
        np.add.at(games_of, seats, np.tile(wins + draws + losses, 2))
        np.add.at(scores_of, seats, np.concatenate([wins + draws / 2, losses + draws / 2]))
        return cls(place, first, second, wins, draws, losses, games_of, scores_of)


class Fit:
    """The maximum: `ratings` that sum to 0 in each pool, `advantage` and `margin`; all in logistic units.

    `covariance` is that of the ratings; the errors are standard errors, 0 for what was given.
    """

    def __init__(self, tally: PairCounts, model: RatingModel, pools: Sequence[Sequence[int]]) -> None:
        """Climb to it. `pools` are the places of agents that are connected through games."""
        self._tally = tally
        self._model = model
        self._agents = len(tally.place)
        self._prior = _prior_draws(tally, model)
        # Without a draw the margin is at its edge, 0, where no slope vanishes.
        self._margin_moves = model.draw_elo is None and bool(tally.draws.any())
        self._advantage_moves = model.advantage is None
        moves = [True] * self._agents + [self._advantage_moves, self._margin_moves]
        self._moving = np.ix_(np.array(moves), np.array(moves))
        self._anchor = self._anchored(pools)
        at = self._climb(self._start())
        inverse = self._inverse(self._slopes(at)[1])
        self.ratings: Vector = at[: self._agents]
        self.covariance: Matrix = (inverse - self._anchor)[: self._agents, : self._agents]
        self.advantage, self.margin = float(at[-2]), float(at[-1])
        self.advantage_error = math.sqrt(inverse[-2, -2])
        self.margin_error = math.sqrt(inverse[-1, -1])

    def _anchored(self, pools: Sequence[Sequence[int]]) -> Matrix:
        """What is added to the information so that it can be inverted: games say nothing of a pool's mean."""
        anchor = np.zeros((self._agents + 2, self._agents + 2))
        for pool in pools:
            anchor[np.ix_(pool, pool)] = 1 / len(pool)
        return anchor

    def _start(self) -> Vector:
        at = np.zeros(self._agents + 2)
        at[-2] = (self._model.advantage or 0) / ELO
        at[-1] = (self._model.draw_elo or 0) / ELO
        if self._margin_moves:
            # Between equals the share of draws is tanh(d / 2).
            share = 2 * self._tally.draws.sum() / self._tally.games.sum()
            at[-1] = 2 * math.atanh(min(share, 0.9))
        return at

    def _climb(self, at: Vector) -> Vector:
        """Newton's method; a step that would lead down is halved."""
        height = self._height(at)
        for _ in range(_MOST_STEPS):
            slope, curvature = self._slopes(at)
            step = self._inverse(curvature) @ slope
            while (higher := self._height(at + step)) < height and abs(step).max() > _CLOSE:
                step = step / 2
            if abs(step).max() <= _CLOSE:
                break
            at, height = at + step, higher
        return at

    def _inverse(self, curvature: Matrix) -> Matrix:
        """The inverse of the information on what moves; zero for what does not."""
        inverse = np.zeros_like(curvature)
        inverse[self._moving] = np.linalg.inv((self._anchor - curvature)[self._moving])
        return inverse

    def _leads(self, at: Vector) -> tuple[Vector, Vector]:
        """For each pair by how much the first is rated above the second, without and with the advantage."""
        lead = at[self._tally.first] - at[self._tally.second]
        return lead, lead + at[-2]

    def _height(self, at: Vector) -> float:
        """The logarithm of likelihood times prior."""
        tally, (lead, u), d = self._tally, self._leads(at), at[-1]
        # A draw is as likely as a win times a loss times exp(2 d) - 1.
        height = ((tally.wins + tally.draws) * _log_share(u - d)).sum()
        height += ((tally.losses + tally.draws) * _log_share(-u - d)).sum()
        height += (self._prior * (_log_share(lead) + _log_share(-lead))).sum()
        if self._advantage_moves:
            height += self._model.prior_draws * (_log_share(at[-2]) + _log_share(-at[-2])) / 2
        if self._margin_moves:
            if d <= 0:
                return -math.inf
            height += tally.draws.sum() * math.log(math.expm1(2 * d))
            height += self._model.prior_draws * _log_share(-d)
        return float(height)

    def _slopes(self, at: Vector) -> tuple[Vector, Matrix]:
        """First and second derivatives of the height, ratings first, then advantage and margin."""
        tally, (lead, u), d = self._tally, self._leads(at), at[-1]
        for_first, for_second = tally.wins + tally.draws, tally.losses + tally.draws
        short_of_win, short_of_loss = _share(d - u), _share(d + u)
        win_bend = for_first * short_of_win * (1 - short_of_win)
        loss_bend = for_second * short_of_loss * (1 - short_of_loss)
        by_u = for_first * short_of_win - for_second * short_of_loss
        by_lead = self._prior * (1 - 2 * _share(lead))
        lead_bend = 2 * self._prior * _share(lead) * _share(-lead)

        slope = np.zeros(self._agents + 2)
        curvature = np.zeros((self._agents + 2, self._agents + 2))
        self._spread(slope, by_u + by_lead)
        self._spread_twice(curvature, -(win_bend + loss_bend + lead_bend))
        slope[-2] = by_u.sum()
        self._spread(curvature[-2], -(win_bend + loss_bend))
        self._spread(curvature[-1], win_bend - loss_bend)
        curvature[:-2, -2:] = curvature[-2:, :-2].T
        curvature[-2, -2] = -(win_bend + loss_bend).sum()
        curvature[-2, -1] = curvature[-1, -2] = (win_bend - loss_bend).sum()
        slope[-1] = -(for_first * short_of_win + for_second * short_of_loss).sum()
        curvature[-1, -1] = -(win_bend + loss_bend).sum()
        self._add_priors(at, slope, curvature)
        return slope, curvature

    def _add_priors(self, at: Vector, slope: Vector, curvature: Matrix) -> None:
        """Add the terms of the draws and of the priors of advantage and margin, if these are fitted."""
        prior, (advantage, d) = self._model.prior_draws, at[-2:]
        if self._advantage_moves:
            slope[-2] += prior * (0.5 - _share(advantage))
            curvature[-2, -2] -= prior * _share(advantage) * _share(-advantage)
        if self._margin_moves:
            draws = self._tally.draws.sum()
            slope[-1] += 2 * draws / -math.expm1(-2 * d) - prior * _share(d)
            curvature[-1, -1] -= draws / math.sinh(d) ** 2 + prior * _share(d) * _share(-d)

    def _spread(self, row: Vector, by_pair: Vector) -> None:
        """Add to a row over the agents what each pair gives to its first and takes from its second."""
        np.add.at(row, self._tally.first, by_pair)
        np.subtract.at(row, self._tally.second, by_pair)

    def _spread_twice(self, table: Matrix, by_pair: Vector) -> None:
        first, second = self._tally.first, self._tally.second
        np.add.at(table, (first, first), by_pair)
        np.add.at(table, (second, second), by_pair)
        np.subtract.at(table, (first, second), by_pair)
        np.subtract.at(table, (second, first), by_pair)


def _prior_draws(tally: PairCounts, model: RatingModel) -> Vector:
    """The virtual draws of each ordered pair: of either agent's the share that its games against the other have."""
    games = tally.wins + tally.draws + tally.losses
    shares = 1 / tally.games[tally.first] + 1 / tally.games[tally.second]
    return model.prior_draws / 2 * games * shares


def _share(x: Vector | float) -> Vector:
    """The logistic function."""
    return np.exp(_log_share(x))


def _log_share(x: Vector | float) -> Vector:
    """Its logarithm, for any x."""
    return -np.logaddexp(0, -np.asarray(x, dtype=np.float64))
