"""What goes into the store and what comes out of it: plain values."""

from dataclasses import dataclass
from enum import StrEnum


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
    """An agent that takes part, and its rank before play; `entry` is JSON that names its files by digest."""

    name: str
    rank: int
    entry: str
    disqualified: str | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One time that a match was played; `record` is the digest of its record, if it has one."""

    match: str
    number: int
    state: AttemptState
    why: str
    record: str | None


@dataclass(frozen=True, slots=True)
class JournalLine:
    """A line of the contest's log."""

    at: str
    event: str
    match: str | None
    attempt: int | None
    text: str
