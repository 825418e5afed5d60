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
from judge.statistics.draw_models import Davidson, DrawModel, RaoKupper, log_share
from judge.statistics.rating_model import RatingModel
from judge.statistics.scales import ELO, rounded

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Tables = npt.NDArray[np.float64]
"""A matrix per league."""
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


class Likelihood:
    """The log-likelihood of leagues with the pairs of `tally`, with its prior.

    A point has the ratings by place, the advantage and the draw parameter, in logistic units; points have a row per
    league, as wins, draws and losses have. `pools`: places of agents connected through games, largest first. `games`
    and `prior` (virtual draws) are per pair.
    """

    def __init__(self, tally: PairCounts, model: RatingModel) -> None:
        self.first, self.second = tally.first, tally.second
        self.model = model
        self.agents = len(tally.place)
        self.pools = _pools(tally)
        self.games: Vector = tally.wins + tally.draws + tally.losses
        # Distributed like games.
        shares = 1 / tally.games[tally.first] + 1 / tally.games[tally.second]
        self.prior: Vector = model.prior_draws / 2 * self.games * shares
        self.draws: DrawModel = Davidson() if model.draws == "davidson" else RaoKupper()
        self.anchor: Matrix = np.zeros((self.agents, self.agents))
        """Covariance of a random shift of each pool. Games do not determine its mean, so the information needs it."""
        for pool in self.pools:
            self.anchor[np.ix_(pool, pool)] = 1 / len(pool)

    def start(self, ratings: Vector, draw: float, draws: Matrix) -> Matrix:
        """A point per league. Without draws the parameter is at its limit, where the derivative is not zero."""
        at = np.zeros((len(draws), self.agents + 2))
        at[:, :-2] = ratings
        at[:, -2] = (self.model.advantage or 0) / ELO
        at[:, -1] = np.where(draws.any(axis=1), draw, self.draws.NO_DRAWS)
        if self.model.draw_elo is not None:
            at[:, -1] = self.model.draw_elo / ELO
        return at

    def moves(self, at: Matrix) -> npt.NDArray[np.bool_]:
        """Which coordinates are estimated."""
        moves = np.ones(at.shape, dtype=np.bool_)
        moves[:, -2] = self.model.advantage is None
        moves[:, -1] = (at[:, -1] != self.draws.NO_DRAWS) & (self.model.draw_elo is None)
        return moves

    def height(self, at: Vector, tally: PairCounts) -> float:
        """Of one league."""
        lead, d = at[self.first] - at[self.second], float(at[-1])
        moves = self.moves(at[None])[0]
        height = self.draws.height(lead + at[-2], d, tally.wins, tally.draws, tally.losses)
        height += float((self.prior * (log_share(lead) + log_share(-lead))).sum())
        if moves[-2]:
            height += self.model.prior_draws * float(log_share(at[-2]) + log_share(-at[-2])) / 2
        if moves[-1]:
            none, _, half, *_ = self._equals(np.array([d]))
            height += self.draws.height(none, d, half, none, half)
        return height

    def slope(self, at: Matrix, wins: Matrix, draws: Matrix, losses: Matrix) -> Matrix:
        """First derivatives; 0 for given coordinates."""
        lead, u, d = self._leads(at)
        by_u, by_d = self.draws.slopes(u, d, wins, draws, losses)
        by_lead = by_u - self.prior * np.tanh(lead / 2)
        slope = np.empty(at.shape)
        slope[:, :-2] = self._summed(by_lead, -by_lead)
        slope[:, -2] = by_u.sum(axis=1) - self.model.prior_draws / 2 * np.tanh(at[:, -2] / 2)
        slope[:, -1] = by_d.sum(axis=1) + self.draws.slopes(*self._equals(d))[1][:, 0]
        return np.where(self.moves(at), slope, 0.0)

    def information(self, at: Matrix, wins: Matrix, draws: Matrix, losses: Matrix) -> Tables:
        """Minus the second derivatives, with the anchor; given coordinates have the unit matrix."""
        lead, u, d = self._leads(at)
        uu, ud, dd = self.draws.bends(u, d, wins, draws, losses)
        of_lead = self.prior * (1 - np.tanh(lead / 2) ** 2) / 2 - uu
        information = np.empty((*at.shape, at.shape[1]))
        block = information[:, :-2, :-2]
        block[:] = self.anchor
        block[:, self.first, self.second] -= of_lead
        block[:, self.second, self.first] -= of_lead
        places = np.arange(self.agents)
        block[:, places, places] += self._summed(of_lead, of_lead)
        information[:, -2, :-2] = information[:, :-2, -2] = self._summed(-uu, uu)
        information[:, -1, :-2] = information[:, :-2, -1] = self._summed(-ud, ud)
        information[:, -2, -2] = self.model.prior_draws / 4 * (1 - np.tanh(at[:, -2] / 2) ** 2) - uu.sum(axis=1)
        information[:, -2, -1] = information[:, -1, -2] = -ud.sum(axis=1)
        information[:, -1, -1] = -dd.sum(axis=1) - self.draws.bends(*self._equals(d))[2][:, 0]
        moves = self.moves(at)
        return np.where(moves[:, :, None] & moves[:, None, :], information, np.eye(at.shape[1]))

    def chances(self, at: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """Probabilities of win, draw and loss of each pair's first seat."""
        _, u, d = self._leads(at)
        return self.draws.chances(u, d)

    def _leads(self, at: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        lead = at[:, self.first] - at[:, self.second]
        return lead, lead + at[:, -2:-1], at[:, -1:]

    def _equals(self, d: Matrix) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix]:
        half, none = np.full_like(d, self.model.prior_draws / 2), np.zeros_like(d)
        return none, d, half, none, half

    def _summed(self, of_first: Matrix, of_second: Matrix) -> Matrix:
        """Sums per agent."""
        return np.stack(
            [
                np.bincount(self.first, one, self.agents) + np.bincount(self.second, other, self.agents)
                for one, other in zip(of_first, of_second, strict=True)
            ]
        )


class Fit:
    """The maximum `at`: `ratings` (sum 0 per pool), `advantage` and `draw` parameter, in logistic units.

    `covariance` is that of the ratings. Errors are 0 for given values. `draw_share`: draws between equals.
    """

    def __init__(self, tally: PairCounts, model: RatingModel) -> None:
        self.tally = tally
        self.likelihood = Likelihood(tally, model)
        self._counts = tally.wins[None], tally.draws[None], tally.losses[None]
        at: Vector = rounded(self._climb())
        self.at, inverse = at, self._inverse(at)
        agents = len(tally.place)
        self.ratings: Vector = at[:agents]
        self.covariance: Matrix = inverse[:agents, :agents] - self.likelihood.anchor
        self.advantage, self.draw = float(at[-2]), float(at[-1])
        self.draw_share = self.likelihood.draws.share(self.draw)
        *_, advantage, draw = np.where(self.likelihood.moves(at[None])[0], np.diag(inverse), 0)
        self.advantage_error, self.draw_error = math.sqrt(advantage), math.sqrt(draw)

    def draw_shares(self, reach: float) -> tuple[float, float]:
        """`draw_share` with the draw parameter `reach` standard errors lower, and higher."""
        low, high = (self.likelihood.draws.share(self.draw + side * reach * self.draw_error) for side in (-1, 1))
        return max(0.0, low), high

    def chances(self) -> tuple[Vector, Vector, Vector]:
        """Probabilities of win, draw and loss of each pair's first seat."""
        won, drawn, lost = self.likelihood.chances(self.at[None])
        return won[0], drawn[0], lost[0]

    def slopes_of_score(self) -> Vector:
        """Derivative of each pair's expected score by the first seat's lead, in logistic units."""
        step = 1e-4
        more, less = self.at.copy(), self.at.copy()
        more[-2], less[-2] = self.advantage + step, self.advantage - step
        won, drawn, _ = self.likelihood.chances(np.stack([more, less]))
        more_score, less_score = won + drawn / 2
        slopes: Vector = (more_score - less_score) / (2 * step)
        return slopes

    def _climb(self) -> Vector:
        likelihood, tally = self.likelihood, self.tally
        draw = likelihood.draws.NO_DRAWS
        if tally.draws.any():
            draw = likelihood.draws.start(min(2 * tally.draws.sum() / tally.games.sum(), 0.9))
        at: Vector = likelihood.start(np.zeros(likelihood.agents), draw, tally.draws[None])[0]
        height = likelihood.height(at, tally)
        for _ in range(_MAX_STEPS):
            step = self._inverse(at) @ likelihood.slope(at[None], *self._counts)[0]
            while (higher := likelihood.height(at + step, tally)) < height and abs(step).max() > _CLOSE:
                step = step / 2
            if abs(step).max() <= _CLOSE:
                break
            at, height = at + step, higher
        return at

    def _inverse(self, at: Vector) -> Matrix:
        inverse: Matrix = np.linalg.inv(self.likelihood.information(at[None], *self._counts)[0])
        return inverse


def _pools(tally: PairCounts) -> list[list[int]]:
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph(zip(tally.first.tolist(), tally.second.tolist(), strict=True))
    return sorted(map(sorted, nx.connected_components(graph)), key=lambda pool: (-len(pool), pool))
