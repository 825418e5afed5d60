"""Gomocup's ratings since 2017: those of Coulom's BayesElo with `offset 1600`, `mm` and `exactdist`.

With g = 10 ** (r / 400), the draw margin e = 0.01 Elo and t = 10 ** (e / 400):

    P(i beats j) = g_i / (g_i + t g_j)       Rao and Kupper 1967, without a first-move advantage

Each player has two virtual draws, distributed over its opponents like its games. BayesElo stops up to 1 Elo before the
maximum, so this module repeats its iterations:

    g_i <- sum_j a_ij / sum_j (a_ij / (g_i + t g_j) + a_ji t / (t g_i + g_j))       Hunter 2004, MM algorithms

with a_ij = wins of i over j plus their draws. Players are updated from the last to the first.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from judge.statistics.scales import ELO

_Key = TypeVar("_Key")
_Counts = tuple[int, int, int]
_Vector = npt.NDArray[np.float64]
_Places = npt.NDArray[np.intp]

OFFSET = 1600

_DRAW_ELO = 0.01
_MARGIN = 10 ** (_DRAW_ELO / 400)
_PRIOR_DRAWS = 2

_CLOSE = 1e-5
"""Maximum relative change |g' - g| / (g' + g) in the last round."""
_MAX_ROUNDS = 10_000

_REACH_ELO = 1500
_POINTS = 1001

_TAIL = 0.025


class PairResult(NamedTuple):
    """Games of two players; wins and losses are those of `first`."""

    first: str
    second: str
    wins: int
    draws: int
    losses: int


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
        return half_up((200 * self.wins + 100 * self.draws) / (2 * self.games))

    @property
    def draw_percent(self) -> int:
        """Share of draws, rounded."""
        return half_up(100 * self.draws / self.games)


def summed(results: Iterable[PairResult]) -> list[PairResult]:
    """One result per pair, sorted by players."""
    sums: dict[tuple[str, str], _Counts] = {}
    for first, second, wins, draws, losses in results:
        pair, counts = (first, second), (wins, draws, losses)
        if first > second:
            pair, counts = (second, first), (losses, draws, wins)
        _add(sums, pair, counts)
    return [PairResult(*pair, *sums[pair]) for pair in sorted(sums)]


class _Opponents(NamedTuple):
    """`won` and `lost` are a_ij and a_ji."""

    numbers: _Places
    games: _Vector
    won: _Vector
    lost: _Vector


class _Batch(NamedTuple):
    players: _Places
    wins: _Vector
    lengths: _Places
    starts: _Places
    opponents: _Places
    won: _Vector
    lost: _Vector
    """Times the draw margin."""


class _Table:
    def __init__(self, results: Iterable[PairResult]) -> None:
        self.number: dict[str, int] = {}
        met: list[dict[int, _Counts]] = []
        for result in results:
            if not any(result[2:]):
                continue
            for player in result[:2]:
                if self.number.setdefault(player, len(met)) == len(met):
                    met.append({})
            first, second = self.number[result.first], self.number[result.second]
            _add(met[first], second, (result.wins, result.draws, result.losses))
            _add(met[second], first, (result.losses, result.draws, result.wins))
        counts = [np.array(list(each.values()), dtype=np.float64) for each in met]
        self.counts: list[_Vector] = [each.sum(axis=0) for each in counts]
        games = np.array([each.sum() for each in self.counts])
        self.opponents: list[_Opponents] = []
        for number, its_own in enumerate(counts):
            numbers = np.array(list(met[number]), dtype=np.intp)
            wins, draws, losses = its_own.T
            together = its_own.sum(axis=1)
            drawn = draws + _PRIOR_DRAWS / 2 * together * (1 / games[number] + 1 / games[numbers])
            self.opponents.append(_Opponents(numbers, together, wins + drawn, losses + drawn))

    def ratings(self) -> _Vector:
        batches = self._batches()
        strengths = np.ones(len(self.opponents))
        for _ in range(_MAX_ROUNDS):
            change = 0.0
            for batch in batches:
                before = strengths[batch.players]
                mine, its = np.repeat(before, batch.lengths), strengths[batch.opponents]
                rates = batch.won / (mine + _MARGIN * its) + batch.lost / (_MARGIN * mine + its)
                after = batch.wins / np.add.reduceat(rates, batch.starts)
                change = max(change, float((abs(after - before) / (after + before)).max()))
                strengths[batch.players] = after
            if change < _CLOSE:
                break
        ratings: _Vector = 400 * np.log10(strengths)
        ratings -= ratings.mean()
        return ratings

    def _batches(self) -> list[_Batch]:
        """Players of a batch have not met."""
        batch_of = [0] * len(self.opponents)
        for player in range(len(self.opponents) - 1, -1, -1):
            later = (int(each) for each in self.opponents[player].numbers if each > player)
            batch_of[player] = max((batch_of[each] + 1 for each in later), default=0)
        batches = []
        for number in range(max(batch_of) + 1):
            players = [player for player, batch in enumerate(batch_of) if batch == number]
            of_players = [self.opponents[player] for player in players]
            lengths = np.array([len(each.numbers) for each in of_players])
            batches.append(
                _Batch(
                    players=np.array(players),
                    wins=np.array([float(each.won.sum()) for each in of_players]),
                    lengths=lengths,
                    starts=np.cumsum(lengths) - lengths,
                    opponents=np.concatenate([each.numbers for each in of_players]),
                    won=np.concatenate([each.won for each in of_players]),
                    lost=_MARGIN * np.concatenate([each.lost for each in of_players]),
                )
            )
        return batches

    def interval(self, player: int, ratings: _Vector) -> tuple[float, float]:
        numbers, _, won, lost = self.opponents[player]
        step = 2 * _REACH_ELO / _POINTS
        points = -_REACH_ELO + step * (np.arange(_POINTS) + 0.5)
        shifts = (points - ratings[player]) / (len(ratings) - 1)
        lead = points[:, None] - ratings[numbers][None, :] + shifts[:, None]
        height = -(
            won * np.logaddexp(0, (_DRAW_ELO - lead) / ELO) + lost * np.logaddexp(0, (_DRAW_ELO + lead) / ELO)
        ).sum(axis=1)
        density = np.exp(height - height.max())
        density /= density.sum()
        low, high = (step * _quantile(each) for each in (density, density[::-1]))
        return float(points[0]) + low, float(points[-1]) - high


def _add(sums: dict[_Key, _Counts], key: _Key, counts: _Counts) -> None:
    wins, draws, losses = sums.get(key, (0, 0, 0))
    sums[key] = (wins + counts[0], draws + counts[1], losses + counts[2])


def _quantile(density: _Vector) -> float:
    before = np.concatenate([[0.0], density[:-1]])
    areas = np.cumsum((before + density) / 2)
    at = int(np.searchsorted(areas, _TAIL))
    left = areas[at - 1] if at else 0.0
    return float(at - 1 + (_TAIL - left) / (areas[at] - left))


def strengths_of(results: Iterable[PairResult]) -> Mapping[str, float]:
    """Rating in Elo of each player with games. The order of `results` changes it slightly."""
    table = _Table(results)
    if not table.number:
        return {}
    return dict(zip(table.number, (OFFSET + float(each) for each in table.ratings()), strict=True))


def bayes_ratings(results: Iterable[PairResult]) -> list[BayesRating]:
    """Ratings of all players with games, best first."""
    table = _Table(results)
    if not table.number:
        return []
    ratings = table.ratings()
    rated = []
    for player, number in table.number.items():
        low, high = table.interval(number, ratings)
        opponents = table.opponents[number]
        wins, draws, losses = (int(count) for count in table.counts[number])
        elo = float(ratings[number])
        games = wins + draws + losses
        mean = float((opponents.games * ratings[opponents.numbers]).sum()) / games
        rated.append(BayesRating(player, OFFSET + elo, high - elo, elo - low, games, wins, draws, OFFSET + mean))
    return sorted(rated, key=lambda rating: -rating.elo)


def half_up(value: float) -> int:
    """Round to the nearest integer, halves away from zero, as C does."""
    return math.floor(value + 0.5) if value >= 0 else -math.floor(0.5 - value)
