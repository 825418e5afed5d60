"""Verifies times: lines of the log in order, records between the start and the end of their attempts."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from judge.contest_view.view import ContestView
from judge.journal.events import (
    Abandoned,
    Accepted,
    Created,
    LockedIn,
    Started,
    StartTimeReached,
    SubmissionsClosed,
    SubmissionsOpened,
    Superseded,
    Voided,
)
from judge.journal.state import JournalLine
from judge.publish.verify.records import VerifiedRecord
from judge.store.types import MAX_CLOCK_STEP

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\+00:00")
_UTC = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3}([0-9]{3})?)?\+00:00")
_AT_A_MOMENT = (SubmissionsOpened, SubmissionsClosed, StartTimeReached)


def time_of(line: JournalLine) -> datetime | None:
    """None if the line has no valid time."""
    try:
        return datetime.fromisoformat(line.at) if _TIME.fullmatch(line.at) else None
    except ValueError:
        return None


def time_problems(
    contest: ContestView, lines: Sequence[JournalLine], records: Sequence[VerifiedRecord]
) -> Iterator[str]:
    """Times that contradict the order of the log. A clock may be wrong by `MAX_CLOCK_STEP`."""
    before: datetime | None = None
    for number, line in enumerate(lines):
        time = time_of(line)
        if time is None:
            yield f"leaf {number} of the log, {line.event}: {line.at!r:.40} is not a time"
            continue
        if before is not None and time < before:
            yield f"leaf {number} of the log, {line.event}: {line.at} is before the time of the line before it"
        if isinstance(line.change, _AT_A_MOMENT) and line.change.at.time > time + MAX_CLOCK_STEP:
            yield f"leaf {number} of the log, {line.event}: {line.text!r:.80} is not a moment that had passed"
        before = time
    yield from _snapshot_problems(contest, lines)
    yield from _record_problems(contest, lines, records)


def _snapshot_problems(contest: ContestView, lines: Sequence[JournalLine]) -> Iterator[str]:
    """A snapshot is taken after the announcement, before the entries are locked in; without it, before the creation."""
    last = next((line for line in lines if isinstance(line.change, LockedIn | Created)), None)
    if last is None:
        return
    taken, is_announced = contest.snapshot.frozen_at, isinstance(last.change, LockedIn) and last.at != lines[0].at
    if not _is_between(taken, 0.0, time_of(lines[0]) if is_announced else None, time_of(last)):
        yield f"frozen_at {taken!r:.40} is not between the announcement and the lock-in in the log"


def _earliest(lines: Sequence[JournalLine]) -> Iterator[datetime | None]:
    """The time before each line. Lines of equal times may be those of a clock that was set back."""
    before: datetime | None = None
    last: datetime | None = None
    for line in lines:
        time = time_of(line)
        if time != last:
            before, last = last, time
            yield time
        else:
            yield before


def _record_problems(
    contest: ContestView, lines: Sequence[JournalLine], records: Sequence[VerifiedRecord]
) -> Iterator[str]:
    begins: dict[tuple[str, int], datetime | None] = {}
    ends: dict[tuple[str, int], datetime | None] = {}
    for line, earliest in zip(lines, _earliest(lines), strict=True):
        attempt = line.game or "", line.attempt or 0
        if isinstance(line.change, Started):
            begins.setdefault(attempt, earliest)
        elif isinstance(line.change, Accepted | Voided | Abandoned | Superseded):
            ends.setdefault(attempt, time_of(line))
    ids = {game.number: game.id for game in contest.games}
    for record in records:
        attempt = ids[record.number], record.attempt
        if not record.started_at or attempt not in begins or attempt not in ends:
            continue
        if not _is_between(record.started_at, record.seconds, begins[attempt], ends[attempt]):
            yield (
                f"{record.name}: started_at {record.started_at:.40} and {record.seconds:.0f} s are not between the "
                "start and the end of the attempt in the log"
            )


def _is_between(text: str, seconds: float, begin: datetime | None, end: datetime | None) -> bool:
    if not _UTC.fullmatch(text):
        return False
    try:
        time = datetime.fromisoformat(text)
        last = time + timedelta(seconds=seconds)
        is_after = begin is None or time >= begin - MAX_CLOCK_STEP
        return is_after and (end is None or last <= end + MAX_CLOCK_STEP)
    except (ValueError, OverflowError, TypeError):
        return False
