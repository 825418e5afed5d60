"""Ratings of Coulom's BayesElo with `offset 1600` and `mm`.

With g = 10 ** (r / 400), the draw margin e = 0.01 Elo and t = 10 ** (e / 400):

    P(i beats j) = g_i / (g_i + t g_j)       Rao and Kupper 1967, without a first-move advantage

Each player has two virtual draws, distributed over its opponents like its games. BayesElo stops up to 1 Elo before the
maximum, so this module repeats its iterations:

    g_i <- sum_j a_ij / sum_j (a_ij / (g_i + t g_j) + a_ji t / (t g_i + g_j))       Hunter 2004, MM algorithms

with a_ij = wins of i over j plus their draws. Players are updated from the last to the first.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from judge.contest_games import Counts, PairResult, add_counts

_Vector = npt.NDArray[np.float64]
_Places = npt.NDArray[np.intp]

OFFSET = 1600

DRAW_ELO = 0.01
_MARGIN = 10 ** (DRAW_ELO / 400)
_PRIOR_DRAWS = 2

_CLOSE = 1e-5
"""Maximum relative change |g' - g| / (g' + g) in the last round."""
_MAX_ROUNDS = 10_000


class Opponents(NamedTuple):
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


class PairTable:
    """Results by player; players have numbers in the order of their first result."""

    def __init__(self, results: Iterable[PairResult]) -> None:
        self.number: dict[str, int] = {}
        met: list[dict[int, Counts]] = []
        for result in results:
            if not any(result[2:]):
                continue
            for player in result[:2]:
                if self.number.setdefault(player, len(met)) == len(met):
                    met.append({})
            first, second = self.number[result.first], self.number[result.second]
            add_counts(met[first], second, (result.wins, result.draws, result.losses))
            add_counts(met[second], first, (result.losses, result.draws, result.wins))
        counts = [np.array(list(each.values()), dtype=np.float64) for each in met]
        self.counts: list[_Vector] = [each.sum(axis=0) for each in counts]
        games = np.array([each.sum() for each in self.counts])
        self.opponents: list[Opponents] = []
        for number, its_own in enumerate(counts):
            numbers = np.array(list(met[number]), dtype=np.intp)
            wins, draws, losses = its_own.T
            together = its_own.sum(axis=1)
            drawn = draws + _PRIOR_DRAWS / 2 * together * (1 / games[number] + 1 / games[numbers])
            self.opponents.append(Opponents(numbers, together, wins + drawn, losses + drawn))

    def ratings(self) -> _Vector:
        """In Elo, with a mean of 0, by number."""
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


def strengths_of(results: Iterable[PairResult]) -> Mapping[str, float]:
    """Rating in Elo of each player with games. The order of `results` changes it slightly."""
    table = PairTable(results)
    if not table.number:
        return {}
    return dict(zip(table.number, (OFFSET + float(each) for each in table.ratings()), strict=True))
