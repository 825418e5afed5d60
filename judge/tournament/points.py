"""The points of a game.

The result word is in the result line (Stratego's OUTCOME, Quantum Chess' second word) or is the verdict. The policy
sets points, `WORD = [the named side, the other]`; default: 1 for a win and 0.5 for a draw.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from judge.base.errors import InputError
from judge.base.parsing import FrozenModel
from judge.base.text import quote
from judge.catalog import game_entry
from judge.catalog.entry import ResultWord, ResultWords
from judge.contest_games import GameResult, Pairing
from judge.games.types import FAILURES, Verdict
from judge.record.policy import Policy
from judge.tournament.results import PlayedPairing, games_by_table

DECIMALS = 9
"""So that 3 * 0.1 equals 0.3."""

Points = tuple[float, float]
"""Of named and other side, or of first and second seat."""


Reader = Callable[[GameResult], ResultWord | None]
"""None for an invalid result line."""


VERDICT_POINTS: Mapping[str, Points] = {
    Verdict.WIN: (1, 0),
    Verdict.DRAW: (0.5, 0.5),
    **dict.fromkeys(sorted({Verdict.FOUL, Verdict.RESIGNED, *FAILURES}), (0, 1)),
}


_VERDICTS: frozenset[str] = frozenset(Verdict) - {Verdict.VOID}


def _read_verdict(game: GameResult) -> ResultWord:
    """The named side is the winner, or the side at fault."""
    if game.is_draw:
        return ResultWord(game.verdict, 0)
    if game.winner is None:
        return ResultWord(game.verdict, None)
    winner = game.agents.index(game.winner)
    return ResultWord(game.verdict, winner if game.verdict is Verdict.WIN else 1 - winner)


@dataclass(frozen=True, slots=True)
class PointsTable:
    """Points by result word."""

    by_word: Mapping[str, Points]
    read: Reader

    @property
    def best(self) -> float:
        """Maximum points of a game; a bye gives them for each."""
        return max(max(points) for points in self.by_word.values())

    def of(self, game: GameResult) -> Points:
        """Points of both seats."""
        outcome = self.read(game)
        points = None if outcome is None else self.by_word.get(outcome.word)
        if outcome is None or points is None:
            raise InputError(
                f"round {game.round}, table {game.table}, game {game.leg}: the result"
                f" {quote(game.result or game.verdict)} has no points; the policy's [points] has"
                f" {', '.join(self.by_word)}"
            )
        named, other = points
        if outcome.named is None:
            return named, named
        return (named, other) if outcome.named == 0 else (other, named)


def missing_words(policy: Policy) -> list[str]:
    """Result words without points, sorted."""
    words = _words_of(policy)
    return sorted((_VERDICTS if words is None else words.every) - _points_of(policy).keys())


def points_table(policy: Policy) -> PointsTable:
    """The policy's table. Raises InputError for words without points."""
    missing = missing_words(policy)
    if missing:
        raise InputError(
            f"policy {policy.name}: a {policy.game.name} game can end with {', '.join(missing)}, for"
            f" which [points] has no score; write {missing[0]} = [the named side's, the other's]"
        )
    words = _words_of(policy)
    return PointsTable(_points_of(policy), _read_verdict if words is None else lambda game: words.read(game.result))


def _points_of(policy: Policy) -> Mapping[str, Points]:
    return policy.points or VERDICT_POINTS


def _words_of(policy: Policy) -> ResultWords | None:
    game = policy.game
    return game_entry(game.name).result_words(game.options) if policy.points else None


class Duel(FrozenModel):
    """Points of all games together."""

    win: float = 3
    draw: float = 1
    loss: float = 0


@dataclass(frozen=True, slots=True)
class Scoring:
    """Sums games, or scores a `duel`."""

    table: PointsTable
    duel: Duel | None = None

    def of(self, pairing: Pairing, games: Sequence[GameResult], due: int) -> Points:
        """Points of `due` games; an incomplete duel gives no points."""
        if pairing.second is None:
            return (due * self.table.best if self.duel is None else self.duel.win), 0
        sums = [0.0, 0.0]
        for game in games:
            seat = int(game.first != pairing.first)
            points = self.table.of(game)
            sums[seat] += points[0]
            sums[1 - seat] += points[1]
        first, second = (round(points, DECIMALS) for points in sums)
        if self.duel is None:
            return first, second
        if len(games) != due:
            return 0, 0
        if first == second:
            return self.duel.draw, self.duel.draw
        return (self.duel.win, self.duel.loss) if first > second else (self.duel.loss, self.duel.win)


def score(
    pairings: Iterable[Pairing], results: Iterable[GameResult], scoring: Scoring, games: int
) -> list[PlayedPairing]:
    """Each pairing with results and points. Raises ValueError for a result without a pairing."""
    tables = games_by_table(results)
    played = []
    for pairing in pairings:
        of_pairing = tables.pop((pairing.round, pairing.table), [])
        seats = {(pairing.first, pairing.second), (pairing.second, pairing.first)}
        if not seats.issuperset(game.agents for game in of_pairing):
            raise ValueError(f"{pairing} was not played by {of_pairing[0].agents}")
        is_over = pairing.second is None or len(of_pairing) == games
        played.append(PlayedPairing(pairing, tuple(of_pairing), scoring.of(pairing, of_pairing, games), is_over))
    if tables:
        raise ValueError(f"results without a pairing: (round, table) {sorted(tables)}")
    return played
