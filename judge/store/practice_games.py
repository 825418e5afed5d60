"""Practice games: what passed plays them against house agents, for its author alone; they count for no contest.

They are rows of their own beside the matches of the contest, and no query of a contest reads them. A worker takes a
game as an attempt; only the current attempt can come to an end. Every method is one transaction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, func, insert, select, update

from judge.base.text import sentence
from judge.matches import MatchState
from judge.store.connection import connect, read_one_moment
from judge.store.submission_queries import stamp
from judge.store.submission_types import (
    ENTERS,
    NotNowError,
    TooMuchError,
    UnknownPracticeGameError,
    UnknownSubmissionError,
)
from judge.store.tables import practice_games, submissions

_DAY = timedelta(days=1)

FORGOTTEN = sentence("its record was removed to make room")
"""What is said of a game whose record is not stored any more."""
_OPEN = (MatchState.PENDING, MatchState.RUNNING)


@dataclass(frozen=True, slots=True)
class PracticeGame:
    """A game of a submission's agent; `number` counts those of the submission from 0.

    What follows from `opponent` on is known when it is over, a void too; `seat` is the agent's, `record` a digest.
    """

    id: int
    submission: int
    author: str
    number: int
    asked_at: str
    state: MatchState
    attempt: int
    failures: int
    why: str
    agent: str
    opponent: str
    seat: int
    verdict: str
    winner: int | None
    reason: str
    record: str | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class PracticeResult:
    """How a game ended; its record is on disk."""

    agent: str
    opponent: str
    seat: int
    verdict: str
    winner: int | None
    reason: str
    record: str
    seconds: float


class PracticeGames:
    """The practice games of one contest's submissions. Safe to use from several processes at once."""

    def __init__(self, url: str, contest: str, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Connect and migrate; InputError or HostError as `connect`."""
        self._engine: Engine = connect(url)
        self._contest = contest
        self._now = now

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def ask(self, submission: int, author: str, count: int, per_day: int) -> list[PracticeGame]:
        """Add games of a submission that its author wants; `per_day` bounds those of an author in 24 hours.

        Raises UnknownSubmissionError if it is not the author's, NotNowError if it did not pass or its games are not
        over yet, TooMuchError, and then nothing has changed.
        """
        with self._engine.begin() as connection:
            # The row of the submission is locked, and with it all that is counted here.
            mine = select(submissions).where(submissions.c.contest == self._contest, submissions.c.author == author)
            rows = connection.execute(mine.with_for_update()).all()
            row = next((row for row in rows if row.id == submission), None)
            if row is None:
                raise UnknownSubmissionError(f"there is no submission {submission} in {self._contest!r}")
            if row.state not in ENTERS:
                raise NotNowError(f"submission {submission} is {row.state}: only an agent that passed plays")
            asked = self._all().where(practice_games.c.author == author)
            if _count(connection, asked.where(practice_games.c.submission == submission, _is_open())):
                raise NotNowError(f"games of submission {submission} are still to be played: wait for them")
            recent = practice_games.c.asked_at > stamp(self._now() - _DAY)
            if _count(connection, asked.where(practice_games.c.by_author, recent)) + count > per_day:
                raise TooMuchError(
                    f"an author may ask for {per_day} practice games in 24 hours: come back later",
                    int(_DAY.total_seconds()) // max(1, per_day),
                )
            add_practice_games(connection, row, count, stamp(self._now()), by_author=True)
        return self.of(submission, author)

    def of(self, submission: int, author: str) -> list[PracticeGame]:
        """The games of an author's submission, the last one first; none if it is not the author's."""
        query = self._all().where(practice_games.c.author == author, practice_games.c.submission == submission)
        with self._engine.connect() as connection:
            return [_game_of(row) for row in connection.execute(query.order_by(practice_games.c.id.desc()))]

    def get(self, number: int, author: str) -> PracticeGame:
        """One game of an author. Raises UnknownPracticeGameError."""
        query = self._all().where(practice_games.c.author == author, practice_games.c.id == number)
        with self._engine.connect() as connection:
            row = connection.execute(query).first() if 0 < number < 1 << 63 else None
        if row is None:
            raise UnknownPracticeGameError(f"there is no practice game {number} in {self._contest!r}")
        return _game_of(row)

    def is_due(self) -> bool:
        """Whether a game waits for a slot; it is asked again and again, and keeps nobody from writing."""
        with self._engine.connect() as connection:
            return read_one_moment(connection).execute(self._all().where(_is_pending()).limit(1)).first() is not None

    def take(self, worker: str) -> PracticeGame | None:
        """Give a worker the next game, as a new attempt; None if there is none.

        The first games of all submissions come before the second ones. Those of what was withdrawn are cancelled.
        """
        with self._engine.begin() as connection:
            gone = select(submissions.c.id).where(submissions.c.state.not_in(ENTERS))
            connection.execute(
                update(practice_games)
                .where(self._is_ours(), _is_pending(), practice_games.c.submission.in_(gone))
                .values(state=MatchState.CANCELLED, why="the submission was withdrawn")
            )
            waiting = self._all().where(_is_pending()).order_by(practice_games.c.number, practice_games.c.id).limit(1)
            row = connection.execute(waiting.with_for_update(skip_locked=True)).first()
            if row is None:
                return None
            values = {"state": MatchState.RUNNING, "attempt": row.attempt + 1, "worker": worker}
            connection.execute(update(practice_games).where(practice_games.c.id == row.id).values(values))
            return _game_of(connection.execute(self._all().where(practice_games.c.id == row.id)).one())

    def finish(self, number: int, attempt: int, result: PracticeResult) -> None:
        """Record the result of the current attempt; of another one nothing is kept."""
        with self._engine.begin() as connection:
            connection.execute(
                update(practice_games)
                .where(*self._current(number, attempt))
                .values(
                    state=MatchState.DONE,
                    why="",
                    ended_at=stamp(self._now()),
                    **{field: getattr(result, field) for field in PracticeResult.__dataclass_fields__},
                )
            )

    def give_up_slot(self, number: int, attempt: int) -> None:
        """A game of the contest wanted the slot: it is played again, and that counts for nothing."""
        with self._engine.begin() as connection:
            values = {"state": MatchState.PENDING, "why": "it waits for a free slot"}
            connection.execute(update(practice_games).where(*self._current(number, attempt)).values(values))

    def fail(self, number: int, attempt: int, why: str, allowed: int) -> None:
        """The host failed, or the worker was lost: it is played again, or held after `allowed` times."""
        with self._engine.begin() as connection:
            row = connection.execute(select(practice_games).where(*self._current(number, attempt))).first()
            if row is not None:
                _fail(connection, row, why, allowed)

    def give_back(self, is_gone: Callable[[str], bool], allowed: int) -> list[int]:
        """What workers that are gone were playing is played again: the numbers. Held after `allowed` times."""
        with self._engine.begin() as connection:
            playing = self._all().where(practice_games.c.state == MatchState.RUNNING)
            lost = [row for row in connection.execute(playing) if is_gone(row.worker)]
            for row in lost:
                _fail(connection, row, "the judge that played it was stopped", allowed)
            return [row.id for row in lost]

    def forget_records(self, days: float, remove: Callable[[str], None]) -> int:
        """Forget the records of games that ended so many days ago, each after its file was given to `remove` by its
        digest; how many. Killed in between it does the same again. Raises what `remove` raises."""
        before = stamp(self._now() - timedelta(days=days))
        old = self._all().where(practice_games.c.record.is_not(None), practice_games.c.ended_at < before)
        with self._engine.connect() as connection:
            found = read_one_moment(connection).execute(old).all()
        for row in found:
            remove(row.record)
            with self._engine.begin() as connection:
                connection.execute(
                    update(practice_games).where(practice_games.c.id == row.id).values(record=None, why=FORGOTTEN)
                )
        return len(found)

    def _is_ours(self) -> Any:
        return practice_games.c.contest == self._contest

    def _all(self) -> Select[Any]:
        return select(practice_games).where(self._is_ours())

    def _current(self, number: int, attempt: int) -> tuple[Any, ...]:
        return (
            self._is_ours(),
            practice_games.c.id == number,
            practice_games.c.attempt == attempt,
            practice_games.c.state == MatchState.RUNNING,
        )


def add_practice_games(connection: Connection, submission: Row[Any], count: int, at: str, *, by_author: bool) -> None:
    """Add games of a submission, in the transaction of its caller; `by_author`: the author has asked for them."""
    last = connection.scalar(
        select(func.max(practice_games.c.number)).where(practice_games.c.submission == submission.id)
    )
    first = 0 if last is None else last + 1
    rows = [
        {
            "contest": submission.contest,
            "submission": submission.id,
            "author": submission.author,
            "number": number,
            "by_author": by_author,
            "asked_at": at,
            "state": MatchState.PENDING,
            "attempt": 0,
            "failures": 0,
            "worker": "",
            "why": "",
            "agent": submission.name,
            "opponent": "",
            "seat": 0,
            "verdict": "",
            "reason": "",
        }
        for number in range(first, first + count)
    ]
    if rows:
        connection.execute(insert(practice_games), rows)


def _fail(connection: Connection, row: Row[Any], why: str, allowed: int) -> None:
    failures = row.failures + 1
    state = MatchState.PENDING if failures < allowed else MatchState.HELD
    values = {"state": state, "why": why, "failures": failures}
    connection.execute(update(practice_games).where(practice_games.c.id == row.id).values(values))


def _is_open() -> Any:
    return practice_games.c.state.in_(_OPEN)


def _is_pending() -> Any:
    return practice_games.c.state == MatchState.PENDING


def _count(connection: Connection, query: Select[Any]) -> int:
    return connection.scalar(select(func.count()).select_from(query.subquery())) or 0


def _game_of(row: Row[Any]) -> PracticeGame:
    values = {field: getattr(row, field) for field in PracticeGame.__dataclass_fields__}
    return PracticeGame(**{**values, "state": MatchState(row.state)})
