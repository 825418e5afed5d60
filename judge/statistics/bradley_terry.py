"""The Bradley-Terry model with draws and a first-move advantage, fitted to games by maximum likelihood.

The log-likelihood (`judge.statistics.draw_models`) is concave, so Newton's method finds its one maximum. The curvature
there gives the covariance.

A prior keeps everything finite. Each agent has `prior_draws` virtual draws (two, as in BayesElo), distributed over its
opponents like its games. They affect ratings only. An estimated advantage or draw parameter has as many virtual games
between equals, half won and half lost by the first seat.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from judge.contest_games import GameResult
from judge.statistics.draw_models import Davidson, DrawModel, RaoKupper, log_share, share
from judge.statistics.rating_model import RatingModel
from judge.statistics.scales import ELO, rounded

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_CLOSE = 1e-9
"""Minimum step: two millionths of an Elo."""

_MAX_STEPS = 200


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Summed results per ordered pair of agents."""

    place: Mapping[str, int]
    first: Places
    second: Places
    wins: Vector
    draws: Vector
    losses: Vector
    games: Vector
    scores: Vector

    @classmethod
    def of(cls, games: Iterable[GameResult]) -> Self:
        """Ignores games that both lost by faults. Places follow the ids, so the order of games has no effect."""
        ends: dict[tuple[str, str], list[int]] = {}
        for game in games:
            if game.is_draw or game.winner is not None:
                won = game.scores[0]
                ends.setdefault(game.agents, [0, 0, 0])[0 if won == 1 else 2 if won == 0 else 1] += 1
        return cls.of_scores(ends)

    @classmethod
    def of_scores(cls, scores: Mapping[tuple[str, str], Sequence[int]]) -> Self:
        """The scores are wins, draws and losses of each pair's first agent."""
        place = {agent: at for at, agent in enumerate(sorted({agent for pair in scores for agent in pair}))}
        pairs = sorted(scores)
        places = [(place[one], place[other]) for one, other in pairs]
        first, second = np.array(places, dtype=np.intp).reshape(-1, 2).T
        wins, draws, losses = np.array([scores[pair] for pair in pairs], dtype=np.float64).reshape(-1, 3).T
        seats = np.concatenate([first, second])
        games_of, scores_of = np.zeros(len(place)), np.zeros(len(place))
        np.add.at(games_of, seats, np.tile(wins + draws + losses, 2))
        np.add.at(scores_of, seats, np.concatenate([wins + draws / 2, losses + draws / 2]))
        return cls(place, first, second, wins, draws, losses, games_of, scores_of)


class Fit:
    """The maximum: `ratings` (sum 0 per pool), `advantage` and `draw` parameter, in logistic units.

    `pools`: places of agents connected through games, largest first. `games` and `prior` (virtual draws) are per pair.
    `covariance` is that of the ratings. Errors are 0 for given values. `draw_share`: draws between equals.
    """

    def __init__(self, tally: PairCounts, model: RatingModel) -> None:
        self.tally = tally
        self.model = model
        self.pools = _pools(tally)
        self._agents = len(tally.place)
        self.games: Vector = tally.wins + tally.draws + tally.losses
        # Distributed like games.
        shares = 1 / tally.games[tally.first] + 1 / tally.games[tally.second]
        self.prior: Vector = model.prior_draws / 2 * self.games * shares
        self._draws: DrawModel = Davidson() if model.draws == "davidson" else RaoKupper()
        # Without draws the parameter is at its limit, where the derivative is not zero.
        self._draw_moves = model.draw_elo is None and bool(tally.draws.any())
        self._advantage_moves = model.advantage is None
        moves = [True] * self._agents + [self._advantage_moves, self._draw_moves]
        self._moving = np.ix_(np.array(moves), np.array(moves))
        self._anchor: Matrix = np.zeros((self._agents + 2, self._agents + 2))
        for pool in self.pools:
            self._anchor[np.ix_(pool, pool)] = 1 / len(pool)
        at = self._at = rounded(self._climb(self._start()))
        inverse = self._inverse(self._slopes(at)[1])
        self.ratings: Vector = at[: self._agents]
        self.covariance: Matrix = inverse[: self._agents, : self._agents] - self.anchor
        self.advantage, self.draw = float(at[-2]), float(at[-1])
        self.draw_share = self._draws.share(self.draw)
        self.advantage_error = math.sqrt(inverse[-2, -2])
        self.draw_error = math.sqrt(inverse[-1, -1])

    @property
    def anchor(self) -> Matrix:
        """Covariance of a random shift of each pool. Games do not determine its mean, so the information needs it."""
        return self._anchor[: self._agents, : self._agents]

    def draw_shares(self, reach: float) -> tuple[float, float]:
        """`draw_share` with the draw parameter `reach` standard errors lower, and higher."""
        low, high = (self._draws.share(self.draw + side * reach * self.draw_error) for side in (-1, 1))
        return max(0.0, low), high

    def chances(self) -> tuple[Vector, Vector, Vector]:
        """Probabilities of win, draw and loss of each pair's first seat."""
        return self._draws.chances(self._leads(self._at)[1], self.draw)

    def slopes_of_score(self) -> Vector:
        """Derivative of each pair's expected score by the first seat's lead, in logistic units."""
        lead, step = self._leads(self._at)[1], 1e-4
        (won, drawn, _), (won_less, drawn_less, _) = (
            self._draws.chances(lead + side * step, self.draw) for side in (1, -1)
        )
        return (won + drawn / 2 - won_less - drawn_less / 2) / (2 * step)

    def _start(self) -> Vector:
        at = np.zeros(self._agents + 2)
        at[-2] = (self.model.advantage or 0) / ELO
        if self.model.draw_elo is not None:
            at[-1] = self.model.draw_elo / ELO
        elif self._draw_moves:
            at[-1] = self._draws.start(min(2 * self.tally.draws.sum() / self.tally.games.sum(), 0.9))
        else:
            at[-1] = self._draws.NO_DRAWS
        return at

    def _climb(self, at: Vector) -> Vector:
        height = self._height(at)
        for _ in range(_MAX_STEPS):
            slope, curvature = self._slopes(at)
            step = self._inverse(curvature) @ slope
            while (higher := self._height(at + step)) < height and abs(step).max() > _CLOSE:
                step = step / 2
            if abs(step).max() <= _CLOSE:
                break
            at, height = at + step, higher
        return at

    def _inverse(self, curvature: Matrix) -> Matrix:
        inverse = np.zeros_like(curvature)
        inverse[self._moving] = np.linalg.inv((self._anchor - curvature)[self._moving])
        return inverse

    def _leads(self, at: Vector) -> tuple[Vector, Vector]:
        lead = at[self.tally.first] - at[self.tally.second]
        return lead, lead + at[-2]

    def _height(self, at: Vector) -> float:
        tally, (lead, u), d = self.tally, self._leads(at), float(at[-1])
        height = self._draws.height(u, d, tally.wins, tally.draws, tally.losses)
        height += float((self.prior * (log_share(lead) + log_share(-lead))).sum())
        if self._advantage_moves:
            height += self.model.prior_draws * float(log_share(at[-2]) + log_share(-at[-2])) / 2
        if self._draw_moves:
            height += self._draws.height(*self._equals(d))
        return height

    def _equals(self, d: float) -> tuple[Vector, float, Vector, Vector, Vector]:
        half, none = np.array([self.model.prior_draws / 2]), np.zeros(1)
        return none, d, half, none, half

    def _slopes(self, at: Vector) -> tuple[Vector, Matrix]:
        tally, (lead, u), d = self.tally, self._leads(at), float(at[-1])
        games = self._draws.slopes(u, d, tally.wins, tally.draws, tally.losses)
        by_lead = self.prior * (1 - 2 * share(lead))
        lead_bend = -2 * self.prior * share(lead) * share(-lead)

        slope = np.zeros(self._agents + 2)
        curvature = np.zeros((self._agents + 2, self._agents + 2))
        self._spread(slope, games.by_u + by_lead)
        self._spread_twice(curvature, games.uu + lead_bend)
        slope[-2:] = games.by_u.sum(), games.by_d.sum()
        self._spread(curvature[-2], games.uu)
        self._spread(curvature[-1], games.ud)
        curvature[:-2, -2:] = curvature[-2:, :-2].T
        curvature[-2:, -2:] = [[games.uu.sum(), games.ud.sum()], [games.ud.sum(), games.dd.sum()]]
        if self._advantage_moves:
            advantage = at[-2]
            slope[-2] += self.model.prior_draws * (0.5 - float(share(advantage)))
            curvature[-2, -2] -= self.model.prior_draws * float(share(advantage) * share(-advantage))
        if self._draw_moves:
            prior = self._draws.slopes(*self._equals(d))
            slope[-1] += prior.by_d.sum()
            curvature[-1, -1] += prior.dd.sum()
        return slope, curvature

    def _spread(self, row: Vector, by_pair: Vector) -> None:
        np.add.at(row, self.tally.first, by_pair)
        np.subtract.at(row, self.tally.second, by_pair)

    def _spread_twice(self, table: Matrix, by_pair: Vector) -> None:
        first, second = self.tally.first, self.tally.second
        np.add.at(table, (first, first), by_pair)
        np.add.at(table, (second, second), by_pair)
        np.subtract.at(table, (first, second), by_pair)
        np.subtract.at(table, (second, first), by_pair)


def _pools(tally: PairCounts) -> list[list[int]]:
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph(zip(tally.first.tolist(), tally.second.tolist(), strict=True))
    return sorted(map(sorted, nx.connected_components(graph)), key=lambda pool: (-len(pool), pool))
