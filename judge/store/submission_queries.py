"""Queries of submissions, newest first, for all authors or one."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select

from judge.contest_games import PublishedGame, ScheduledGame
from judge.journal.events import LockedIn, SubmissionChanged, SubmissionState
from judge.store.database import ContestDatabase, value_of
from judge.store.queries import WITHOUT_SPEC, Reader, published_games
from judge.store.tables import (
    attempts,
    contests,
    entries,
    games,
    orders,
    submission_journal,
    submission_steps,
    submissions,
)
from judge.store.types import ANNOUNCED, ENTERS, Change, EntryRow, NotFoundError, NotNowError, Submission, UploadStep

LATE = "late"
"""Action of an order that lets an author submit until the start."""


_MAX_LEAF = (1 << 31) - 1
"""Maximum number of a leaf in the database."""


class RegisterReader(ContestDatabase):
    """Queries of a contest's submissions."""

    def get(self, number: int, author: str | None = None) -> Submission:
        """Raises NotFoundError if missing or not of `author`."""
        with self._reading() as connection:
            return value_of(Submission, self._row(connection, number, author))

    def submissions(
        self, author: str | None = None, before: int | None = None, limit: int | None = None
    ) -> list[Submission]:
        """At most `limit` submissions with numbers below `before`, newest first."""
        query = self._all() if author is None else self._of(author)
        if before is not None:
            query = query.where(submissions.c.id < before)
        return self._values(Submission, query.order_by(submissions.c.id.desc()).limit(limit))

    def entries(self, author: str | None = None) -> list[Submission]:
        """Each agent's latest passed or approved submission, by name."""
        submitted = self._all() if author is None else self._of(author)
        query = submitted.where(submissions.c.state.in_(ENTERS)).order_by(submissions.c.id)
        return _latest(self._values(Submission, query))

    def first_entries(self) -> list[Submission]:
        """As `entries`, of the contest's start: without submissions that passed after the lock-in."""
        with self.moment() as inner:
            query = inner._all().where(submissions.c.state.in_(ENTERS)).order_by(submissions.c.id)
            passed = inner._values(Submission, query)
            reader = Reader.from_part(inner)
            for locked_in in reader.last_lines(self._contest, 1, LockedIn):
                lines = reader.leaves(self._contest, locked_in.number or 0, _MAX_LEAF)
                changes = [line.change for line in lines]
                late = {each.number for each in changes if isinstance(each, SubmissionChanged) and each.state in ENTERS}
                passed = [each for each in passed if each.id not in late]
            return _latest(passed)

    def withdrawn(self) -> frozenset[int]:
        """Numbers of withdrawn submissions."""
        query = select(submissions.c.id).where(submissions.c.contest == self._contest)
        return frozenset(row.id for row in self._rows(query.where(submissions.c.state == SubmissionState.WITHDRAWN)))

    def counts(self) -> Mapping[SubmissionState, int]:
        query = select(submissions.c.state, func.count()).where(submissions.c.contest == self._contest)
        return dict.fromkeys(SubmissionState, 0) | {
            row[0]: row[1] for row in self._rows(query.group_by(submissions.c.state))
        }

    def steps(self, submission: Submission) -> list[UploadStep]:
        """Steps of its current attempt, in order."""
        columns = submission_steps.c
        of_attempt = (columns.submission == submission.id, columns.attempt == submission.attempt)
        return self._values(UploadStep, select(submission_steps).where(*of_attempt).order_by(columns.number))

    def journal(self, number: int) -> list[Change]:
        """History, oldest first."""
        query = select(submission_journal).where(submission_journal.c.submission == number)
        return self._values(Change, query.order_by(submission_journal.c.id))

    def has_begun(self) -> bool:
        return self.document() is not None

    def is_admitted_late(self, author: str) -> bool:
        """Whether an author may submit until the start."""
        is_admission = (orders.c.contest == self._contest, orders.c.action == LATE, orders.c.target == author)
        query = select(orders.c.id).where(*is_admission).limit(1)
        return self._first(query) is not None and not self.is_locked_in()

    def is_locked_in(self) -> bool:
        """Whether the contest's terms are locked in, also before it begins."""
        return self.has_begun() or bool(Reader.from_part(self).last_lines(self._contest, 1, LockedIn))

    def refuse_locked_in(self) -> None:
        """Raises NotNowError between the lock-in of the terms and the contest's start."""
        if self.is_locked_in() and not self.has_begun():
            raise NotNowError("the contest begins now, and its entries are locked in: try again after its start")

    def document(self) -> str | None:
        """None before the contest begins."""
        query = select(contests.c.document).where(contests.c.name == self._contest, contests.c.state != ANNOUNCED)
        with self._reading() as connection:
            return connection.scalar(query)

    def entry(self, name: str) -> str | None:
        """JSON of an agent, if it takes part."""
        query = select(entries.c.entry).where(entries.c.contest == self._contest, entries.c.name == name)
        with self._reading() as connection:
            return connection.scalar(query.where(entries.c.disqualified.is_(None), entries.c.withdrawn.is_(None)))

    def own_entries(self, author: str) -> Mapping[int, EntryRow]:
        """An author's entries by submission, in order."""
        with self.moment() as inner:
            numbers = {row.id for row in inner._rows(self._of(author))}
            found = Reader.from_part(inner).entries(self._contest)
        return {number: entry for entry in found if (number := entry.submission) in numbers and number is not None}

    def left(self, author: str) -> frozenset[int]:
        """Numbers of an author's submissions whose entries no longer take part."""
        return frozenset(number for number, entry in self.own_entries(author).items() if not entry.is_active)

    def names_of_others(self, author: str, but: str) -> frozenset[str]:
        """All names of other authors' entries, without `but`."""
        with self.moment() as inner:
            agents, found = inner.agents_of(author), Reader.from_part(inner).entries(self._contest)
        others = [each for each in found if each.name not in agents and each.name.lower() != but.lower()]
        return frozenset(shown for each in others for shown in (each.name, each.title) if shown)

    def agents_of(self, author: str) -> frozenset[str]:
        return frozenset(agent for agent, whose in self.authors_of_agents().items() if whose == author)

    def authors_of_agents(self) -> Mapping[str, str]:
        """Author of each submitted agent, by its contest name."""
        query = select(submissions.c.id, submissions.c.author).where(submissions.c.contest == self._contest)
        with self.moment() as inner:
            authors: dict[int | None, str] = {row.id: row.author for row in inner._rows(query)}
            found = Reader.from_part(inner).entries(self._contest)
        return {entry.name: authors[number] for entry in found if (number := entry.submission) in authors}

    def own_games(self, author: str, limit: int, number: int | None = None) -> list[PublishedGame]:
        """Games with a result or record, newest first, without specs; only game `number`, if given."""
        with self.moment() as inner:
            agents = inner.agents_of(author)
            recorded = select(attempts.c.game).where(attempts.c.game == games.c.id, attempts.c.record.is_not(None))
            is_own = games.c.first.in_(agents) | games.c.second.in_(agents)
            query = select(*WITHOUT_SPEC).where(games.c.contest == self._contest, is_own, recorded.exists())
            if number is not None:
                query = query.where(games.c.number == number)
            author_games = inner._values(ScheduledGame, query.order_by(games.c.number.desc()).limit(limit))
            reader = Reader.from_part(inner)
            results = reader.results_by_number(self._contest, [game.number for game in author_games]).values()
            tried = reader.attempts(self._contest, *(game.id for game in author_games)) if author_games else ()
        return published_games(author_games, results, tried)

    def _all(self) -> Select[Any]:
        return select(submissions).where(submissions.c.contest == self._contest)

    def _of(self, author: str) -> Select[Any]:
        return self._all().where(submissions.c.author == author)

    def _called(self, author: str, name: str) -> Select[Any]:
        """An author's submissions with this name, in any case."""
        return self._of(author).where(func.lower(submissions.c.name) == name.lower())

    def _row(self, connection: Connection, number: int, author: str | None = None) -> Row[Any]:
        query = self._all() if author is None else self._of(author)
        row = connection.execute(query.where(submissions.c.id == number)).first() if 0 < number < 1 << 63 else None
        if row is None:
            raise NotFoundError(f"there is no submission {number} in {self._contest!r}")
        return row


def _latest(passed: Iterable[Submission]) -> list[Submission]:
    latest = {(each.author, each.name.lower()): each for each in passed}
    return sorted(latest.values(), key=lambda entry: entry.name.lower())
