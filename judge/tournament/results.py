"""Results of pairings: sums of games, and points.

The points of a game depend on its result word, which is in the result line (Stratego's OUTCOME, Quantum Chess' second
word) or is the verdict. The policy sets points, `WORD = [the named side, the other]`; default: 1 for a win and 0.5 for
a draw.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from judge.base.errors import InputError
from judge.base.parsing import FrozenModel
from judge.base.text import quote
from judge.catalog import game_entry
from judge.catalog.entry import ResultWord, ResultWords
from judge.contest_games import GameResult, Pairing
from judge.games.types import FAILURES, Verdict
from judge.record.policy import Policy

DECIMALS = 9
"""So that 3 * 0.1 equals 0.3."""

Points = tuple[float, float]
"""Of named and other side, or of first and second seat."""

VERDICT_POINTS: Mapping[str, Points] = {
    Verdict.WIN: (1, 0),
    Verdict.DRAW: (0.5, 0.5),
    **dict.fromkeys(sorted({Verdict.FOUL, Verdict.RESIGNED, *FAILURES}), (0, 1)),
}

_VERDICTS: frozenset[str] = frozenset(Verdict) - {Verdict.VOID}


@dataclass(slots=True)
class SideScore:
    """One side's results. A fault of both is a loss of both."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    failures: int = 0
    replies: int = 0
    charged_ms: float = 0.0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins plus half of the draws."""
        return self.wins + self.draws / 2

    def count(self, game: GameResult, seat: int) -> None:
        if game.winner is not None:
            has_won = game.winner == (game.second if seat else game.first)
            self.wins += has_won
            self.losses += not has_won
        elif game.is_draw:
            self.draws += 1
        else:
            self.losses += 1
        self.failures += game.faults[seat] in FAILURES
        self.replies += game.replies[seat]
        self.charged_ms += game.charged_ms[seat]

    def add(self, other: "SideScore") -> None:
        self.wins += other.wins
        self.draws += other.draws
        self.losses += other.losses
        self.failures += other.failures
        self.replies += other.replies
        self.charged_ms += other.charged_ms


@dataclass(frozen=True)
class PlayedPairing:
    """A pairing with games and points so far."""

    pairing: Pairing
    games: tuple[GameResult, ...]
    points: tuple[float, float]
    is_over: bool = True
    due: int = 1
    """Its games, when it is over; a bye counts as their wins."""

    @cached_property
    def sides(self) -> tuple[SideScore, SideScore]:
        first, second = SideScore(), SideScore()
        for game in self.games:
            seat = int(game.first != self.pairing.first)
            first.count(game, seat)
            second.count(game, 1 - seat)
        return first, second

    def points_of(self, agent: str) -> float:
        return self.points[agent != self.pairing.first]

    def side_of(self, agent: str) -> SideScore:
        return self.sides[agent != self.pairing.first]


def rounded(value: float) -> float:
    """`+ 0.0` turns a negative zero into zero."""
    return round(value, DECIMALS) + 0.0


def sums_of(agent: str, played: Iterable[PlayedPairing]) -> tuple[float, SideScore]:
    """An agent's points and games in its pairings."""
    points, done = 0.0, SideScore()
    for each in played:
        points += each.points_of(agent)
        done.add(each.side_of(agent))
    return rounded(points), done


def failure_shares(results: Iterable[GameResult], after: int = 1) -> dict[str, float]:
    """Share of games lost by an agent's failure, 0 to 1, of agents with at least `after` games."""
    games, failures = Counter[str](), Counter[str]()
    for result in results:
        for agent, fault in zip(result.agents, result.faults, strict=True):
            games[agent] += 1
            failures[agent] += fault in FAILURES
    return {agent: failures[agent] / count for agent, count in games.items() if count >= after}


def without(played: Sequence[PlayedPairing], agents: Collection[str]) -> list[PlayedPairing]:
    """Results without these agents."""
    out = frozenset(agents)
    return [each for each in played if not each.pairing.agents & out]


def _read_verdict(game: GameResult) -> ResultWord:
    """The named side is the winner, or the side at fault."""
    if game.winner is None:
        return ResultWord(game.verdict, 0 if game.is_draw else None)
    winner = game.agents.index(game.winner)
    return ResultWord(game.verdict, winner if game.verdict is Verdict.WIN else 1 - winner)


@dataclass(frozen=True, slots=True)
class PointsTable:
    """Points by result word."""

    by_word: Mapping[str, Points]
    read: Callable[[GameResult], ResultWord | None]
    """None for an invalid result line."""

    @property
    def best(self) -> float:
        """Maximum points of a game; a bye gives them for each."""
        return max(max(points) for points in self.by_word.values())

    def of(self, game: GameResult) -> Points:
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
    return sorted((_VERDICTS if words is None else words.every) - (policy.points or VERDICT_POINTS).keys())


def points_table(policy: Policy) -> PointsTable:
    """The policy's table. Raises InputError for words without points."""
    missing = missing_words(policy)
    if missing:
        raise InputError(
            f"policy {policy.name}: a {policy.game.name} game can end with {', '.join(missing)}, for"
            f" which [points] has no score; write {missing[0]} = [the named side's, the other's]"
        )
    words = _words_of(policy)
    points = policy.points or VERDICT_POINTS
    return PointsTable(points, _read_verdict if words is None else lambda game: words.read(game.result))


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
    tables: dict[tuple[int, int], list[GameResult]] = {}
    for result in sorted(results, key=lambda result: result.leg):
        tables.setdefault((result.round, result.table), []).append(result)
    played = []
    for pairing in pairings:
        of_pairing = tables.pop((pairing.round, pairing.table), [])
        seats = {(pairing.first, pairing.second), (pairing.second, pairing.first)}
        if not seats.issuperset(game.agents for game in of_pairing):
            raise ValueError(f"{pairing} was not played by {of_pairing[0].agents}")
        is_over = pairing.second is None or len(of_pairing) == games
        points = scoring.of(pairing, of_pairing, games)
        played.append(PlayedPairing(pairing, tuple(of_pairing), points, is_over, games))
    if tables:
        raise ValueError(f"results without a pairing: (round, table) {sorted(tables)}")
    return played
