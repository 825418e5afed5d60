"""Practice games of passed submissions: against house agents, or challenges.

A queue (`judge.store.queue`). Each method is one transaction.
"""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy import Connection, Row, Select, func, insert, select, update

from judge.base.text import nearest, sentence
from judge.contest_games import GameState
from judge.store.database import stamp, value_of
from judge.store.files import Files
from judge.store.queries import Reader
from judge.store.queue import Queue
from judge.store.tables import entries, practice_games, submissions
from judge.store.types import ENTERS, NotFoundError, NotNowError, Private, TooMuchError, wire_config

_DAY_S = 86_400

FORGOTTEN = sentence("its record was removed to make room")
GONE = sentence("its opponent no longer takes part")
REPLACED = sentence("a newer version of the agent passed")
_OPEN = (GameState.PENDING, GameState.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeGame:
    """`number` counts from 0 per submission.

    Fields from `opponent` on are set at the end, also of a void; `record` is a digest. Its author receives the fields
    that are not private.
    """

    __pydantic_config__ = wire_config(
        "A practice game of a submission against a house agent, or a challenge; it counts for nothing."
    )

    id: int
    state: GameState
    why: Annotated[str, Field(description="Why it is not played yet; the host's failures are in the organiser's log.")]
    agent: str
    challenged: Annotated[str, Field(description="The opponent that you chose; empty for a practice game.")] = ""
    opponent: Annotated[str, Field(description="Empty until a practice game is over, as all that follows.")]
    seat: Annotated[int, Field(description="The agent's: 0 moves first.")]
    verdict: str
    winner: Annotated[int | None, Field(description="A seat.")]
    reason: str
    seconds: float | None
    submission: Private[int] = 0
    author: Private[str] = ""
    number: Private[int] = 0
    attempt: Private[int] = 0
    failures: Private[int] = 0
    record: Private[str | None] = None


@dataclass(frozen=True, slots=True)
class PracticeResult:
    """Its record is on disk."""

    agent: str
    opponent: str
    seat: int
    verdict: str
    winner: int | None
    reason: str
    record: str
    seconds: float


class PracticeGames(Queue[PracticeGame]):
    """A contest's practice games."""

    table = practice_games
    kind = PracticeGame
    waiting = retried = GameState.PENDING
    running = GameState.RUNNING
    given_up = GameState.HELD
    backoff = 1
    lost = "the judge that played it was stopped"

    def ask(self, submission: int, author: str, wanted: int, per_day: int) -> list[PracticeGame]:
        """Add games, at most `per_day` in 24 hours.

        Raises NotFoundError for another author's submission, NotNowError if it did not pass or has games left,
        or TooMuchError.
        """
        with self._writing() as connection:
            inner = self._inside(connection)
            row = inner._passed(submission, author)
            asked = self._requested_by(author).where(practice_games.c.challenged == "")
            is_open = (practice_games.c.submission == submission, practice_games.c.state.in_(_OPEN))
            if inner._count(asked.where(*is_open)):
                raise NotNowError(f"games of submission {submission} are still to be played: wait for them")
            inner._refuse_more(asked.where(practice_games.c.by_author), wanted, per_day, "practice games")
            add_practice_games(connection, row, wanted, stamp(self._now()), by_author=True)
        return self.of(submission, author)

    def challenge(self, submission: int, author: str, opponent: str, per_day: int) -> None:
        """Add a game against an agent that takes part, at most `per_day` in 24 hours. Raises as `ask`."""
        with self._writing() as connection:
            inner = self._inside(connection)
            row = inner._passed(submission, author)
            entered = Reader.from_part(inner).entries(self._contest)
            active = {each.name.lower(): each for each in entered if each.is_active}
            found = active.get(opponent.lower())
            if found is None:
                near = nearest(opponent.lower(), active)
                hint = f"did you mean {active[near[0]].name!r}?" if near else "choose another opponent"
                raise NotNowError(f"{opponent[:64]} does not take part: {hint}")
            if found.submission == submission:
                raise NotNowError("an agent does not play against itself: choose another opponent")
            if any(each.disqualified is not None and each.submission == submission for each in entered):
                raise NotNowError("a disqualified agent plays no challenges")
            asked = self._requested_by(author).where(practice_games.c.challenged != "")
            inner._refuse_more(asked, 1, per_day, "challenges")
            add_practice_games(connection, row, 1, stamp(self._now()), by_author=True, challenged=found.name)

    def challenges(self, author: str, limit: int) -> list[PracticeGame]:
        """Newest first."""
        query = self._requested_by(author).where(practice_games.c.challenged != "")
        return self._values(PracticeGame, query.order_by(practice_games.c.id.desc()).limit(limit))

    def _refuse_more(self, asked: Select[Any], wanted: int, per_day: int, games: str) -> None:
        recent = self._is_recent(practice_games.c.asked_at, _DAY_S)
        if self._count(asked.where(recent)) + wanted > per_day:
            words = f"an author may request {per_day} {games} in 24 hours: try again later"
            raise TooMuchError(words, _DAY_S // max(1, per_day))

    def _requested_by(self, author: str) -> Select[Any]:
        return self._all().where(practice_games.c.author == author)

    def _passed(self, submission: int, author: str) -> Row[Any]:
        # Only inside a transaction: its lock protects the author's counts.
        mine = select(submissions).where(submissions.c.contest == self._contest, submissions.c.author == author)
        row = next((row for row in self._rows(mine.with_for_update()) if row.id == submission), None)
        if row is None:
            raise NotFoundError(f"there is no submission {submission} in {self._contest!r}")
        if row.state not in ENTERS:
            raise NotNowError(f"submission {submission} is {row.state}: only an agent that passed plays")
        return row

    def of(self, submission: int, author: str) -> list[PracticeGame]:
        """Newest first; empty for another author's submission."""
        query = self._requested_by(author).where(practice_games.c.submission == submission)
        return self._values(PracticeGame, query.order_by(practice_games.c.id.desc()))

    def get(self, number: int, author: str) -> PracticeGame:
        """Raises NotFoundError."""
        row = (
            self._first(self._requested_by(author).where(practice_games.c.id == number))
            if 0 < number < 1 << 63
            else None
        )
        if row is None:
            raise NotFoundError(f"there is no practice game {number} in {self._contest!r}")
        return value_of(PracticeGame, row)

    def is_due(self) -> bool:
        return self._first(self._all().where(self._is_due()).limit(1)) is not None

    def take(self, worker: str) -> PracticeGame | None:
        """Give a worker the next game, as a new attempt.

        The author with the fewest attempts in the last 24 hours is first. Withdrawn submissions' games are cancelled.
        """
        with self._writing() as connection:
            active = select(entries.c.name).where(
                entries.c.contest == self._contest, entries.c.disqualified.is_(None), entries.c.withdrawn.is_(None)
            )
            withdrawn = select(submissions.c.id).where(submissions.c.state.not_in(ENTERS))
            is_pending = (practice_games.c.contest == self._contest, practice_games.c.state == GameState.PENDING)
            pending = update(practice_games).where(*is_pending)
            for is_gone, why in (
                ([practice_games.c.submission.in_(withdrawn)], "the submission was withdrawn"),
                ([practice_games.c.challenged != "", practice_games.c.challenged.not_in(active)], GONE),
            ):
                connection.execute(pending.where(*is_gone).values(state=GameState.CANCELLED, why=why))
            inner = self._inside(connection)
            due = inner._all().where(inner._is_due())
            for author in inner._turns(due):
                games = due.where(practice_games.c.author == author)
                ordered = games.order_by(practice_games.c.number, practice_games.c.id).limit(1)
                row = connection.execute(ordered.with_for_update(skip_locked=True)).first()
                if row is not None:
                    return self._take(connection, row, worker, row.why)
            return None

    def _turns(self, due: Select[Any]) -> list[str]:
        """Authors of due games by their recent attempts, and then in the order of the requests."""
        author, state = practice_games.c.author, practice_games.c.state
        is_counted = state.in_(_OPEN) | self._is_recent(practice_games.c.ended_at, _DAY_S)
        attempts = func.sum(practice_games.c.attempt)
        counts = self._all().where(is_counted).with_only_columns(author, attempts).group_by(author)
        recent = {row[0]: row[1] for row in self._rows(counts)}
        first = func.min(practice_games.c.id)
        waiting = self._rows(due.with_only_columns(author).group_by(author).order_by(first))
        return sorted((row.author for row in waiting), key=lambda each: recent.get(each, 0))

    def finish(self, number: int, attempt: int, result: PracticeResult) -> None:
        """Ignores attempts that are not current."""
        with self._writing() as connection:
            row = self._current(connection, number, attempt)
            if row is not None:
                self._change(connection, row, GameState.DONE, "", ended_at=self._stamp(), **asdict(result))

    def forget_records(self, days: float, files: Files) -> int:
        """Forget and remove records of games that ended `days` ago; return their number. Repeatable after a kill."""
        before = stamp(self._now() - timedelta(days=days))
        old = self._all().where(practice_games.c.record.is_not(None), practice_games.c.ended_at < before)
        found = self._rows(old)
        for row in found:
            files.remove(row.record)
            of_game = update(practice_games).where(practice_games.c.id == row.id)
            with self._writing() as connection:
                connection.execute(of_game.values(record=None, why=FORGOTTEN))
        return len(found)


def cancel_practice_games(connection: Connection, replaced: Select[Any]) -> None:
    """Cancel the games that follow the checks of these submissions' numbers, in the caller's transaction."""
    is_automatic = practice_games.c.by_author.is_(False) & (practice_games.c.state == GameState.PENDING)
    automatic = update(practice_games).where(practice_games.c.submission.in_(replaced), is_automatic)
    connection.execute(automatic.values(state=GameState.CANCELLED, why=REPLACED))


def add_practice_games(
    connection: Connection, submission: Row[Any], wanted: int, at: str, *, by_author: bool, challenged: str = ""
) -> None:
    """Add games in the caller's transaction; `by_author`: on the author's request."""
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
            "state": GameState.PENDING,
            "agent": submission.name,
            "opponent": challenged,
            "challenged": challenged,
        }
        for number in range(first, first + wanted)
    ]
    if rows:
        connection.execute(insert(practice_games), rows)
