"""Queries of submissions, newest first, for all authors or one."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select

from judge.contest_games import Attempt, PublishedGame, ScheduledGame, game_result
from judge.journal.events import LockedIn, SubmissionState
from judge.store.database import ContestDatabase, value_of
from judge.store.queries import RESULT_COLUMNS, WITHOUT_SPEC
from judge.store.tables import (
    attempts,
    contests,
    entries,
    games,
    journal,
    orders,
    results,
    submission_journal,
    submission_steps,
    submissions,
)
from judge.store.types import (
    ANNOUNCED,
    ENTERS,
    Change,
    EntryRow,
    Submission,
    UnknownSubmissionError,
    UploadStep,
)

LATE = "late"
"""Action of an order that lets an author submit until the start."""


class RegisterReader(ContestDatabase):
    """Queries of a contest's submissions."""

    def get(self, number: int, author: str | None = None) -> Submission:
        """Raises UnknownSubmissionError if missing or not of `author`."""
        with self._reading() as connection:
            return value_of(Submission, self._row(connection, number, author))

    def submissions(
        self, author: str | None = None, before: int | None = None, limit: int | None = None
    ) -> list[Submission]:
        """At most `limit` submissions with numbers below `before`, newest first."""
        query = self._all() if author is None else self._of(author)
        if before is not None:
            query = query.where(submissions.c.id < before)
        rows = self._rows(query.order_by(submissions.c.id.desc()).limit(limit))
        return [value_of(Submission, row) for row in rows]

    def entries(self, author: str | None = None) -> list[Submission]:
        """Each agent's latest passed or approved submission, by name."""
        submitted = self._all() if author is None else self._of(author)
        query = submitted.where(submissions.c.state.in_(ENTERS)).order_by(submissions.c.id)
        latest = {(row.author, row.name.lower()): value_of(Submission, row) for row in self._rows(query)}
        return sorted(latest.values(), key=lambda entry: entry.name.lower())

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
        query = select(submission_steps).where(
            submission_steps.c.submission == submission.id, submission_steps.c.attempt == submission.attempt
        )
        return [value_of(UploadStep, row) for row in self._rows(query.order_by(submission_steps.c.number))]

    def journal(self, number: int) -> list[Change]:
        """History, oldest first."""
        query = select(submission_journal).where(submission_journal.c.submission == number)
        return [value_of(Change, row) for row in self._rows(query.order_by(submission_journal.c.id))]

    def has_begun(self) -> bool:
        return self.document() is not None

    def is_admitted_late(self, author: str) -> bool:
        """Whether an author may submit until the start."""
        query = select(orders.c.id).where(
            orders.c.contest == self._contest, orders.c.action == LATE, orders.c.target == author
        )
        return self._first(query.limit(1)) is not None and not self.is_locked_in()

    def is_locked_in(self) -> bool:
        """Whether the contest's terms are locked in, also before it begins."""
        query = select(journal.c.id).where(journal.c.contest == self._contest, journal.c.event == LockedIn.NAME)
        return self.has_begun() or self._first(query.limit(1)) is not None

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
        query = select(entries).where(entries.c.contest == self._contest).order_by(entries.c.rank)
        with self._reading() as connection:
            own = {row.id for row in connection.execute(self._of(author))}
            found = [(json.loads(row.entry).get("submission"), row) for row in connection.execute(query)]
        return {number: value_of(EntryRow, row) for number, row in found if number in own}

    def names_of_others(self, author: str, but: str) -> frozenset[str]:
        """All names of other authors' entries, without `but`."""
        query = select(entries).where(entries.c.contest == self._contest)
        with self._reading() as connection:
            own = _agents_of(connection, self._contest, author)
            found = [value_of(EntryRow, row) for row in connection.execute(query)]
        others = [each for each in found if each.name not in own and each.name.lower() != but.lower()]
        return frozenset(shown for each in others for shown in (each.name, each.title) if shown)

    def agents_of(self, author: str) -> frozenset[str]:
        with self._reading() as connection:
            return frozenset(_agents_of(connection, self._contest, author))

    def own_games(self, author: str, limit: int, number: int | None = None) -> list[PublishedGame]:
        """Games with a result or record, newest first, without specs; only game `number`, if given."""
        with self._reading() as connection:
            agents = _agents_of(connection, self._contest, author)
            recorded = select(attempts.c.game).where(attempts.c.game == games.c.id, attempts.c.record.is_not(None))
            query = select(*WITHOUT_SPEC).where(
                games.c.contest == self._contest,
                games.c.first.in_(agents) | games.c.second.in_(agents),
                recorded.exists(),
            )
            if number is not None:
                query = query.where(games.c.number == number)
            own = [
                value_of(ScheduledGame, row)
                for row in connection.execute(query.order_by(games.c.number.desc()).limit(limit))
            ]
            ids = [game.id for game in own]
            ended = select(*RESULT_COLUMNS).join(results, results.c.game == games.c.id).where(games.c.id.in_(ids))
            found = {result.id: result for result in map(game_result, connection.execute(ended))}
            tried = select(attempts).where(attempts.c.game.in_(ids), attempts.c.record.is_not(None))
            kept: dict[str, list[Attempt]] = {}
            for row in connection.execute(tried.order_by(attempts.c.number)):
                kept.setdefault(row.game, []).append(value_of(Attempt, row))
        published = []
        for game in own:
            result = found.get(game.id)
            counted = None if result is None else result.attempt
            uncounted = [attempt for attempt in kept.get(game.id, []) if attempt.number != counted]
            published.append(PublishedGame.of(game, result, uncounted))
        return published

    def _all(self) -> Select[Any]:
        return select(submissions).where(submissions.c.contest == self._contest)

    def _of(self, author: str) -> Select[Any]:
        return self._all().where(submissions.c.author == author)

    def _row(self, connection: Connection, number: int, author: str | None = None) -> Row[Any]:
        query = self._all() if author is None else self._of(author)
        row = connection.execute(query.where(submissions.c.id == number)).first() if 0 < number < 1 << 63 else None
        if row is None:
            raise UnknownSubmissionError(f"there is no submission {number} in {self._contest!r}")
        return row


def authors_of(connection: Connection, contest: str) -> Mapping[str, str]:
    """Author of each submitted agent, by its contest name."""
    numbers: dict[int, str] = {}
    for row in connection.execute(select(entries.c.name, entries.c.entry).where(entries.c.contest == contest)):
        number = json.loads(row.entry).get("submission")
        if number is not None:
            numbers[number] = row.name
    query = select(submissions.c.id, submissions.c.author).where(submissions.c.contest == contest)
    return {numbers[row.id]: row.author for row in connection.execute(query) if row.id in numbers}


def _agents_of(connection: Connection, contest: str, author: str) -> list[str]:
    return [agent for agent, whose in authors_of(connection, contest).items() if whose == author]
