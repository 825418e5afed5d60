"""What goes into the store and what comes out of it: plain values."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class MatchState(StrEnum):
    """Where a match of a schedule is."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    HELD = "held"
    """Void too often: the organiser decides."""
    CANCELLED = "cancelled"
    """Never to be played: one of its agents is disqualified."""


class AttemptState(StrEnum):
    """What became of one time that a match was played."""

    RUNNING = "running"
    ACCEPTED = "accepted"
    VOID = "void"
    ANNULLED = "annulled"
    """It had a result, and the organiser took it back."""
    ABANDONED = "abandoned"
    """Its judge was gone before it had an end."""
    SUPERSEDED = "superseded"
    """It ended when another attempt was already current: kept for audit, never counted."""


@dataclass(frozen=True, slots=True)
class EntryRow:
    """Who takes part; `entry` is JSON that names the agent's files by digest."""

    name: str
    place: int
    entry: str
    disqualified: str | None = None


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A game of the schedule: its place in it, its round, its table in the round, from 1; `game` from 0 at the table.

    `spec` is the JSON of its MatchSpec.
    """

    id: str
    number: int
    round: int
    table: int
    game: int
    first: str
    second: str
    spec: str


@dataclass(frozen=True, slots=True)
class Paired:
    """Who meets whom at a table of a round; `second` None is a bye. `meeting` counts from 0 how often they met before;
    `league` is the group they meet in, empty where the format has none."""

    round: int
    table: int
    first: str
    second: str | None
    meeting: int
    league: str


@dataclass(frozen=True, slots=True)
class Issued:
    """A game to be played now, as the current attempt."""

    match: Scheduled
    attempt: int


@dataclass(frozen=True, slots=True)
class Seat:
    """What one seat did: the word for which it lost, if it was at fault, its answers, and the time charged to it."""

    fault: str | None
    replies: int
    charged_ms: float


@dataclass(frozen=True, slots=True)
class Ended:
    """How an attempt ended, with the digest of its record, which is on disk by then."""

    verdict: str
    winner: int | None
    outcome: str
    """The field's own result line, by whose words some contests score."""
    reason: str
    record: str
    seconds: float
    seats: tuple["Seat", "Seat"]


class Brief(NamedTuple):
    """A result as tables need it: of which game, who won, who failed and what was used; without spec and record.

    A plain tuple in the order of the columns, for there may be a hundred thousand.
    """

    round: int
    table: int
    game: int
    first: str
    second: str
    winner: int | None
    verdict: str
    outcome: str
    fault_0: str | None
    fault_1: str | None
    replies_0: int
    replies_1: int
    charged_ms_0: float
    charged_ms_1: float


@dataclass(frozen=True, slots=True)
class Attempt:
    """One time that a match was played; `record` is the digest of its record, if it has one."""

    match: str
    number: int
    state: AttemptState
    why: str
    record: str | None


@dataclass(frozen=True, slots=True)
class Result:
    """The one result of a match."""

    match: Scheduled
    attempt: int
    ended: Ended

    @property
    def brief(self) -> Brief:
        """What tables need of it."""
        match, ended = self.match, self.ended
        first, second = ended.seats
        return Brief(
            round=match.round,
            table=match.table,
            game=match.game,
            first=match.first,
            second=match.second,
            winner=ended.winner,
            verdict=ended.verdict,
            outcome=ended.outcome,
            fault_0=first.fault,
            fault_1=second.fault,
            replies_0=first.replies,
            replies_1=second.replies,
            charged_ms_0=first.charged_ms,
            charged_ms_1=second.charged_ms,
        )


@dataclass(frozen=True, slots=True)
class JournalLine:
    """A line of the contest's log."""

    at: str
    event: str
    match: str | None
    attempt: int | None
    text: str
