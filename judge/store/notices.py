"""Queue of webhook and e-mail notices to authors.

`derive` inserts notices of new journal lines and its position in one transaction. Receivers can drop repeats by id.
"""

import json
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Row, Select, delete, func, insert, or_, select, update

from judge.contest_games import GameState
from judge.journal.events import Accepted, Disqualified, Rated, SubmissionState, Withdrawn
from judge.journal.state import JournalLine
from judge.store.database import AdvisoryLock, lock_until_commit, value_of
from judge.store.orders import TakesOrders
from judge.store.queries import Reader
from judge.store.queue import Queue
from judge.store.submission_queries import RegisterReader
from judge.store.tables import (
    games,
    journal,
    notice_readings,
    notice_targets,
    notices,
    orders,
    results,
    submission_journal,
    submissions,
    tokens,
)
from judge.store.tokens import TokenRole
from judge.store.types import ORGANISER, cancellation

WEBHOOK, MAIL = "webhook", "mail"
WAITING, SENT, GIVEN_UP = "waiting", "sent", "given up"
MAIL_SERVER = "the mail server"
RESULT = "result"
MAX_DIGEST = 500
SEND_NOW = "0"
"""Due time of a notice that waits for no other result; earlier than any event."""
MESSAGE = "message"
"""Kind of an organiser's notice, and action of the order."""
TEST = "test"
"""Kind of the first notice to a target."""
FAILURES_IN_A_ROW = 3
_READ_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class NoticeTargets:
    """Empty if not set. `secret` signs webhook calls."""

    webhook: str = ""
    secret: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """`text` is a sentence, `body` the webhook's JSON."""

    id: str
    author: str
    channel: str
    kind: str
    at: str
    text: str
    body: str
    state: str
    failures: int
    why: str


@dataclass(frozen=True, slots=True)
class AuthorNotices:
    """An author, whether notices arrive, and numbers of notices."""

    author: str
    targets: NoticeTargets
    waiting: int
    given_up: int


@dataclass(frozen=True, slots=True)
class Message:
    """An organiser's message to all authors."""

    at: str
    text: str


@dataclass(frozen=True, slots=True)
class _Event:
    author: str
    kind: str
    at: str
    text: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Positions:
    """Of the last lines of this contest that were read."""

    journal: int
    submission_journal: int


def _refusal(line: Row[Any]) -> _Event | None:
    if line.state != SubmissionState.REFUSED:
        return None
    text = f"submission {line.submission} ({line.filename}) was refused: {line.why}"
    details = {"submission": line.submission, "filename": line.filename, "why": line.why}
    return _Event(line.author, "refused", line.at, text, details)


class Notices(Queue[Notice], TakesOrders):
    """A single process sends them, so rows are not taken."""

    table = notices
    kind = Notice
    waiting = running = retried = WAITING
    given_up = GIVEN_UP
    backoff = 3

    # --- targets -----------------------------------------------------------------------------------------------------

    def targets(self, author: str) -> NoticeTargets:
        of_author = (notice_targets.c.contest == self._contest, notice_targets.c.author == author)
        row = self._first(select(notice_targets).where(*of_author))
        return NoticeTargets() if row is None else value_of(NoticeTargets, row)

    def set_webhook(self, author: str, url: str, secret: str) -> None:
        """Set or remove (empty) an author's webhook. A new URL gets a first notice, and notices to the former one are
        given up. For the same URL only the secret changes.
        """
        self._set(author, WEBHOOK, url, webhook=url, secret=secret if url else "")

    def set_email(self, author: str, address: str) -> None:
        """Set or remove (empty) an author's e-mail address. A new one gets a first notice."""
        self._set(author, MAIL, address, email=address)

    def unsubscribe(self, notice: str) -> bool:
        """Remove the e-mail address of this mail's receiver; return whether the mail exists."""
        author = self.receiver_of(notice)
        if author is None:
            return False
        if self.targets(author).email:
            self.set_email(author, "")
        return True

    def receiver_of(self, notice: str) -> str | None:
        """The author of an e-mailed notice, or None."""
        row = self._first(self._all().where(notices.c.id == notice, notices.c.channel == MAIL))
        return None if row is None else str(row.author)

    def authors(self) -> list[str]:
        """Authors with a valid token, a submission or an address, by name."""
        is_valid = (tokens.c.role == TokenRole.AUTHOR, tokens.c.revoked_at.is_(None))
        with self._reading() as connection:
            found = [
                *connection.scalars(select(tokens.c.author).where(tokens.c.contest == self._contest, *is_valid)),
                *connection.scalars(select(submissions.c.author).where(submissions.c.contest == self._contest)),
                *connection.scalars(select(notice_targets.c.author).where(notice_targets.c.contest == self._contest)),
            ]
        return sorted({*found} - {ORGANISER})

    def by_author(self) -> list[AuthorNotices]:
        """All authors with addresses and numbers of notices."""
        counts = select(notices.c.author, notices.c.state, func.count()).where(notices.c.contest == self._contest)
        with self.moment() as inner:
            grouped = inner._rows(counts.group_by(notices.c.author, notices.c.state))
            count = {(author, state): number for author, state, number in grouped}
            return [
                AuthorNotices(each, inner.targets(each), count.get((each, WAITING), 0), count.get((each, GIVEN_UP), 0))
                for each in inner.authors()
            ]

    # --- orders ------------------------------------------------------------------------------------------------------

    def send_to_all(self, text: str) -> tuple[int, int]:
        """Add a notice for each author; return the numbers of authors and of those with an address."""
        with self.change() as inner:
            authors = inner.authors()
            reached = [each for each in authors if inner._add(_Event(each, MESSAGE, self._stamp(), text, {}))]
            return len(authors), len(reached)

    def make_due(self) -> int:
        """Make all waiting notices due now, also results waiting for others; return their number."""
        with self._writing() as connection:
            waiting = (notices.c.contest == self._contest, notices.c.state == WAITING)
            return connection.execute(update(notices).where(*waiting).values(due_at=SEND_NOW)).rowcount

    def messages(self, limit: int) -> list[Message]:
        """The organisers' messages to all authors, newest first."""
        query = select(orders.c.at, orders.c.why).where(orders.c.contest == self._contest, orders.c.action == MESSAGE)
        return [Message(row.at, row.why) for row in self._rows(query.order_by(orders.c.at.desc()).limit(limit))]

    def _set(self, author: str, channel: str, target: str, **values: str) -> None:
        with self._writing() as connection:
            inner = self._inside(connection)
            former = asdict(inner.targets(author))
            kept = {**former, **values}
            of_author = (notice_targets.c.contest == self._contest, notice_targets.c.author == author)
            connection.execute(delete(notice_targets).where(*of_author))
            connection.execute(insert(notice_targets).values(contest=self._contest, author=author, **kept))
            if former == {**kept, "secret": former["secret"]}:
                return
            of_channel = (notices.c.contest == self._contest, notices.c.author == author, notices.c.channel == channel)
            # A mail's notice stays: the link in the mail names it.
            is_first_call = (notices.c.channel == WEBHOOK, notices.c.kind == TEST)
            connection.execute(delete(notices).where(*of_channel, *is_first_call))
            waiting = update(notices).where(*of_channel, notices.c.state == WAITING)
            connection.execute(waiting.values(state=GIVEN_UP, why="its target was changed"))
            if target:
                text = f"notices of {self._contest} for {author} come here from now on"
                inner._insert(_Event(author, TEST, self._stamp(), text, {"author": author}), channel)

    # --- events ------------------------------------------------------------------------------------------------------

    def derive(self) -> int:
        """Add notices of events since the last call; return their number. The first call only stores the position."""
        if not self._is_behind():
            return 0
        with self._writing() as connection:
            lock_until_commit(connection, AdvisoryLock.NOTICES, self._contest)
            inner = self._inside(connection)
            read = inner._positions()
            if read is None:
                connection.execute(insert(notice_readings).values(contest=self._contest, **asdict(inner._ends())))
                return 0
            lines = Reader.from_part(inner).journal_since(self._contest, read.journal, _READ_AT_ONCE)
            changes = connection.execute(self._changes(read.submission_journal)).all()
            ends = _Positions(
                lines[-1][0] if lines else read.journal, changes[-1].id if changes else read.submission_journal
            )
            mine = notice_readings.c.contest == self._contest
            connection.execute(update(notice_readings).where(mine).values(**asdict(ends)))
            events = [*inner._of_lines(lines), *map(_refusal, changes)]
            return sum(inner._add(event) for event in events if event is not None)

    def _positions(self) -> _Positions | None:
        row = self._first(select(notice_readings).where(notice_readings.c.contest == self._contest))
        return None if row is None else value_of(_Positions, row)

    def _ends(self) -> _Positions:
        of_submissions = select(func.max(submission_journal.c.id)).join(submissions)
        [(end,)] = self._rows(of_submissions.where(submissions.c.contest == self._contest))
        return _Positions(Reader.from_part(self).journal_end(self._contest), end or 0)

    def _is_behind(self) -> bool:
        with self.moment() as inner:
            return inner._positions() != inner._ends()

    def _of_lines(self, lines: Sequence[tuple[int, JournalLine]]) -> Iterator[_Event]:
        kinds = Accepted | Disqualified | Withdrawn | Rated
        noted = [(number, line) for number, line in lines if isinstance(line.change, kinds)]
        authors = RegisterReader.for_contest(self, self._contest).authors_of_agents() if noted else {}
        for number, line in noted:
            match line.change:
                case Accepted():
                    yield from self._of_result(number, line, authors)
                case Rated(agent, rating, error) if agent in authors:
                    words = f"{rating} Elo, standard error {error}"
                    text = f"{agent} has its rating: {words}"
                    yield _Event(authors[agent], "rated", line.at, text, {"agent": agent, "rating": words})
                case Disqualified(agent, why) if agent in authors:
                    text, details = cancellation(agent, why, None), {"agent": agent, "why": why}
                    yield _Event(authors[agent], "disqualified", line.at, text, details)
                case Withdrawn(agent, why) if agent in authors:
                    text, details = cancellation(agent, None, why), {"agent": agent, "why": why}
                    yield _Event(authors[agent], "withdrawn", line.at, text, details)

    def _of_result(self, number: int, line: JournalLine, authors: Mapping[str, str]) -> Iterator[_Event]:
        query = (
            select(games.c.first, games.c.second, games.c.number, results)
            .join(results, results.c.game == games.c.id)
            .where(games.c.id == line.game, results.c.attempt == line.attempt)
        )
        row = self._first(query)
        if row is None:
            return  # annulled later
        names = (row.first, row.second)
        for seat, agent in enumerate(names):
            if agent not in authors:
                continue
            score = "drawn" if row.winner is None else "won" if row.winner == seat else "lost"
            details = {
                "agent": agent,
                "opponent": names[1 - seat],
                "game": row.number,
                "score": "none" if row.winner is None and row.verdict != "draw" else score,
                "verdict": row.verdict,
                "fault": (row.fault_0, row.fault_1)[seat],
                "reason": row.reason,
            }
            text = f"game {row.number}: {agent} {score if details['score'] != 'none' else 'and its opponent lost'} "
            text += f"against {names[1 - seat]}: {row.reason}"
            yield _Event(authors[agent], RESULT, line.at, text, details)
            if self._is_third_failure(agent, number):
                noted = {"agent": agent, "game": row.number, "failures": FAILURES_IN_A_ROW, "reason": row.reason}
                text = f"{agent} has failed by itself in {FAILURES_IN_A_ROW} games in a row, last in game {row.number}"
                yield _Event(authors[agent], "failures", line.at, text, noted)

    def _is_third_failure(self, agent: str, line: int) -> bool:
        is_result = (journal.c.contest == self._contest, journal.c.id <= line, journal.c.event == Accepted.NAME)
        query = (
            select(games.c.first, results.c.fault_0, results.c.fault_1)
            .join(games, journal.c.game == games.c.id)
            .join(results, (results.c.game == games.c.id) & (results.c.attempt == journal.c.attempt))
            .where(*is_result, or_(games.c.first == agent, games.c.second == agent))
            .order_by(journal.c.id.desc())
            .limit(FAILURES_IN_A_ROW + 1)
        )
        faults = [(row.fault_0 if row.first == agent else row.fault_1) is not None for row in self._rows(query)]
        return faults[:FAILURES_IN_A_ROW] == [True] * FAILURES_IN_A_ROW and faults[FAILURES_IN_A_ROW:] != [True]

    def _changes(self, read: int) -> Select[Any]:
        query = select(submission_journal, submissions.c.author, submissions.c.filename).join(submissions)
        mine = submission_journal.c.id > read, submissions.c.contest == self._contest
        return query.where(*mine).order_by(submission_journal.c.id).limit(_READ_AT_ONCE)

    def _add(self, event: _Event) -> int:
        """Insert a notice for each channel of the author; return their number."""
        targets = self.targets(event.author)
        channels = [each for each, target in ((WEBHOOK, targets.webhook), (MAIL, targets.email)) if target]
        for channel in channels:
            self._insert(event, channel)
        return len(channels)

    def _insert(self, event: _Event, channel: str) -> None:
        data = {"contest": self._contest, "text": event.text, **event.details}
        notice = insert(notices).values(
            id=f"msg_{secrets.token_hex(16)}",
            contest=self._contest,
            author=event.author,
            channel=channel,
            kind=event.kind,
            at=event.at,
            text=event.text,
            body=json.dumps({"type": event.kind, "timestamp": event.at, "data": data}),
            state=WAITING,
            due_at=self._stamp(),
        )
        with self._writing() as connection:
            connection.execute(notice)

    # --- delivery ----------------------------------------------------------------------------------------------------

    def due(self, busy: Collection[tuple[str, str]] = (), digest_s: float = 0) -> list[Notice]:
        """The next due notice of each author and channel not in `busy`.

        E-mailed results wait until the oldest is `digest_s` old, no game is left, or an organiser sends them; after a
        failure they do not wait again. See `digest`.
        """
        found: list[Notice] = []
        with self.moment() as inner:
            due = self._all().where(self._is_due())
            if digest_s:
                is_unfinished = games.c.state.in_((GameState.PENDING, GameState.RUNNING))
                unfinished = select(games.c.id).where(games.c.contest == self._contest, is_unfinished).limit(1)
                if inner._first(unfinished) is not None or inner._is_behind():
                    was_ripe = (notices.c.due_at == SEND_NOW) | (notices.c.failures > 0)
                    is_ripe = or_(~self._is_recent(notices.c.at, digest_s), was_ripe)
                    due = due.where(or_(notices.c.channel != MAIL, notices.c.kind != RESULT, is_ripe))
            keys = due.with_only_columns(notices.c.author, notices.c.channel).distinct()
            for author, channel in inner._rows(keys):
                if (author, channel) not in busy:
                    query = due.where(notices.c.author == author, notices.c.channel == channel)
                    found += inner._values(Notice, query.order_by(notices.c.due_at, notices.c.id).limit(1))
        return found

    def digest(self, notice: Notice) -> list[Notice]:
        """Notices in one mail, oldest first: for a result, all waiting results."""
        if notice.channel != MAIL or notice.kind != RESULT:
            return [notice]
        is_mailed_result = (notices.c.author == notice.author, notices.c.channel == MAIL, notices.c.kind == RESULT)
        query = self._all().where(*is_mailed_result, notices.c.state == WAITING)
        return self._values(Notice, query.order_by(notices.c.at, notices.c.id).limit(MAX_DIGEST))

    def sent(self, notice: str) -> None:
        """Ignores a removed notice."""
        with self._writing() as connection:
            connection.execute(update(notices).where(notices.c.id == notice).values(state=SENT, why=""))

    def not_sent(self, notice: str, why: str, allowed: int, again_s: float) -> str:
        """As `fail`; return the new state, which is `GIVEN_UP` for a removed notice."""
        with self.change() as inner:
            if inner._first(self._all().where(notices.c.id == notice)) is None:
                return GIVEN_UP
            return inner.fail(notice, None, why, allowed, again_s).state

    def try_again(self) -> None:
        """Make due now: waiting notices, and those given up because of the organiser's mail server."""
        with self._writing() as connection:
            ours, now = notices.c.contest == self._contest, self._stamp()
            is_waiting = (notices.c.state == WAITING, notices.c.due_at != SEND_NOW)
            connection.execute(update(notices).where(ours, *is_waiting).values(due_at=now))
            by_host = (notices.c.state == GIVEN_UP, notices.c.why.startswith(MAIL_SERVER))
            values = {"state": WAITING, "failures": 0, "due_at": SEND_NOW}
            connection.execute(update(notices).where(ours, *by_host).values(values))

    def of(self, author: str, limit: int) -> list[Notice]:
        """Newest first."""
        query = self._all().where(notices.c.author == author)
        return self._values(Notice, query.order_by(notices.c.at.desc(), notices.c.id).limit(limit))
