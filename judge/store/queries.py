"""The queries of a store. Reading changes nothing, and each answer is of one moment."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, func, select

from judge.base.errors import InputError
from judge.matches import Match, MatchState, Pairing, ResultRow, result_row
from judge.store.connection import connect, read_one_moment, store_lost
from judge.store.tables import attempts, contests, entries, files, journal, matches, pairings, results
from judge.store.types import (
    ANNOUNCED,
    Attempt,
    AttemptState,
    EntryRow,
    FileKind,
    JournalLine,
    ListedMatch,
    RunningMatch,
    ScheduleRow,
)

RESULT_COLUMNS = (
    *(matches.c.first, matches.c.second),
    *(results.c[name] for name in ("winner", "verdict", "reason", "result", "fault_0", "fault_1")),
    *(results.c[name] for name in ("replies_0", "replies_1", "charged_ms_0", "charged_ms_1")),
    *(matches.c[name] for name in ("round", "table", "game", "id", "number")),
    *(results.c[name] for name in ("attempt", "record", "seconds")),
)
"""The columns that `result_row` takes."""


class Reader:
    """One database, to be read. Safe to use from several processes at once."""

    def __init__(self, url: str) -> None:
        """Connect and migrate; InputError or HostError as `connect`."""
        self._engine: Engine = connect(url)
        self._connection: Connection | None = None

    @contextmanager
    def moment(self) -> Iterator["Reader"]:
        """A reader whose answers are all of this moment, while others write."""
        with self._engine.connect() as connection:
            reader = copy(self)
            reader._connection = read_one_moment(connection)
            yield reader

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        if self._connection is not None:
            yield self._connection
            return
        with store_lost("contests"), self._engine.connect() as connection:
            yield connection

    def close(self) -> None:
        """Close the connections to the database."""
        self._engine.dispose()

    @property
    def keeps_files(self) -> bool:
        """Whether the database is on another disk than the contest's folder, and so has copies of its files."""
        return self._engine.dialect.name == "postgresql"

    def kept_files(self, contest: str) -> list[tuple[FileKind, str]]:
        """The kinds and digests of a contest's files that the database has copies of."""
        with self._connected() as connection:
            rows = connection.execute(select(files.c.kind, files.c.digest).where(files.c.contest == contest))
            return [(FileKind(row.kind), row.digest) for row in rows]

    def kept_file(self, contest: str, kind: FileKind, digest: str) -> bytes:
        """A copy that the database has, as it was kept; whoever takes it compares its digest."""
        which = (files.c.contest == contest, files.c.kind == kind, files.c.digest == digest)
        with self._connected() as connection:
            return bytes(connection.execute(select(files.c.data).where(*which)).scalar_one())

    def contest_names(self) -> list[str]:
        """The contests of this store that have begun, oldest first."""
        with self._connected() as connection:
            begun = select(contests.c.name).where(contests.c.state != ANNOUNCED)
            rows = connection.execute(begun.order_by(contests.c.created_at))
            return [name for (name,) in rows]

    def document(self, contest: str) -> str:
        """The document that the contest was created with; InputError if there is no contest of that name."""
        with self._connected() as connection:
            return str(contest_row(connection, contest).document)

    def secret(self, contest: str) -> str | None:
        """The secret of the contest's chance, not to be shown before it is over; None if its plan has a seed."""
        with self._connected() as connection:
            found: str | None = contest_row(connection, contest).secret
            return found

    def state(self, contest: str) -> str:
        """`announced`, `open`, `paused` or `stopped`."""
        with self._connected() as connection:
            return str(contest_row(connection, contest).state)

    def entries(self, contest: str) -> list[EntryRow]:
        """The agents that take part, by rank."""
        with self._connected() as connection:
            rows = connection.execute(select(entries).where(entries.c.contest == contest).order_by(entries.c.rank))
            return [EntryRow(row.name, row.rank, row.entry, row.disqualified) for row in rows]

    def pairings(self, contest: str) -> list[Pairing]:
        """The pairings so far, byes too, in the order of rounds and tables."""
        with self._connected() as connection:
            return [
                Pairing(row.first, row.second, row.round, row.table, row.meeting, row.group)
                for row in pairing_rows(connection, contest)
            ]

    def last_record(self, contest: str, agent: str, before: int) -> tuple[str, int] | None:
        """The record and the seat of an agent in its last match before number `before` that has a result."""
        query = (
            select(results.c.record, matches.c.first)
            .join(matches, results.c.match == matches.c.id)
            .where(
                matches.c.contest == contest,
                matches.c.number < before,
                (matches.c.first == agent) | (matches.c.second == agent),
            )
            .order_by(matches.c.number.desc())
            .limit(1)
        )
        with self._connected() as connection:
            row = connection.execute(query).first()
        return None if row is None else (row.record, int(row.first != agent))

    def results(self, contest: str) -> list[ResultRow]:
        """The results so far, in the order of the schedule; there may be a hundred thousand, so no spec is read."""
        query = (
            select(*RESULT_COLUMNS)
            .join(results, results.c.match == matches.c.id)
            .where(matches.c.contest == contest)
            .order_by(matches.c.number)
        )
        with self._connected() as connection:
            return [result_row(row) for row in connection.execute(query)]

    def matches(self, contest: str) -> list[Match]:
        """Every match of the schedule, in its order."""
        query = select(matches).where(matches.c.contest == contest).order_by(matches.c.number)
        with self._connected() as connection:
            return [match_of(row) for row in connection.execute(query)]

    def schedule_rows(self, contest: str) -> list[ScheduleRow]:
        """Every match of the schedule, in its order; there may be a hundred thousand, so no spec is read."""
        columns = [matches.c[name] for name in ScheduleRow._fields]
        query = select(*columns).where(matches.c.contest == contest).order_by(matches.c.number)
        with self._connected() as connection:
            return [ScheduleRow(*row) for row in connection.execute(query)]

    def attempt(self, match: str, number: int) -> Attempt | None:
        """An attempt of a match; None if there is none of that number."""
        query = select(attempts).where(attempts.c.match == match, attempts.c.number == number)
        with self._connected() as connection:
            row = connection.execute(query).first()
        return None if row is None else attempt_of(row)

    def attempts(self, contest: str) -> list[Attempt]:
        """Every attempt of every match, in the order of the schedule."""
        query = (
            select(attempts)
            .join(matches, attempts.c.match == matches.c.id)
            .where(matches.c.contest == contest)
            .order_by(matches.c.number, attempts.c.number)
        )
        with self._connected() as connection:
            return [attempt_of(row) for row in connection.execute(query)]

    def attempts_by_host(self, contest: str) -> list[tuple[str, AttemptState, int]]:
        """How many attempts each host has in each state."""
        query = (
            select(attempts.c.host, attempts.c.state, func.count())
            .join(matches, attempts.c.match == matches.c.id)
            .where(matches.c.contest == contest)
            .group_by(attempts.c.host, attempts.c.state)
        )
        with self._connected() as connection:
            return [(host, AttemptState(state), count) for host, state, count in connection.execute(query)]

    def running(self, contest: str) -> list[RunningMatch]:
        """The games that are being played, in the order of the schedule."""
        is_current = (attempts.c.match == matches.c.id) & (attempts.c.number == matches.c.attempt)
        query = (
            select(*(matches.c[name] for name in ("number", "first", "second", "attempt")))
            .add_columns(attempts.c.host, attempts.c.started_at, attempts.c.slot)
            .join(attempts, is_current)
            .where(matches.c.contest == contest, matches.c.state == MatchState.RUNNING)
            .order_by(matches.c.number)
        )
        with self._connected() as connection:
            return [RunningMatch(*row) for row in connection.execute(query)]

    def listed(
        self, contest: str, state: MatchState | None = None, after: int = 0, limit: int | None = None
    ) -> list[ListedMatch]:
        """Games with numbers above `after`, in the order of the schedule: of a state, at most `limit`."""
        query = select(*(matches.c[name] for name in ListedMatch._fields)).where(
            matches.c.contest == contest, matches.c.number > after
        )
        if state is not None:
            query = query.where(matches.c.state == state)
        with self._connected() as connection:
            rows = connection.execute(query.order_by(matches.c.number).limit(limit))
            return [ListedMatch(*row) for row in rows]

    def last_lines(self, contest: str, limit: int, *events: str) -> list[JournalLine]:
        """The last lines of the contest's log, newest first; only of these events, if any are named."""
        query = select(journal).where(journal.c.contest == contest)
        if events:
            query = query.where(journal.c.event.in_(events))
        with self._connected() as connection:
            return [_line_of(row) for row in connection.execute(query.order_by(journal.c.id.desc()).limit(limit))]

    def counts(self, contest: str) -> Mapping[MatchState, int]:
        """The number of matches in each state."""
        query = select(matches.c.state, func.count()).where(matches.c.contest == contest).group_by(matches.c.state)
        with self._connected() as connection:
            found = {MatchState(state): count for state, count in connection.execute(query)}
        return {state: found.get(state, 0) for state in MatchState}

    def attempt_counts(self, contest: str) -> Mapping[AttemptState, int]:
        """The number of attempts in each state, of all matches."""
        query = (
            select(attempts.c.state, func.count())
            .join(matches, attempts.c.match == matches.c.id)
            .where(matches.c.contest == contest)
            .group_by(attempts.c.state)
        )
        with self._connected() as connection:
            found = {AttemptState(state): count for state, count in connection.execute(query)}
        return {state: found.get(state, 0) for state in AttemptState}

    def journal(self, contest: str) -> list[JournalLine]:
        """The contest's log, oldest first."""
        return [line for _, line in self.journal_since(contest, 0)]

    def journal_before(self, contest: str, before: int | None, limit: int) -> list[tuple[int, JournalLine]]:
        """The last lines of the contest's log, newest first, each with its number; only those `before` a number, if one
        is given."""
        query = select(journal).where(journal.c.contest == contest)
        if before is not None:
            query = query.where(journal.c.id < before)
        with self._connected() as connection:
            rows = connection.execute(query.order_by(journal.c.id.desc()).limit(limit))
            return [(row.id, _line_of(row)) for row in rows]

    def journal_since(self, contest: str, number: int) -> list[tuple[int, JournalLine]]:
        """The lines of the contest's log after a number, each with its own, which grow but are not without gaps.

        On PostgreSQL a line of an older judge may be seen after one with a larger number.
        """
        return [(row.id, _line_of(row)) for row in self._lines(contest, journal.c.id > number)]

    def leaves(self, contest: str, start: int, end: int) -> list[JournalLine]:
        """The lines of the leaves of the contest's log from one number up to another, without it; of one that was
        announced too."""
        return [_line_of(row) for row in self._lines(contest, journal.c.number.between(start, end - 1))]

    def _lines(self, contest: str, which: ColumnElement[bool]) -> Sequence[Row[Any]]:
        query = select(journal).where(journal.c.contest == contest, which).order_by(journal.c.id)
        with self._connected() as connection:
            return connection.execute(query).all()


def _line_of(row: Row[Any]) -> JournalLine:
    return JournalLine(row.at, row.event, row.match, row.attempt, row.text, row.digest, row.number, row.who)


def contest_row(connection: Connection, name: str, *, locked: bool = False) -> Row[Any]:
    """The row of a contest that has begun; InputError if there is none. If `locked`, it is locked until the transaction
    ends."""
    row = announced_row(connection, name, locked=locked)
    if row is None or row.state == ANNOUNCED:
        raise InputError(f"there is no contest {name!r} in this store")
    return row


def announced_row(connection: Connection, name: str, *, locked: bool = False) -> Row[Any] | None:
    """The row of a contest that has begun or was announced; None if there is none.

    Every transaction that writes to a contest locks its row first, so that no two hosts get the same match and the
    leaves of its log are in one order. SQLite has one writer anyway.
    """
    query: Select[Any] = select(contests).where(contests.c.name == name)
    return connection.execute(query.with_for_update() if locked else query).first()


def pairing_rows(connection: Connection, contest: str) -> Sequence[Row[Any]]:
    """By round and table."""
    return connection.execute(
        select(pairings).where(pairings.c.contest == contest).order_by(pairings.c.round, pairings.c.table)
    ).all()


def attempt_of(row: Row[Any]) -> Attempt:
    """The attempt of a row."""
    return Attempt(row.match, row.number, AttemptState(row.state), row.why, row.record)


def match_of(row: Row[Any]) -> Match:
    """The match of a row."""
    return Match(
        id=row.id,
        number=row.number,
        round=row.round,
        table=row.table,
        game=row.game,
        first=row.first,
        second=row.second,
        spec=row.spec,
        state=MatchState(row.state),
        attempt=row.attempt,
        why=row.why,
    )
