"""The register of submissions: what came in from whom, how far it got, and what may play; no row is ever removed.

A submission is taken up by a worker as an attempt; only the current attempt can tell steps and come to an end, so that
a worker that was given up changes nothing when it comes back. Every change of a state stands in the journal with who,
when and why. Every method is one transaction, and what it says has happened is on disk.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, Select, func, insert, or_, select, update

from judge.store.advisory_locks import AdvisoryLock, lock_until_commit
from judge.store.files import Files
from judge.store.journal import tell
from judge.store.orders import DoneOrder, OrganiserOrder, once
from judge.store.practice_games import add_practice_games
from judge.store.queries import announced_row
from judge.store.submission_queries import RegisterReader, stamp, submission_of
from judge.store.submission_types import (
    ENTERS,
    Allowance,
    NameTakenError,
    NotNowError,
    ProcessingResult,
    State,
    Submission,
    TooMuchError,
    Upload,
    UploadStep,
)
from judge.store.tables import submission_journal, submission_steps, submissions

JUDGE = "judge"
"""Who made a change that nobody asked for."""

_HOUR = timedelta(hours=1)
_LOGGED = (State.PASSED, State.REFUSED, State.APPROVED, State.WITHDRAWN, State.FAILED)
"""What becomes of a submission, in public; also that its check failed because of the host, and not of the author."""
_UNDERWAY = (State.RECEIVED, State.PROCESSING)


class Register(RegisterReader):
    """The submissions of one contest in a database. Safe to use from several processes at once."""

    # --- what comes in -----------------------------------------------------------------------------------------------

    def may_receive(self, author: str, name: str, size: int, allowance: Allowance) -> None:
        """Check whether an upload would be received now, before its bytes are stored. Raises as `receive`."""
        with self._engine.connect() as connection:
            self._check_allowance(connection, author, size, allowance)
            self._check_name(connection, author, name)

    def receive(
        self,
        upload: Upload,
        allowance: Allowance = Allowance(),  # noqa: B008 - a frozen value
        worker: str = "",
        keep: Callable[[], object] = lambda: None,
    ) -> Submission:
        """Receive an upload. Raises TooMuchError or NameTakenError, and then nothing has changed.

        `worker` processes it as its first attempt; empty: the next worker that takes it. `keep` moves the file to its
        place. It is called inside the transaction, after all checks, so no refused upload takes room on the disk.
        """
        with self._writing() as connection:
            self._check_allowance(connection, upload.author, upload.size, allowance)
            self._check_name(connection, upload.author, upload.name)
            number = connection.execute(
                insert(submissions)
                .values(
                    contest=self._contest,
                    author=upload.author,
                    name=upload.name,
                    filename=upload.filename,
                    upload=upload.upload,
                    size=upload.size,
                    received_at=self._stamp(),
                    state=State.RECEIVED,
                    why="",
                    attempt=0,
                    failures=0,
                    worker="",
                )
                .returning(submissions.c.id)
            ).scalar_one()
            self._tell(connection, number, upload.author, State.RECEIVED, "")
            self._log(connection, State.RECEIVED, f"submission {number}", upload.upload)
            row = self._row(connection, number)
            received = self._taken(connection, row, worker) if worker else submission_of(row)
            keep()
            return received

    def remove_unregistered(self, files: Files, older_than: datetime) -> int:
        """Remove the files that no submission names and that were written before `older_than`; how many.

        A process that is killed between `keep` and the end of its transaction leaves such a file. No upload is
        registered while this runs. Raises OSError.
        """
        with self._writing() as connection:
            columns = (submissions.c.upload, submissions.c.log, submissions.c.report)
            named = {digest for row in connection.execute(select(*columns)) for digest in row}
            unnamed = (files.path(digest) for digest in files.digests() if digest not in named)
            old = [path for path in unnamed if path.stat().st_mtime < older_than.timestamp()]
            for path in old:
                path.unlink()
            return len(old)

    def _check_allowance(self, connection: Connection, author: str, size: int, allowance: Allowance) -> None:
        mine = self._of(author)
        if allowance.uploads_per_hour:
            since = stamp(self._now() - _HOUR)
            recent = _count(connection, mine.where(submissions.c.received_at > since))
            if recent >= allowance.uploads_per_hour:
                raise TooMuchError(
                    f"{recent} uploads in the last hour, and no more are taken: come back later",
                    int(_HOUR.total_seconds()) // allowance.uploads_per_hour,
                )
        is_retried = (submissions.c.state == State.FAILED) & submissions.c.due_at.is_not(None)
        underway = or_(submissions.c.state.in_(_UNDERWAY), is_retried)
        if allowance.waiting and _count(connection, mine.where(underway)) >= allowance.waiting:
            raise TooMuchError(
                f"{allowance.waiting} of your submissions wait already: see what comes of them first", 60
            )
        everybody = self._all().where(underway)
        if allowance.waiting_of_all and _count(connection, everybody) >= allowance.waiting_of_all:
            raise TooMuchError("too many submissions wait already: come back later", 300)
        kept = connection.scalar(
            select(func.coalesce(func.sum(submissions.c.size), 0)).where(
                submissions.c.contest == self._contest, submissions.c.author == author
            )
        )
        if allowance.bytes_kept and int(kept or 0) + size > allowance.bytes_kept:
            raise TooMuchError(
                f"your uploads together would be more than {allowance.bytes_kept} bytes: ask the organiser", 0
            )

    def _check_name(self, connection: Connection, author: str, name: str) -> None:
        if self._is_anothers(connection, author, name):
            raise NameTakenError(f"an agent of another author is called {name!r} already: choose another name")

    def _is_anothers(self, connection: Connection, author: str, name: str) -> bool:
        """A name, in upper or lower case, belongs to the author whose agent of that name passed first."""
        query = self._all().where(
            func.lower(submissions.c.name) == name.lower(),
            submissions.c.author != author,
            submissions.c.state.in_(ENTERS),
        )
        return bool(name) and _count(connection, query) > 0

    # --- processing --------------------------------------------------------------------------------------------------

    def take(self, worker: str, only: int | None = None) -> Submission | None:
        """Give a worker the next submission that is due, as a new attempt; None if there is none.

        Authors take turns: the next one is the author whose last attempt began longest ago. The submissions of an
        author are processed in their order and one at a time. `only` names the submission to take, in any order.
        """
        with self._writing() as connection:
            is_due = submissions.c.due_at <= self._stamp()
            due = or_(
                (submissions.c.state == State.RECEIVED) & (submissions.c.due_at.is_(None) | is_due),
                (submissions.c.state == State.FAILED) & is_due,
            )
            query = self._all().where(due).order_by(submissions.c.id)
            if only is not None:
                query = query.where(submissions.c.id == only)
            rows = connection.execute(query).all()
            if only is None and rows:
                busy, begun = self._busy_authors(connection), self._last_begun(connection)
                rows = sorted((row for row in rows if row.author not in busy), key=lambda row: begun.get(row.author, 0))
            return self._taken(connection, rows[0], worker) if rows else None

    def _taken(self, connection: Connection, row: Row[Any], worker: str) -> Submission:
        values = {"attempt": row.attempt + 1, "worker": worker, "due_at": None}
        self._change(connection, row, JUDGE, State.PROCESSING, "", **values)
        return submission_of(self._row(connection, row.id))

    def _busy_authors(self, connection: Connection) -> set[str]:
        processing = self._all().where(submissions.c.state == State.PROCESSING)
        return {row.author for row in connection.execute(processing)}

    def _last_begun(self, connection: Connection) -> dict[str, int]:
        """For each author the journal line at which the last attempt began."""
        query = (
            select(submissions.c.author, func.max(submission_journal.c.id))
            .join(submission_journal, submission_journal.c.submission == submissions.c.id)
            .where(submissions.c.contest == self._contest, submission_journal.c.state == State.PROCESSING)
            .group_by(submissions.c.author)
        )
        return {row[0]: row[1] for row in connection.execute(query)}

    def step(self, number: int, step: UploadStep) -> None:
        """Keep a step of the current attempt; one of another attempt is left out."""
        with self._writing() as connection:
            row = self._row(connection, number)
            if row.state != State.PROCESSING or row.attempt != step.attempt:
                return
            told = connection.scalar(
                select(func.count())
                .select_from(submission_steps)
                .where(submission_steps.c.submission == number, submission_steps.c.attempt == step.attempt)
            )
            connection.execute(
                insert(submission_steps).values(
                    submission=number,
                    attempt=step.attempt,
                    number=told,
                    stage=step.stage,
                    ok=step.ok,
                    text=step.text,
                    seconds=step.seconds,
                )
            )

    def finish(self, number: int, attempt: int, came: ProcessingResult, practice: int = 0) -> Submission:
        """Record that a submission passed, as the next version of its name, or was refused. Changes nothing if the
        attempt is not current. What passed plays so many `practice` games."""
        with self._writing() as connection:
            row = self._row(connection, number)
            if row.state != State.PROCESSING or row.attempt != attempt:
                return submission_of(row)
            refusal = came.refusal
            if not refusal and self._is_anothers(connection, row.author, came.name):
                refusal = f"an agent of another author is called {came.name!r} already: choose another name"
            self._change(
                connection,
                row,
                JUDGE,
                State.REFUSED if refusal else State.PASSED,
                refusal or self._replaces(connection, row, came.name),
                name=came.name or row.name,
                version=self._next_version(connection, row, came.name or row.name),
                failures=0,
                digest=came.digest,
                agent=came.agent,
                log=came.log,
                report=came.report,
            )
            finished = self._row(connection, number)
            if not refusal:
                add_practice_games(connection, finished, practice, self._stamp(), by_author=False)
            return submission_of(finished)

    def _replaces(self, connection: Connection, row: Row[Any], name: str) -> str:
        """A note about an agent that replaces an earlier one; empty if it is the first of its name."""
        query = self._of(row.author).where(
            func.lower(submissions.c.name) == name.lower(), submissions.c.id != row.id, submissions.c.state.in_(ENTERS)
        )
        former = connection.execute(query.order_by(submissions.c.id.desc()).limit(1)).first()
        if former is None or former.id > row.id:
            return ""
        return (
            f"it replaces version {former.version} of {name}, which came as {former.filename}; "
            "where both shall play, send one of them with a name of its own (--name)"
        )

    def _next_version(self, connection: Connection, row: Row[Any], name: str) -> int | None:
        if not name or (row.version and row.name == name):
            # Processed before: it is what it was.
            return int(row.version) if row.version else None
        query = select(func.max(submissions.c.version)).where(
            submissions.c.contest == self._contest,
            submissions.c.author == row.author,
            func.lower(submissions.c.name) == name.lower(),
        )
        return (connection.scalar(query) or 0) + 1

    def fail(self, number: int, attempt: int, why: str, allowed: int, again_s: float) -> Submission:
        """The host failed: due again in `again_s` seconds, then twice as long, at most `allowed` times in a row."""
        with self._writing() as connection:
            row = self._row(connection, number)
            if row.state == State.PROCESSING and row.attempt == attempt:
                self._fail(connection, row, why, allowed, again_s)
            return submission_of(self._row(connection, number))

    def _fail(self, connection: Connection, row: Row[Any], why: str, allowed: int, again_s: float) -> None:
        failures = row.failures + 1
        due = self._now() + timedelta(seconds=again_s * 2**row.failures)
        self._change(
            connection,
            row,
            JUDGE,
            State.FAILED,
            why,
            failures=failures,
            due_at=stamp(due) if failures < allowed else None,
        )

    def release(self, number: int, attempt: int, why: str) -> Submission:
        """Whoever processes it was asked to end: it is due again, and nothing counts as a failure."""
        with self._writing() as connection:
            row = self._row(connection, number)
            if row.state == State.PROCESSING and row.attempt == attempt:
                self._change(connection, row, JUDGE, State.RECEIVED, why)
            return submission_of(self._row(connection, number))

    def postpone(self, number: int, attempt: int, why: str, again_s: float) -> Submission:
        """The host lacks something: it waits as it was received, due again in `again_s` seconds, without end."""
        with self._writing() as connection:
            row = self._row(connection, number)
            if row.state == State.PROCESSING and row.attempt == attempt:
                due = stamp(self._now() + timedelta(seconds=again_s))
                self._change(connection, row, JUDGE, State.RECEIVED, why, due_at=due)
            return submission_of(self._row(connection, number))

    def give_back(self, is_lost: Callable[[int, int, str], bool], allowed: int) -> list[int]:
        """What nobody processes any more, as `is_lost` tells of a number, its attempt and its worker, is due again at
        once: the numbers.

        One that takes its worker along `allowed` times in a row is left to the organiser.
        """
        with self._writing() as connection:
            processing = self._all().where(submissions.c.state == State.PROCESSING)
            lost = [row for row in connection.execute(processing) if is_lost(row.id, row.attempt, row.worker)]
            for row in lost:
                self._fail(connection, row, "the judge that processed it was gone", allowed, 0)
            return [row.id for row in lost]

    # --- what people decide ------------------------------------------------------------------------------------------

    def carry_out(self, order: OrganiserOrder, do: Callable[["Register"], str]) -> DoneOrder:
        """Carry out an order once: see `judge.store.orders`. `do` is given this register inside the transaction, uses
        it alone, and returns what was done. Raises what it raises, and then nothing has changed."""
        with self._writing() as connection:
            # Its journal is locked before lines are added to it.
            announced_row(connection, self._contest, locked=True)
            inner = copy(self)
            inner._connection = connection
            return once(connection, self._contest, order, lambda: do(inner))

    def withdraw(self, number: int, who: str, why: str, author: str | None = None) -> Submission:
        """It will not be an entry; what is being processed comes to nothing. Twice is once.

        `author`: only if it is that author's, else UnknownSubmissionError.
        """
        with self._writing() as connection:
            row = self._row(connection, number, author)
            if row.state != State.WITHDRAWN:
                self._change(connection, row, who, State.WITHDRAWN, why, due_at=None)
            return submission_of(self._row(connection, number))

    def approve(self, number: int, who: str, why: str) -> Submission:
        """The organiser overrules the gate; NotNowError unless an agent was built and refused."""
        with self._writing() as connection:
            row = self._row(connection, number)
            if row.state != State.REFUSED:
                raise NotNowError(f"submission {number} is {row.state}: only a refused one is approved")
            if row.agent is None:
                raise NotNowError(f"submission {number} came to no agent that could play: {row.why}")
            self._check_name(connection, row.author, row.name)
            self._change(connection, row, who, State.APPROVED, why)
            return submission_of(self._row(connection, number))

    def refuse(self, number: int, who: str, why: str) -> Submission:
        """The organiser refuses one that would play; NotNowError for any other. Its author sees the reason."""
        with self._writing() as connection:
            row = self._row(connection, number)
            if row.state not in ENTERS:
                raise NotNowError(f"submission {number} is {row.state}: only one that would play is refused")
            self._change(connection, row, who, State.REFUSED, why)
            return submission_of(self._row(connection, number))

    def retry(self, number: int, who: str, why: str) -> Submission:
        """Process a failed or refused one again, with nothing held against it; NotNowError for any other."""
        with self._writing() as connection:
            row = self._row(connection, number)
            if row.state not in (State.FAILED, State.REFUSED, State.RECEIVED):
                raise NotNowError(f"submission {number} is {row.state}: only a failed or refused one is tried again")
            self._change(connection, row, who, State.RECEIVED, why, failures=0, due_at=None)
            return submission_of(self._row(connection, number))

    # --- rows ---------------------------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """One transaction: that of the order which is carried out, if there is one."""
        if self._connection is not None:
            yield self._connection
            return
        with self._engine.begin() as connection:
            # What is counted stays true until what follows from it is written. SQLite has one writer anyway.
            lock_until_commit(connection, AdvisoryLock.REGISTER, self._contest)
            yield connection

    def _change(self, connection: Connection, row: Row[Any], who: str, state: State, why: str, **values: Any) -> None:
        connection.execute(update(submissions).where(submissions.c.id == row.id).values(state=state, why=why, **values))
        self._tell(connection, row.id, who, state, why)
        if state in _LOGGED:
            changed = self._row(connection, row.id)
            named = f": {changed.name}" if changed.name else ""
            self._log(connection, state, f"submission {row.id}{named}", changed.digest)

    def _log(self, connection: Connection, state: State, text: str, digest: str | None) -> None:
        """Add a leaf to the contest's log, if it has one. Neither authors nor reasons are public."""
        if announced_row(connection, self._contest, locked=True) is not None:
            tell(connection, self._contest, state, text, digest=digest)

    def _tell(self, connection: Connection, number: int, who: str, state: State, why: str) -> None:
        connection.execute(
            insert(submission_journal).values(submission=number, at=self._stamp(), who=who, state=state, why=why)
        )


def _count(connection: Connection, query: Select[Any]) -> int:
    return connection.scalar(select(func.count()).select_from(query.subquery())) or 0
