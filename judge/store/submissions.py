"""The register of submissions, and which names are taken. No row is deleted.

Submissions are a queue (`judge.store.queue`). Each method is one transaction, durable when it returns.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from itertools import chain
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, Row, func, insert, or_, select, update

from judge.base.text import sentence
from judge.journal.codec import Event
from judge.journal.events import SubmissionChanged, SubmissionState
from judge.store.database import AdvisoryLock, columns_of, lock_until_commit, value_of
from judge.store.files import Files
from judge.store.lookalikes import appearances
from judge.store.orders import TakesOrders
from judge.store.practice_games import add_practice_games, cancel_practice_games
from judge.store.queries import Reader, announced_row
from judge.store.queue import Queue
from judge.store.submission_queries import RegisterReader
from judge.store.tables import entries, submission_journal, submission_steps, submissions
from judge.store.types import (
    ENTERS,
    VERSIONED_CHARACTERS,
    EntryRow,
    NameTakenError,
    NotFoundError,
    NotNowError,
    ProcessingResult,
    Submission,
    TooMuchError,
    Upload,
    UploadLimits,
    UploadStep,
)

JUDGE = "judge"

_HOUR_S = 3600
_VERSION = re.compile(r"(.+)\.[0-9]+(?:-[0-9]+)?")
_LOGGED = (
    SubmissionState.PASSED,
    SubmissionState.REFUSED,
    SubmissionState.APPROVED,
    SubmissionState.WITHDRAWN,
    SubmissionState.FAILED,
)
"""Public in the log; FAILED shows that the host failed."""
RETRIED = (SubmissionState.FAILED, SubmissionState.REFUSED, SubmissionState.RECEIVED)
"""States of submissions that an organiser may process again."""
_UNDERWAY = (SubmissionState.RECEIVED, SubmissionState.PROCESSING)


class Register(RegisterReader, Queue[Submission], TakesOrders):
    """Safe to use from several processes."""

    table = submissions
    kind = Submission
    waiting, running = SubmissionState.RECEIVED, SubmissionState.PROCESSING
    retried = given_up = SubmissionState.FAILED
    backoff = 2
    lost = "the judge that processed it was gone"

    def __init__(
        self, url: str, contest: str, listed_names: Callable[[], Collection[str]] = tuple, joins_later: bool = False
    ) -> None:
        """`listed_names`: of agents in the contest's file. `joins_later`: versions are named such as `five.2`."""
        super().__init__(url, contest)
        self._listed_names = listed_names
        self.joins_later = joins_later

    # --- intake ------------------------------------------------------------------------------------------------------

    def why_not_named(self, author: str, name: str) -> str:
        """Why an author cannot have an agent of this name; empty if possible."""
        with self.moment() as inner:
            return inner._why_taken(author, name, "")

    def may_receive(self, author: str, name: str, size: int, limits: UploadLimits | None, title: str = "") -> None:
        """Check an upload in advance. Raises like `receive`."""
        with self.moment() as inner:
            inner._check_limits(author, size, limits)
            inner._check_names(author, name, title)

    def receive(self, upload: Upload, limits: UploadLimits | None = None, worker: str = "") -> Submission:
        """Receive an upload, without `limits` if they are None. Raises TooMuchError, NameTakenError.

        `worker` processes it at once; empty: the next free one.
        """
        with self._writing() as connection:
            inner = self._inside(connection)
            inner._check_limits(upload.author, upload.size, limits)
            inner._check_names(upload.author, upload.name, upload.title)
            values = {"contest": self._contest, "received_at": self._stamp(), "state": SubmissionState.RECEIVED}
            added = insert(submissions).values(**asdict(upload), **values).returning(submissions.c.id)
            number = connection.execute(added).scalar_one()
            self._add_change(connection, number, upload.author, SubmissionState.RECEIVED, "")
            self._log(connection, SubmissionChanged(SubmissionState.RECEIVED, number), upload.upload)
            row = self._row(connection, number)
            return self._take(connection, row, worker) if worker else value_of(Submission, row)

    def repeated(self, upload: Upload) -> Submission | None:
        """The author's submission of the same bytes that waits or is in force, if `upload` asks for no other name.

        None if a later submission with other bytes waits that could replace it.
        """
        waits = self._of(upload.author).where(self._is_underway()).order_by(submissions.c.id)
        with self.moment() as inner:
            left = inner.left(upload.author)
            in_force = [each for each in inner.entries(upload.author) if each.id not in left]
            waiting = inner._values(Submission, waits)
        same = [each for each in (*in_force, *waiting) if each.upload == upload.upload and _asks_for(upload, each)]
        found = max(same, key=lambda each: each.id, default=None)
        if found is None or any(each.id > found.id and _may_replace(each, found) for each in waiting):
            return None
        return found

    def remove_unregistered(self, files: Files, older_than: datetime) -> int:
        """Remove unreferenced files written before `older_than`; return their number.

        A process killed before its commit leaves them. No upload is registered during this call. Raises OSError.
        """
        with self._writing() as connection:
            columns = (submissions.c.upload, submissions.c.log, submissions.c.report)
            named = {digest for row in connection.execute(select(*columns)) for digest in row}
            unnamed = (files.path(digest) for digest in files.digests() if digest not in named)
            old = [path for path in unnamed if path.stat().st_mtime < older_than.timestamp()]
            for path in old:
                path.unlink()
            return len(old)

    def _check_limits(self, author: str, size: int, limits: UploadLimits | None) -> None:
        if limits is None:
            return
        mine = self._of(author)
        if limits.uploads_per_hour:
            recent = self._count(mine.where(self._is_recent(submissions.c.received_at, _HOUR_S)))
            if recent >= limits.uploads_per_hour:
                raise TooMuchError(
                    f"{recent} uploads in the last hour, which is the limit: try again later",
                    _HOUR_S // limits.uploads_per_hour,
                )
        underway = self._is_underway()
        if limits.waiting_per_author and self._count(mine.where(underway)) >= limits.waiting_per_author:
            raise TooMuchError(
                f"{limits.waiting_per_author} of your submissions are waiting: wait for their results first", 60
            )
        if limits.waiting and self._count(self._all().where(underway)) >= limits.waiting:
            raise TooMuchError("too many submissions are waiting: try again later", 300)
        [(kept,)] = self._rows(mine.with_only_columns(func.sum(submissions.c.size)))
        if limits.author_bytes and int(kept or 0) + size > limits.author_bytes:
            raise TooMuchError(
                f"your uploads together would be more than {limits.author_bytes} bytes: ask the organiser", 0
            )

    @staticmethod
    def _is_underway() -> ColumnElement[bool]:
        is_retried = (submissions.c.state == SubmissionState.FAILED) & submissions.c.due_at.is_not(None)
        return or_(submissions.c.state.in_(_UNDERWAY), is_retried)

    def _check_names(self, author: str, name: str, title: str) -> None:
        if why := self._why_taken(author, name, title):
            raise NameTakenError(why)

    # --- processing --------------------------------------------------------------------------------------------------

    def take(self, worker: str, only: int | None = None, busy: Collection[str] = ()) -> Submission | None:
        """Start an attempt at the next due submission, or `only` this.

        Authors take turns by the start of their last attempt. Each author's submissions are processed singly, in order.
        `busy` are authors whose withdrawn submissions may still be processed.
        """
        with self._writing() as connection:
            query = self._all().where(self._is_due()).order_by(submissions.c.id)
            if only is not None:
                query = query.where(submissions.c.id == only)
            rows = connection.execute(query).all()
            if only is None and rows:
                processing = self._all().where(submissions.c.state == SubmissionState.PROCESSING)
                busy = {*busy, *(row.author for row in connection.execute(processing))}
                begun = self._last_begun(connection)
                rows = sorted((row for row in rows if row.author not in busy), key=lambda row: begun.get(row.author, 0))
            return self._take(connection, rows[0], worker) if rows else None

    def _last_begun(self, connection: Connection) -> dict[str, int]:
        query = (
            select(submissions.c.author, func.max(submission_journal.c.id))
            .join(submission_journal, submission_journal.c.submission == submissions.c.id)
            .where(submissions.c.contest == self._contest, submission_journal.c.state == SubmissionState.PROCESSING)
            .group_by(submissions.c.author)
        )
        return {row[0]: row[1] for row in connection.execute(query)}

    def step(self, number: int, step: UploadStep) -> None:
        """Ignores attempts that are not current."""
        with self._writing() as connection:
            if self._current(connection, number, step.attempt) is None:
                return
            of_attempt = (submission_steps.c.submission == number, submission_steps.c.attempt == step.attempt)
            order = self._inside(connection)._count(select(submission_steps).where(*of_attempt))
            connection.execute(insert(submission_steps).values(submission=number, number=order, **asdict(step)))

    def finish(
        self, number: int, attempt: int, result: ProcessingResult, practice: int = 0, agents_per_author: int = 0
    ) -> Submission:
        """Record that a submission passed, as its name's next version, or was refused. Ignores former attempts.
        A passed submission plays `practice` games. `agents_per_author` 0: no limit.
        """
        with self._writing() as connection:
            row = self._current(connection, number, attempt)
            if row is None:
                return self._value(connection, number)
            inner = self._inside(connection)
            name = result.name or row.name
            title = row.title or inner._last_title(row, name) or inner._free_title(row, result)
            refusal = result.refusal or inner._why_taken(row.author, result.name, row.title)
            others = inner._other_names(row, result.name) if agents_per_author else ()
            if not refusal and agents_per_author and len(others) >= agents_per_author:
                refusal = (
                    f"an author may enter {agents_per_author} agent{'s' * (agents_per_author > 1)}, and yours are "
                    f"{', '.join(others)}: withdraw one of them, or submit under its name"
                )
            values = columns_of(submissions, result) | {"name": name, "title": title, "failures": 0, "losses": 0}
            values["version"] = self._next_version(connection, row, name)
            state = SubmissionState.REFUSED if refusal else SubmissionState.PASSED
            why = refusal or inner._notes(row, result)
            self._change(connection, row, state, why, **values)
            finished = self._row(connection, number)
            if not refusal:
                replaced = self._called(row.author, name).where(submissions.c.id < number)
                cancel_practice_games(connection, replaced.with_only_columns(submissions.c.id))
                add_practice_games(connection, finished, practice, self._stamp(), by_author=False)
            return value_of(Submission, finished)

    def _next_version(self, connection: Connection, row: Row[Any], name: str) -> int | None:
        if not name or (row.version and row.name == name):
            return int(row.version) if row.version else None
        query = self._called(row.author, name).with_only_columns(func.max(submissions.c.version))
        return (connection.scalar(query) or 0) + 1

    # --- decisions ---------------------------------------------------------------------------------------------------

    def note(self, event: Event) -> None:
        """Write to the journal."""
        with self._writing() as connection:
            announced_row(connection, self._contest, locked=True)
            self._tell(connection, self._contest, event)

    @contextmanager
    def change(self) -> Iterator[Self]:
        """Write in one transaction, during which the contest is not locked in and does not begin."""
        with self._writing() as connection:
            announced_row(connection, self._contest, locked=True)
            yield self._inside(connection)

    @contextmanager
    def _deciding(self) -> Iterator[Connection]:
        """As `change`. Raises NotNowError while the contest begins."""
        with self.change() as inner, inner._writing() as connection:
            inner.refuse_locked_in()
            yield connection

    def withdraw(self, number: int, who: str, why: str, author: str | None = None) -> Submission:
        """Withdraw a submission, also during processing. Can be repeated.

        Raises NotFoundError unless it is `author`'s, NotNowError while the contest begins.
        """
        with self._deciding() as connection:
            row = self._row(connection, number, author)
            if row.state != SubmissionState.WITHDRAWN:
                self._change(connection, row, SubmissionState.WITHDRAWN, why, who=who, due_at=None)
            return self._value(connection, number)

    def withdraw_versions(self, name: str, author: str, why: str) -> Sequence[int]:
        """Withdraw an agent's submissions; return their numbers. Raises NotFoundError, NotNowError."""
        with self._deciding() as connection:
            rows = connection.execute(self._called(author, name).order_by(submissions.c.id)).all()
            if not name or not rows:
                raise NotFoundError(f"you have no agent {name[:80]!r} that takes part")
            for row in rows:
                if row.state in ENTERS or not value_of(Submission, row).is_over:
                    self._change(connection, row, SubmissionState.WITHDRAWN, why, who=author, due_at=None)
            return [row.id for row in rows]

    def rename(self, name: str, author: str, title: str, *, joins_later: bool = False) -> None:
        """Set an agent's display name, also of later versions; empty: its name.

        Raises NotNowError while the contest begins and, unless `joins_later`, after the start; NotFoundError;
        NameTakenError if another agent has it.
        """
        with self._deciding() as connection:
            inner = self._inside(connection)
            if inner.has_begun() and not joins_later:
                raise NotNowError("the contest has begun: its names no longer change")
            if not inner._taken_names(author, name).isdisjoint(appearances(title)):
                raise NameTakenError(f"another agent is called {title!r}: choose another name")
            of_agent = self._called(author, name)
            if not name or not inner._count(of_agent.where(submissions.c.agent.is_not(None))):
                raise NotFoundError(f"you have no agent {name[:80]!r}")
            numbers = [row.id for row in connection.execute(of_agent)]
            connection.execute(update(submissions).where(submissions.c.id.in_(numbers)).values(title=title))

    def approve(self, number: int, who: str, why: str) -> Submission:
        """Approve a refused submission. Raises NotNowError without an agent, or while the contest begins."""
        with self._deciding() as connection:
            row = self._row(connection, number)
            if row.state != SubmissionState.REFUSED:
                raise NotNowError(f"submission {number} is {row.state}: only a refused one is approved")
            if row.agent is None:
                raise NotNowError(f"submission {number} did not produce a playable agent: {row.why}")
            self._inside(connection)._check_names(row.author, row.name, row.title)
            self._change(connection, row, SubmissionState.APPROVED, why, who=who)
            return self._value(connection, number)

    def refuse(self, number: int, who: str, why: str) -> Submission:
        """Refuse a submission that would play. Raises NotNowError."""
        with self._deciding() as connection:
            row = self._row(connection, number)
            if row.state not in ENTERS:
                raise NotNowError(
                    f"submission {number} is {row.state}: only a submission that would play can be refused"
                )
            self._change(connection, row, SubmissionState.REFUSED, why, who=who)
            return self._value(connection, number)

    def retry(self, number: int, who: str, why: str) -> Submission:
        """Process a failed or refused submission again. Raises NotNowError."""
        with self._writing() as connection:
            row = self._row(connection, number)
            if row.state not in RETRIED:
                raise NotNowError(f"submission {number} is {row.state}: only a failed or refused one is tried again")
            self._change(connection, row, SubmissionState.RECEIVED, why, who=who, failures=0, losses=0, due_at=None)
            return self._value(connection, number)

    # --- names -------------------------------------------------------------------------------------------------------

    def _why_taken(self, author: str, name: str, title: str) -> str:
        if name and self._is_listed(name):
            return f"the contest's file lists an agent called {name!r}: choose another name"
        if name and self._is_anothers(author, name):
            return f"an agent of another author is called {name!r} already: choose another name"
        if agent := self._version_of(author, name):
            return f"{name!r} looks like a version of the agent {agent!r}: choose another name"
        taken = self._taken_names(author, name)
        for shown in (name, title):
            if not taken.isdisjoint(appearances(shown)):
                return f"another agent is called {shown!r}: choose another name"
        return ""

    def _version_of(self, author: str, name: str) -> str:
        found = _VERSION.fullmatch(name) if self.joins_later else None
        query = self._called(author, name).where(submissions.c.state.in_((*ENTERS, SubmissionState.WITHDRAWN)))
        if found is None or self._count(query):
            return ""
        names = [] if self.has_begun() else [*self._listed_names()]
        names += [each.name for each in Reader.from_part(self).entries(self._contest)]
        names += [each.name for each in self.entries()]
        return next((each for each in names if each[:VERSIONED_CHARACTERS].lower() == found[1].lower()), "")

    def _taken_names(self, author: str, name: str) -> frozenset[str]:
        """Of all other agents; with an empty `name`, of other authors'."""
        shown = {*self.names_of_others(author, name), *(() if self.has_begun() else self._listed_names())}
        for each in self.entries():
            if each.author != author or name.lower() not in ("", each.name.lower()):
                shown |= {each.name, each.title}
        return frozenset(chain.from_iterable(map(appearances, shown)))

    def _is_listed(self, name: str) -> bool:
        if not self.has_begun():
            return name.casefold() in map(str.casefold, self._listed_names())
        entry = self._entry_called(name)
        return entry is not None and entry.submission is None

    def _entry_called(self, name: str) -> EntryRow | None:
        query = select(entries).where(entries.c.contest == self._contest, func.lower(entries.c.name) == name.lower())
        row = self._first(query)
        return None if row is None else value_of(EntryRow, row)

    def _is_anothers(self, author: str, name: str) -> bool:
        has_name = func.lower(submissions.c.name) == name.lower()
        query = self._all().where(has_name, submissions.c.author != author, submissions.c.state.in_(ENTERS))
        # An agent that left a ladder keeps its name: new versions start from its rating.
        entry = self._entry_called(name)
        number = None if entry is None else entry.submission
        entered = self._all().where(submissions.c.id == number, submissions.c.author != author)
        return self._count(query) > 0 or self._count(entered) > 0

    def _other_names(self, row: Row[Any], name: str) -> list[str]:
        query = self._of(row.author).where(
            func.lower(submissions.c.name) != name.lower(), submissions.c.id != row.id, submissions.c.state.in_(ENTERS)
        )
        newest = {each.name.lower(): each for each in self._rows(query.order_by(submissions.c.id))}
        left = self.left(row.author)
        return [each.name for each in newest.values() if each.id not in left]

    def _free_title(self, row: Row[Any], result: ProcessingResult) -> str:
        taken = self._taken_names(row.author, result.name) if result.title else ()
        return result.title if appearances(result.title).isdisjoint(taken) else ""

    def _last_title(self, row: Row[Any], name: str) -> str:
        """Newest one that is still free."""
        query = self._called(row.author, name).where(submissions.c.id != row.id, submissions.c.agent.is_not(None))
        titles = [str(each.title) for each in self._rows(query.order_by(submissions.c.id.desc()))]
        taken = self._taken_names(row.author, name) if any(titles) else ()
        return next((title for title in titles if appearances(title).isdisjoint(taken)), "")

    def _notes(self, row: Row[Any], result: ProcessingResult) -> str:
        notes = [self._replaces(row, result.name), self._same_files(row, result)]
        return "; ".join(filter(None, notes))

    def _same_files(self, row: Row[Any], result: ProcessingResult) -> str:
        others = {each.lower() for each in self._other_names(row, result.name)}
        same = [
            each.name
            for each in self.entries(row.author)
            if each.name.lower() in others and (each.upload == row.upload or each.digest == result.digest)
        ]
        if not same:
            return ""
        return sentence(
            f"you have another agent with the same files: {', '.join(same)}; if only one of them is to play, withdraw "
            f"the other; to replace {same[0]} later, submit under its name (--name {same[0]})"
        )

    def _replaces(self, row: Row[Any], name: str) -> str:
        query = self._called(row.author, name).where(submissions.c.id != row.id, submissions.c.state.in_(ENTERS))
        former = self._first(query.order_by(submissions.c.id.desc()).limit(1))
        if former is None or former.id > row.id:
            return ""
        return (
            f"it replaces version {former.version} of {name}, uploaded as {former.filename}; "
            "to enter both, upload one of them under another name (--name)"
        )

    # --- rows ---------------------------------------------------------------------------------------------------------

    @contextmanager
    def _begin(self) -> Iterator[Connection]:
        with super()._begin() as connection:
            # Counts stay valid until the write.
            lock_until_commit(connection, AdvisoryLock.REGISTER, self._contest)
            yield connection

    def _change(
        self, connection: Connection, row: Row[Any], state: str, why: str, *, who: str = JUDGE, **values: Any
    ) -> None:
        super()._change(connection, row, state, why, **values)
        self._add_change(connection, row.id, who, state, why)
        if state in _LOGGED:
            changed = self._row(connection, row.id)
            event = SubmissionChanged(SubmissionState(state), row.id, changed.name or None)
            self._log(connection, event, changed.digest)

    def _log(self, connection: Connection, event: SubmissionChanged, digest: str | None) -> None:
        """A leaf without author and reason."""
        if announced_row(connection, self._contest, locked=True) is not None:
            self._tell(connection, self._contest, event, digest=digest)

    def _add_change(self, connection: Connection, number: int, who: str, state: str, why: str) -> None:
        connection.execute(
            insert(submission_journal).values(submission=number, at=self._stamp(), who=who, state=state, why=why)
        )


def _asks_for(upload: Upload, earlier: Submission) -> bool:
    names = ("", earlier.name.lower()) if earlier.name else ("",)
    return upload.name.lower() in names and upload.title in ("", earlier.title)


def _may_replace(later: Submission, earlier: Submission) -> bool:
    return later.upload != earlier.upload and (later.name.lower() in ("", earlier.name.lower()) or not earlier.name)
