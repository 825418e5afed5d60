"""The Bradley-Terry model with draws and a first-move advantage, fitted to games by maximum likelihood.

Two models have the probabilities of win, draw and loss of the first seat. With u its lead in logistic units (rating
difference plus first-move advantage) and d the draw parameter:

- **Rao and Kupper** (Ties in Paired-Comparison Experiments, 1967; BayesElo): a lead within the margin d > 0 only
  draws. P(win) = 1 / (1 + exp(d - u)), P(loss) = 1 / (1 + exp(d + u)), P(draw) = P(win) P(loss) (exp(2 d) - 1).
  Between equals tanh(d / 2) of the games are drawn. No draws: d = 0.
- **Davidson** (On Extending the Bradley-Terry Model to Accommodate Ties, 1970; Ordo): P(draw) is the geometric mean
  of P(win) and P(loss), times exp(d). P(win) : P(draw) : P(loss) = exp(u / 2) : exp(d) : exp(-u / 2). Between equals
  exp(d) / (2 + exp(d)) of the games are drawn. No draws: d = minus infinity. It is an exponential family: its
  curvature is minus the covariance of the counts, so only sums of wins, draws and losses matter.

Both log-likelihoods are concave in (u, d), so Newton's method finds their one maximum. The curvature there gives the
covariance.

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

from judge.contest_games import GameResult, ends_of_pairs
from judge.statistics.rating_model import RatingModel
from judge.statistics.scales import ELO, rounded

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Slopes = tuple[Vector, Vector]
Bends = tuple[Vector, Vector, Vector]

_CLOSE = 1e-9
"""Minimum step: two millionths of an Elo."""

_MAX_STEPS = 200

_CLOSE_LEAGUES = 1e-5
"""Largest change of a rating in the last step of `fit_leagues`, in logistic units."""

MAX_LEAGUE_STEP = 1.0
"""Largest change of a rating in one step of `fit_leagues`, in logistic units."""

_RIDGE = 1e-9
"""Far from the maximum the information would be singular."""

_SHARED_STEPS = 40
"""Steps with the start's information; then each league has its own."""

_MAX_LEAGUE_STEPS = 100


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


def _margin(d: float | Vector) -> Vector:
    """Without a margin there are no draws, and their derivatives are 0."""
    return np.where(np.asarray(d) > 0, d, np.inf)


def share(x: Vector | float) -> Vector:
    """The logistic function."""
    return np.exp(log_share(x))


def log_share(x: Vector | float) -> Vector:
    """Logarithm of `share`, for any x."""
    return -np.logaddexp(0, -np.asarray(x, dtype=np.float64))


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
        return cls.of_scores(ends_of_pairs(games))

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
        self.draws: RaoKupper | Davidson = Davidson() if model.draws == "davidson" else RaoKupper()
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

    def information(self, at: Matrix, wins: Matrix, draws: Matrix, losses: Matrix) -> Matrix:
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


def fit_leagues(likelihood: Likelihood, start: Vector, wins: Matrix, draws: Matrix, losses: Matrix) -> Matrix:
    """Fit many leagues with the same pairs, such as simulated ones: the points of the maxima, from the point `start`.

    Counts have a row per league. Newton's limited step converges from any start for Davidson's model.
    """
    counts = wins, draws, losses
    at = likelihood.start(start[:-2], start[-1], draws)
    inverse = np.linalg.inv(_ridged(likelihood, start[None], wins[:1], draws[:1], losses[:1])[0])
    going = np.arange(len(wins))
    for number in range(_MAX_LEAGUE_STEPS):
        here = at[going], *(each[going] for each in counts)
        slope = likelihood.slope(*here)
        close = _CLOSE_LEAGUES
        if number < _SHARED_STEPS:
            # These steps converge linearly.
            step: Matrix = slope @ inverse
            close /= 100
        else:
            step = np.linalg.solve(_ridged(likelihood, *here), slope[..., None])[..., 0].astype(np.float64)
        largest = abs(step).max(axis=1)
        step *= np.minimum(1, MAX_LEAGUE_STEP / np.maximum(largest, _CLOSE_LEAGUES))[:, None]
        at[going] += step
        going = going[largest > close]
        if not len(going):
            break
    return at


def _ridged(likelihood: Likelihood, at: Matrix, wins: Matrix, draws: Matrix, losses: Matrix) -> Matrix:
    ridge = np.full(at.shape[1], _RIDGE)
    ridge[-2:] = 0
    return likelihood.information(at, wins, draws, losses) + np.diag(ridge)
