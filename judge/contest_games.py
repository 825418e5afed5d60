"""A game from its pairing to its result, as the rules of contests and their store share it: plain values."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, NamedTuple

from judge.games.types import Verdict
from judge.records.outcome import game_scores


class GameState(StrEnum):
    """The state of a game of the schedule."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    HELD = "held"
    """Void too often: the organiser decides."""
    CANCELLED = "cancelled"
    """Never to be played: one of its agents is disqualified."""


class AttemptState(StrEnum):
    """The state of one attempt of a game."""

    RUNNING = "running"
    ACCEPTED = "accepted"
    VOID = "void"
    ANNULLED = "annulled"
    """It had a result, and the organiser annulled it."""
    ABANDONED = "abandoned"
    """The judge that played it was stopped before it ended."""
    SUPERSEDED = "superseded"
    """It ended after a later attempt had started: stored for audit, never counted."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two agents who meet in a round. `first` has seat 0 in the first game; `second` None is a bye for `first`.

    `round` and `table` count from 1 and name the pairing; `meeting` counts from 0 how often the two have met before;
    `group` is the group or the league they meet in, empty if the format has none.
    """

    first: str
    second: str | None
    round: int
    table: int
    meeting: int = 0
    group: str = ""

    @property
    def agents(self) -> frozenset[str]:
        """Both agents, or the only one of a bye."""
        return frozenset({self.first} if self.second is None else {self.first, self.second})


@dataclass(frozen=True, slots=True)
class ScheduledGame:
    """A game of the schedule: its number there, its round, its table in the round, all from 1. `leg` counts the games
    of its pairing from 0. `first` has seat 0, `second` seat 1. `spec` is the JSON of its GameSpec.

    `attempt` is the number of its last attempt, 0 before the first; `why` says what happened to it last.
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


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt of a game. `game` is the game's id, empty if it was read from an export; `number` counts from 1.

    `record` is the digest of its record; None without one, and if it was read from an export. `host` is the machine and
    `slot` its cores there, empty if they are not known.
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
    """SHA-256 of what a schedule says of some games, in JSON."""
    rows = [[each.number, each.id, each.round, each.table, each.leg, each.first, each.second] for each in games]
    return hashlib.sha256(json.dumps(rows, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class SeatOutcome:
    """What one seat did: the word for which it lost, if it was at fault, its answers, and the time charged to it."""

    fault: str | None
    replies: int
    charged_ms: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended, with the digest of its record, which is on disk before this is used."""

    verdict: str
    winner: int | None
    """A seat."""
    result: str
    """The field's own result line, by whose words some contests score."""
    reason: str
    record: str
    seconds: float
    seats: tuple[SeatOutcome, SeatOutcome]
    public: str | None = None
    """The digest of the record's public part, which everybody may see; None if nobody computed it."""

    def row(self, game: ScheduledGame, attempt: int) -> "GameResult":
        """The result of a game, if this attempt counts."""
        first, second = self.seats
        return game_result(
            (
                *(game.first, game.second, self.winner, self.verdict, self.reason, self.result),
                *(first.fault, second.fault, first.replies, second.replies, first.charged_ms, second.charged_ms),
                *(game.round, game.table, game.leg),
                *(game.id, game.number, attempt, self.record, self.seconds),
            )
        )


class GameResult(NamedTuple):
    """The one result of a game. `first` sat in seat 0, `winner` is one of the two, or None for a draw or when both are
    at fault.

    Pairs are in the order of seats: the word for which each lost, how often it answered, and the time charged to it in
    milliseconds. `result` is the line of the field's own manager, `record` that record's digest, `id` the game's id.

    A plain tuple, because a contest may have a hundred thousand.
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

    @property
    def agents(self) -> tuple[str, str]:
        """In order of seats."""
        return self.first, self.second

    @property
    def winning_seat(self) -> int | None:
        """The seat of the winner; None if there is none."""
        return None if self.winner is None else int(self.winner != self.first)

    @property
    def is_draw(self) -> bool:
        """Nobody won and nobody is at fault."""
        return self.verdict is Verdict.DRAW

    @property
    def scores(self) -> tuple[float, float]:
        """1 for a win, a half for a draw, 0 for a loss; 0 for both if both are at fault."""
        return game_scores(self.verdict, self.winning_seat)


# Looked up: an enum's own way from a word to its member takes ten times as long, three times a game.
_VERDICTS: Mapping[str, Verdict] = {verdict.value: verdict for verdict in Verdict}
_FAULTS: Mapping[str | None, Verdict | None] = {None: None} | dict(_VERDICTS)


def game_result(columns: Sequence[Any]) -> GameResult:
    """The result of a row of the store: its columns are the fields in their order, pairs as two, the winner a seat."""
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


@dataclass(frozen=True, slots=True)
class GameConditions:
    """Where and when a game was played. `slot` are its cores, `host` its machine (empty if the record has none).

    `began` is in seconds of any clock that all games share, `seconds` for how long it lasted, `hour` that of the day.
    """

    host: str
    slot: str
    began: float
    seconds: float
    hour: str


@dataclass(frozen=True)
class PublishedGame(ScheduledGame):
    """A game of the schedule with its result and its attempts that have a record and do not count.

    `attempt` is the one that counts if there is a result, else the last one; 0 before the first.
    """

    result: GameResult | None = None
    uncounted: tuple[Attempt, ...] = ()
    conditions: GameConditions | None = None
    """Where and when it was played, by its record; None if that was not read."""

    @classmethod
    def of(cls, game: ScheduledGame, result: GameResult | None, uncounted: Sequence[Attempt] = ()) -> "PublishedGame":
        """A game of the schedule with its result and other attempts."""
        scheduled = {field.name: getattr(game, field.name) for field in fields(ScheduledGame)}
        return cls(**scheduled, result=result, uncounted=tuple(uncounted))

    @property
    def stem(self) -> str:
        """The name of its files without the ending; made of digits, not of the agents' names."""
        return f"{self.number:05d}"

    @property
    def record_path(self) -> str:
        """Where its record is in an export."""
        return f"records/{self.stem}.json"

    @property
    def picture_path(self) -> str:
        """Where the picture of its last position is in an export."""
        return f"games/{self.stem}.png"

    def attempt_path(self, attempt: int) -> str:
        """Where the record of an attempt that does not count is in an export."""
        return f"records/{self.stem}.attempt-{attempt}.json"

    def score_of(self, agent: str) -> float | None:
        """1, a half or 0 for one of the two agents; None if there is no result."""
        return None if self.result is None else self.result.scores[agent != self.first]
