"""Queries of the register of submissions: of one contest, newest first, and of one author if one is named."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, func, select

from judge.store.connection import connect
from judge.store.submission_types import ENTERS, Change, State, Submission, ToldStep, UnknownSubmissionError
from judge.store.tables import contests, submission_journal, submission_steps, submissions
from judge.store.types import ANNOUNCED


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

    def steps(self, number: int) -> list[ToldStep]:
        """The steps of all attempts, in order."""
        query = (
            select(submission_steps)
            .where(submission_steps.c.submission == number)
            .order_by(submission_steps.c.attempt, submission_steps.c.number)
        )
        with self._engine.connect() as connection:
            return [
                ToldStep(row.attempt, row.stage, row.ok, row.text, row.seconds) for row in connection.execute(query)
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
