"""A game from pairing to result, as plain values for contest rules and store."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from judge.games.types import Verdict
from judge.record.spec import game_scores

_Key = TypeVar("_Key")


class GameState(StrEnum):
    """The state of a scheduled game."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    HELD = "held"
    """Void too often: the organiser must decide."""
    CANCELLED = "cancelled"
    """One of its agents is disqualified."""


OPEN_STATES = (GameState.PENDING, GameState.RUNNING, GameState.HELD)
"""Of games that have not ended."""


def total_text(counts: Mapping[GameState, int], to_come: int, *, is_exact: bool) -> str:
    """The number of all games that are not cancelled, such as `at least 12`; `to_come`: those to be scheduled."""
    total = sum(counts.values()) - counts[GameState.CANCELLED] + to_come
    return f"{'' if is_exact else 'at least '}{total}"


class AttemptState(StrEnum):
    """State of an attempt."""

    RUNNING = "running"
    ACCEPTED = "accepted"
    VOID = "void"
    ANNULLED = "annulled"
    """Annulled by the organiser."""
    ABANDONED = "abandoned"
    SUPERSEDED = "superseded"
    """It ended after a later attempt had started: stored, never counted."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two agents that meet. `first` has seat 0 in the first game; `second` None: a bye.

    `round` and `table` count from 1. `meeting`: number of earlier meetings; `group`: group or league, or empty.
    """

    first: str
    second: str | None
    round: int
    table: int
    meeting: int = 0
    group: str = ""

    @property
    def agents(self) -> frozenset[str]:
        """Both agents, or the one with a bye."""
        return frozenset({self.first} if self.second is None else {self.first, self.second})


@dataclass(frozen=True, slots=True)
class ScheduledGame:
    """Number, round and table count from 1, `leg` in its pairing from 0. `first` has seat 0. `spec`: GameSpec as JSON.

    `attempt` is the last one, 0 before the first; `why`: reason for the state.
    """

    id: str
    number: int
    round: int
    table: int
    leg: int
    first: str
    second: str
    spec: str
    state: str = GameState.PENDING
    """A `GameState`; any text if it was read from an export."""
    attempt: int = 0
    why: str = ""

    @property
    def agents(self) -> tuple[str, str]:
        """Both agents by seat."""
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class Attempt:
    """`number` counts from 1; `record` is a digest; `slot` are the cores of `host`.

    `game` and `record` are empty if read from an export.
    """

    game: str
    number: int
    state: str
    """An `AttemptState`; any text if it was read from an export."""
    why: str
    record: str | None = None
    host: str = ""
    slot: str = ""
    started_at: str = ""
    """In UTC."""


def schedule_digest(games: Iterable[ScheduledGame]) -> str:
    """SHA-256 of some games' schedule."""
    rows = [[each.number, each.id, each.round, each.table, each.leg, each.first, each.second] for each in games]
    return hashlib.sha256(json.dumps(rows, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class SeatOutcome:
    """A fault's verdict, answers, and charged time."""

    fault: str | None
    replies: int
    charged_ms: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. Its record is on disk."""

    verdict: str
    winner: int | None
    """A seat."""
    result: str
    """Result line of the game's usual manager, whose words some contests score."""
    reason: str
    record: str
    seconds: float
    seats: tuple[SeatOutcome, SeatOutcome]
    public: str | None = None
    """Digest of the record's public part."""
    moves: str = ""
    """See `GameResult.moves`."""

    def row(self, game: ScheduledGame, attempt: int) -> "GameResult":
        """A game's result, if this attempt counts."""
        first, second = self.seats
        return game_result(
            (
                *(game.first, game.second, self.winner, self.verdict, self.reason, self.result),
                *(first.fault, second.fault, first.replies, second.replies, first.charged_ms, second.charged_ms),
                *(game.round, game.table, game.leg),
                *(game.id, game.number, attempt, self.record, self.seconds, self.moves),
            )
        )


GameContent = tuple[str, str, str]

MOVES_DIGITS = 16
"""First digits of `GameResult.moves` by which games of several contests are compared."""


class GameResult(NamedTuple):
    """A game's final result. `first` had seat 0; `winner` is None for a draw or if both are at fault.

    Pairs are by seat: verdict of a fault, number of answers, charged milliseconds. `result` is the usual manager's
    result line, `record` a digest. A plain tuple: contests may have a hundred thousand.
    """

    first: str
    second: str
    winner: str | None
    verdict: Verdict
    reason: str = ""
    result: str = ""
    faults: tuple[Verdict | None, Verdict | None] = (None, None)
    replies: tuple[int, int] = (0, 0)
    charged_ms: tuple[float, float] = (0.0, 0.0)
    round: int = 1
    table: int = 1
    leg: int = 0
    id: str = ""
    number: int = 0
    attempt: int = 0
    record: str = ""
    seconds: float = 0.0
    moves: str = ""
    """SHA-256 of opening, answers and result: equal for identical games of two agents. Empty: unknown."""

    @property
    def content(self) -> GameContent | None:
        """Equal for games in which the same agents, in the same seats, did the same; None: unknown."""
        return (self.first, self.second, self.moves) if self.moves else None

    @property
    def agents(self) -> tuple[str, str]:
        """Both agents by seat."""
        return self.first, self.second

    @property
    def winning_seat(self) -> int | None:
        return None if self.winner is None else int(self.winner != self.first)

    @property
    def is_draw(self) -> bool:
        """Whether neither agent won or is at fault."""
        return self.verdict is Verdict.DRAW

    @property
    def end(self) -> int | None:
        """0 if the agent in seat 0 won, 1 if it drew, 2 if it lost; None if both are at fault."""
        if self.winner is None:
            return 1 if self.is_draw else None
        return 0 if self.winner == self.first else 2

    @property
    def scores(self) -> tuple[float, float]:
        """1 for a win, 0.5 for a draw, 0 for a loss or if both are at fault."""
        return game_scores(self.verdict, self.winning_seat)


# Ten times as fast as `Verdict(word)`.
_VERDICTS: Mapping[str, Verdict] = {verdict.value: verdict for verdict in Verdict}
_FAULTS: Mapping[str | None, Verdict | None] = {None: None} | dict(_VERDICTS)


def game_result(columns: Sequence[Any]) -> GameResult:
    """From a store row: fields in order, pairs as two columns, the winner as a seat."""
    first, second, winner, verdict, reason, result, fault_0, fault_1, replies_0, replies_1, *rest = columns
    charged_ms_0, charged_ms_1, *rest = rest
    return GameResult(
        first,
        second,
        None if winner is None else second if winner else first,
        _VERDICTS[verdict],
        reason,
        result,
        (_FAULTS[fault_0], _FAULTS[fault_1]),
        (replies_0, replies_1),
        (charged_ms_0, charged_ms_1),
        *rest,
    )


def ends_of_pairs(results: Iterable[GameResult]) -> dict[tuple[str, str], list[int]]:
    """Wins, draws and losses of the agent in seat 0, by the agents of both seats. Games that both lost are ignored."""
    ends: dict[tuple[str, str], list[int]] = {}
    for game in results:
        if (end := game.end) is not None:
            ends.setdefault(game.agents, [0, 0, 0])[end] += 1
    return ends


Counts = tuple[int, int, int]
"""Wins, draws and losses."""


class PairResult(NamedTuple):
    """Games of two players; wins and losses are those of `first`."""

    first: str
    second: str
    wins: int
    draws: int
    losses: int


def summed(results: Iterable[PairResult]) -> list[PairResult]:
    """One result per pair, sorted by players."""
    sums: dict[tuple[str, str], Counts] = {}
    for first, second, wins, draws, losses in results:
        pair, counts = (first, second), (wins, draws, losses)
        if first > second:
            pair, counts = (second, first), (losses, draws, wins)
        add_counts(sums, pair, counts)
    return [PairResult(*pair, *sums[pair]) for pair in sorted(sums)]


def add_counts(sums: dict[_Key, Counts], key: _Key, counts: Counts) -> None:
    """Add to the sums of one key, such as a pair."""
    wins, draws, losses = sums.get(key, (0, 0, 0))
    sums[key] = (wins + counts[0], draws + counts[1], losses + counts[2])


def copies(results: Iterable[GameResult]) -> Mapping[int, int]:
    """Number of each game that repeats an earlier one, with the number of that one."""
    first: dict[GameContent, int] = {}
    found = {}
    for game in results:
        if (content := game.content) is not None and (number := first.setdefault(content, game.number)) != game.number:
            found[game.number] = number
    return found


def without_copies(results: Iterable[GameResult]) -> list[GameResult]:
    """The results as evidence: programs without chance repeat a game, which shows nothing new."""
    seen: set[GameContent | None] = set()
    found = []
    for game in results:
        if (content := game.content) is None or content not in seen:
            seen.add(content)
            found.append(game)
    return found


def without_copied_pairs(results: Iterable[GameResult], seen: Collection[GameContent] = ()) -> list[GameResult]:
    """As `without_copies` for pairs of games (games 0 and 1 of a pairing, 2 and 3, ...): a pair is left out if both
    games repeat earlier ones or those in `seen`.
    """
    pairs: dict[tuple[int, int, int], list[GameResult]] = {}
    for game in results:
        pairs.setdefault((game.round, game.table, game.leg // 2), []).append(game)
    known: set[GameContent | None] = {*seen}
    found = []
    for games in pairs.values():
        if all(game.content in known for game in games):
            continue
        known.update(game.content for game in games if game.moves)
        found += games
    return found


@dataclass(frozen=True, slots=True)
class GameConditions:
    """Place and time of a game. `slot` are the cores of `host`.

    `began`: seconds of any common clock; `seconds`: duration; `hour` of the day.
    """

    host: str
    slot: str
    began: float
    seconds: float
    hour: str


_SCHEDULED = tuple(field.name for field in fields(ScheduledGame))


@dataclass(frozen=True)
class PublishedGame(ScheduledGame):
    """A game with its result and recorded attempts that do not count.

    `attempt` is the one that counts, or else the last one.
    """

    result: GameResult | None = None
    uncounted: tuple[Attempt, ...] = ()
    conditions: GameConditions | None = None
    """From its record; None if it was not read."""

    @classmethod
    def of(cls, game: ScheduledGame, result: GameResult | None, uncounted: Sequence[Attempt] = ()) -> "PublishedGame":
        scheduled = {name: getattr(game, name) for name in _SCHEDULED}
        return cls(**scheduled, result=result, uncounted=tuple(uncounted))

    @property
    def stem(self) -> str:
        """Name of its files without extension: digits."""
        return f"{self.number:05d}"

    @property
    def record_path(self) -> str:
        """Path of its record in an export."""
        return f"records/{self.stem}.json"

    @property
    def picture_path(self) -> str:
        """Path of its last position's picture in an export."""
        return f"games/{self.stem}.png"

    def attempt_path(self, attempt: int) -> str:
        """Path in an export of an uncounted attempt's record."""
        return f"records/{self.stem}.attempt-{attempt}.json"

    def path_of(self, attempt: int | None) -> str:
        """Path in an export of the result's record, or of an uncounted `attempt`'s."""
        return self.record_path if attempt is None else self.attempt_path(attempt)

    def record_of(self, attempt: int | None) -> str | None:
        """Digest of the result's record, or of an uncounted `attempt`'s."""
        if attempt is None:
            return None if self.result is None else self.result.record
        return next((each.record for each in self.uncounted if each.number == attempt), None)

    def score_of(self, agent: str) -> float | None:
        """1, 0.5 or 0 for one of the two agents; None without a result."""
        return None if self.result is None else self.result.scores[agent != self.first]
