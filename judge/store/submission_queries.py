"""Queries of the register of submissions: of one contest, newest first, and of one author if one is named."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, func, select

from judge.matches import Match, ResultRow, result_row
from judge.store.connection import connect
from judge.store.queries import RESULT_COLUMNS, attempt_of
from judge.store.submission_types import ENTERS, Change, State, Submission, UnknownSubmissionError, UploadStep
from judge.store.tables import (
    attempts,
    contests,
    entries,
    matches,
    results,
    submission_journal,
    submission_steps,
    submissions,
)
from judge.store.types import ANNOUNCED, Attempt

_WITHOUT_SPEC = [column for column in matches.c if column.name != "spec"]


@dataclass(frozen=True, slots=True)
class OwnMatch:
    """A match of an author's agents, which sit at `seats`; `others` are its attempts that have a record and do not
    count."""

    match: Match
    seats: Sequence[int]
    result: ResultRow | None
    others: Sequence[Attempt]


class RegisterReader:
    """What can be asked of the submissions of one contest."""

    def __init__(self, url: str, contest: str, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Connect and migrate; InputError or HostError as `connect`."""
        self._engine: Engine = connect(url)
        self._connection: Connection | None = None
        self._contest = contest
        self._now = now

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def get(self, number: int, author: str | None = None) -> Submission:
        """One submission. Raises UnknownSubmissionError if it does not exist, or is not of `author`."""
        with self._engine.connect() as connection:
            return submission_of(self._row(connection, number, author))

    def submissions(
        self, author: str | None = None, before: int | None = None, limit: int | None = None
    ) -> list[Submission]:
        """Submissions, newest first: of an author, numbers below `before`, at most `limit`."""
        query = self._all() if author is None else self._of(author)
        if before is not None:
            query = query.where(submissions.c.id < before)
        with self._engine.connect() as connection:
            rows = connection.execute(query.order_by(submissions.c.id.desc()).limit(limit))
            return [submission_of(row) for row in rows]

    def entries(self) -> list[Submission]:
        """Who would play if the contest began now: of every agent the latest that passed or was approved, by name."""
        latest: dict[tuple[str, str], Submission] = {}
        with self._engine.connect() as connection:
            query = self._all().where(submissions.c.state.in_(ENTERS)).order_by(submissions.c.id)
            for row in connection.execute(query):
                latest[(row.author, row.name.lower())] = submission_of(row)
        return sorted(latest.values(), key=lambda entry: entry.name.lower())

    def counts(self) -> Mapping[State, int]:
        """The number of submissions in each state."""
        query = select(submissions.c.state, func.count()).where(submissions.c.contest == self._contest)
        with self._engine.connect() as connection:
            found = {State(state): count for state, count in connection.execute(query.group_by(submissions.c.state))}
        return {state: found.get(state, 0) for state in State}

    def steps(self, number: int) -> list[UploadStep]:
        """The steps of all attempts, in order."""
        query = (
            select(submission_steps)
            .where(submission_steps.c.submission == number)
            .order_by(submission_steps.c.attempt, submission_steps.c.number)
        )
        with self._engine.connect() as connection:
            return [
                UploadStep(row.stage, row.ok, row.text, row.seconds, row.attempt) for row in connection.execute(query)
            ]

    def journal(self, number: int) -> list[Change]:
        """The history of a submission: actor, time, reason; oldest first."""
        query = (
            select(submission_journal)
            .where(submission_journal.c.submission == number)
            .order_by(submission_journal.c.id)
        )
        with self._engine.connect() as connection:
            return [Change(row.at, row.who, State(row.state), row.why) for row in connection.execute(query)]

    def has_begun(self) -> bool:
        """Whether the contest's entries are frozen: what comes in now plays in no game of it."""
        with self._engine.connect() as connection:
            query = select(contests.c.name).where(contests.c.name == self._contest, contests.c.state != ANNOUNCED)
            return connection.scalar(query) is not None

    def document(self) -> str | None:
        """The document of the contest; None if it has not begun."""
        query = select(contests.c.document).where(contests.c.name == self._contest, contests.c.state != ANNOUNCED)
        with self._engine.connect() as connection:
            return connection.scalar(query)

    def own_matches(self, author: str, limit: int, number: int | None = None) -> list[OwnMatch]:
        """The matches of an author's agents that have a result or a record of an attempt, the last one first; only the
        one with this `number` of the schedule, if it is given. The specs are left out."""
        with self._engine.connect() as connection:
            agents = [agent for agent, whose in authors_of(connection, self._contest).items() if whose == author]
            recorded = select(attempts.c.match).where(attempts.c.match == matches.c.id, attempts.c.record.is_not(None))
            query = select(*_WITHOUT_SPEC).where(
                matches.c.contest == self._contest,
                matches.c.first.in_(agents) | matches.c.second.in_(agents),
                recorded.exists(),
            )
            if number is not None:
                query = query.where(matches.c.number == number)
            rows = connection.execute(query.order_by(matches.c.number.desc()).limit(limit)).all()
            numbers = [row.number for row in rows]
            found = {
                result.match: result
                for result in map(result_row, connection.execute(_results(self._contest, numbers)).all())
            }
            tried = select(attempts).where(
                attempts.c.match.in_([row.id for row in rows]), attempts.c.record.is_not(None)
            )
            kept: dict[str, list[Attempt]] = {}
            for row in connection.execute(tried.order_by(attempts.c.number)):
                kept.setdefault(row.match, []).append(attempt_of(row))
        return [_own_match(row, agents, found.get(row.id), kept.get(row.id, [])) for row in rows]

    def _all(self) -> Select[Any]:
        return select(submissions).where(submissions.c.contest == self._contest)

    def _of(self, author: str) -> Select[Any]:
        return self._all().where(submissions.c.author == author)

    def _row(self, connection: Connection, number: int, author: str | None = None) -> Row[Any]:
        query = self._all() if author is None else self._of(author)
        # A number that no column can hold is no number of ours.
        row = connection.execute(query.where(submissions.c.id == number)).first() if 0 < number < 1 << 63 else None
        if row is None:
            raise UnknownSubmissionError(f"there is no submission {number} in {self._contest!r}")
        return row

    def _stamp(self) -> str:
        return stamp(self._now())


def authors_of(connection: Connection, contest: str) -> Mapping[str, str]:
    """The author of each agent of a contest that was submitted, by the agent's name in the contest."""
    numbers: dict[int, str] = {}
    for row in connection.execute(select(entries.c.name, entries.c.entry).where(entries.c.contest == contest)):
        number = json.loads(row.entry).get("submission")
        if number is not None:
            numbers[number] = row.name
    query = select(submissions.c.id, submissions.c.author).where(submissions.c.contest == contest)
    return {numbers[row.id]: row.author for row in connection.execute(query) if row.id in numbers}


def _results(contest: str, numbers: Sequence[int]) -> Select[Any]:
    chosen = (matches.c.contest == contest, matches.c.number.in_(numbers))
    return select(*RESULT_COLUMNS).join(results, results.c.match == matches.c.id).where(*chosen)


def _own_match(row: Row[Any], agents: Sequence[str], result: ResultRow | None, tried: Sequence[Attempt]) -> OwnMatch:
    match = Match(
        row.id, row.number, row.round, row.table, row.game, row.first, row.second, "", row.state, row.attempt, row.why
    )
    seats = tuple(seat for seat, agent in enumerate((row.first, row.second)) if agent in agents)
    counted = None if result is None else result.attempt
    return OwnMatch(match, seats, result, tuple(attempt for attempt in tried if attempt.number != counted))


def stamp(time: datetime) -> str:
    """A time as the tables have it: such texts are in the order of their times."""
    return time.isoformat(timespec="milliseconds")


def submission_of(row: Row[Any]) -> Submission:
    """A row as a value."""
    return Submission(
        row.id,
        row.author,
        row.name,
        row.version,
        row.filename,
        row.upload,
        row.size,
        row.received_at,
        State(row.state),
        row.why,
        row.attempt,
        row.due_at,
        row.digest,
        row.agent,
        row.log,
        row.report,
    )
