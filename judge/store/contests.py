"""A contest's games, attempts and results.

Only a game's current attempt can have a result; late ones are stored for audit. Each method is one transaction, durable
when it returns.
"""

import hashlib
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, func, insert, select, update

from judge.base.errors import HostError, InputError
from judge.contest_games import OPEN_STATES, AttemptState, GameState, Outcome, Pairing, ScheduledGame, schedule_digest
from judge.games.types import Verdict
from judge.journal.codec import Event
from judge.journal.events import (
    Abandoned,
    Accepted,
    Annulled,
    AttemptEvent,
    Disqualified,
    Entered,
    GameReleased,
    GamesReleased,
    Moment,
    Paused,
    Resumed,
    Revealed,
    RoundPlayed,
    Scheduled,
    SeasonEnded,
    Started,
    Stopped,
    Superseded,
    Voided,
    Withdrawn,
    cut,
)
from judge.journal.sentences import text_of
from judge.store.contest_start import ContestStart
from judge.store.database import AdvisoryLock, columns_of, stamp, value_of
from judge.store.lease import LEASE_HOLDER, Lease
from judge.store.orders import TakesOrders
from judge.store.queries import announced_row, contest_row
from judge.store.tables import attempts, contests, entries, files, games, journal, pairings, results
from judge.store.types import MAX_CLOCK_STEP, EntryRow, FileKind, cancellation

_GAME = select(games).where(games.c.id == bindparam("of_id"))
_IN_STATE = (
    select(games.c.number, games.c.id, games.c.first, games.c.second, games.c.state)
    .where(games.c.contest == bindparam("of_contest"), games.c.state == bindparam("of_state"))
    .order_by(games.c.number)
)
_FIRST_IN_STATE = _IN_STATE.limit(1)
_GAMES_BETWEEN = select(games.c.id).where(
    games.c.contest == bindparam("of_contest"), games.c.number.between(bindparam("low"), bindparam("high"))
)
_PLACES = select(pairings.c.round, pairings.c.table).where(
    pairings.c.contest == bindparam("of_contest"),
    pairings.c.round.in_(bindparam("rounds", expanding=True)),
    pairings.c.table.between(bindparam("low"), bindparam("high")),
)


class Store(ContestStart, TakesOrders):
    """Safe to use from several processes."""

    _lease: Lease | None = None

    @contextmanager
    def lease(self, contest: str, holder: str) -> Iterator[None]:
        """Hold the right to run the contest (`judge.store.lease`). Inside, this store writes only with the lease;
        without it, it raises StoreLostError. With SQLite, the lock of the contest's folder is enough.
        """
        if self._engine.dialect.name != "postgresql":
            yield
            return
        with Lease(self._engine, contest, holder) as self._lease:
            try:
                yield
            finally:
                self._lease = None

    def check_lease(self) -> None:
        if self._lease is not None:
            self._lease.check()

    def lease_holder(self, contest: str) -> str | None:
        """The judge that runs the contest, in PostgreSQL."""
        with self._reading() as connection:
            if connection.dialect.name != "postgresql":
                return None
            found = connection.scalar(LEASE_HOLDER, {"key": AdvisoryLock.LEASE.value, "contest": contest})
            return None if found is None else str(found)

    def _begin(self) -> AbstractContextManager[Connection]:
        return self._lease.writing() if self._lease else super()._begin()

    @contextmanager
    def _writing_to(self, contest: str) -> Iterator[Connection]:
        """A transaction in which the row of a begun contest is locked."""
        with self._writing() as connection:
            contest_row(connection, contest, locked=True)
            yield connection

    # --- the files of a contest --------------------------------------------------------------------------------------

    def keep(self, contest: str, kind: FileKind, digest: str, data: bytes) -> None:
        """Copy a file into the database. Does nothing with SQLite."""
        if not self.keeps_files:
            return
        from sqlalchemy.dialects.postgresql import insert as upsert

        with self._writing() as connection:
            values = {"contest": contest, "kind": kind, "digest": digest, "data": data}
            connection.execute(upsert(files).values(**values).on_conflict_do_nothing())

    # --- a contest and its schedule ----------------------------------------------------------------------------------

    def set_state(self, contest: str, event: Resumed | Paused | Stopped) -> None:
        """Only an open contest issues games."""
        with self._writing_to(contest) as connection:
            connection.execute(update(contests).where(contests.c.name == contest).values(state=event.NAME))
            self._tell(connection, contest, event)

    def remark(self, contest: str, event: Event) -> None:
        """Write to the journal."""
        with self._writing_to(contest) as connection:
            self._tell(connection, contest, event)

    def log_once(self, name: str, event: Event, who: str) -> bool:
        """Write to an announced contest's journal unless it repeats the last event of its class, and of its agent if it
        has one; return whether it was written. Raises InputError if the contest is not announced.
        """
        with self._writing() as connection:
            if announced_row(connection, name, locked=True) is None:
                raise InputError(f"contest {name!r} was not announced")
            changes = (line.change for line in self._inside(connection).last_lines(name, None, type(event)))
            agent = getattr(event, "agent", None)
            if next((each for each in changes if getattr(each, "agent", None) == agent), None) == event:
                return False
            self._tell(connection, name, event, who=who)
            return True

    def disqualify(self, contest: str, agent: str, why: str) -> None:
        """Its results do not count; its other games are cancelled."""
        refusal = f"no agent {agent!r} takes part in {contest!r}, or it is disqualified already"
        self._take_out(contest, Disqualified(agent, why), refusal, {"disqualified": why})

    def withdraw(self, contest: str, agent: str, why: str, *, is_annulled: bool) -> None:
        """`is_annulled`: as after a disqualification. Raises InputError if it does not take part now."""
        refusal = f"{agent!r} does not take part in {contest!r}, or no longer"
        values = {"withdrawn": why, "is_annulled": is_annulled}
        self._take_out(contest, Withdrawn(agent, why), refusal, values, entries.c.withdrawn.is_(None))

    def _take_out(
        self,
        contest: str,
        event: Disqualified | Withdrawn,
        refusal: str,
        values: Mapping[str, object],
        *conditions: ColumnElement[bool],
    ) -> None:
        with self._writing_to(contest) as connection:
            of_agent = (entries.c.contest == contest, entries.c.name == event.agent, entries.c.disqualified.is_(None))
            if not connection.execute(update(entries).where(*of_agent, *conditions).values(values)).rowcount:
                raise InputError(refusal)
            _cancel(connection, contest)
            self._tell(connection, contest, event)
            self._note_round(connection, contest)

    def enter(self, contest: str, row: EntryRow, why: str) -> None:
        """Add an entry after the start. Raises InputError if its name is taken."""
        with self._writing_to(contest) as connection:
            taken = select(entries.c.name).where(entries.c.contest == contest)
            if row.name.casefold() in map(str.casefold, connection.scalars(taken)):
                raise InputError(f"{row.name!r} takes part in {contest!r} already")
            connection.execute(insert(entries).values(contest=contest, **asdict(row)))
            digest = hashlib.sha256(row.entry.encode()).hexdigest()
            self._tell(connection, contest, Entered(row.name, why), digest=digest)

    def schedule(
        self,
        contest: str,
        new: Sequence[ScheduledGame],
        pairs: Sequence[Pairing] = (),
        after: int | None = None,
        ends: datetime | None = None,
    ) -> bool:
        """Add games and pairings; existing ones stay unchanged. Does nothing and returns False if `after` is given and
        is not the journal's last line number. From `ends` on, ends the season and returns False.
        """
        with self._writing_to(contest) as connection:
            if after is not None and self._inside(connection).journal_end(contest) != after:
                return False
            # The line's time must not be after the check's.
            now = None if ends is None else self._time_of_next_line(connection, contest)
            if ends is not None and now is not None and now >= ends:
                self._tell(connection, contest, SeasonEnded(ends=Moment.of(ends.astimezone(UTC))))
                return False
            rounds = {"rounds": list({pair.round for pair in pairs})}
            places = connection.execute(_PLACES, {**rounds, **_bounds(contest, [pair.table for pair in pairs])})
            known = {(row.round, row.table) for row in places}
            new_pairs = [pair for pair in pairs if (pair.round, pair.table) not in known]
            if new_pairs:
                connection.execute(insert(pairings), [{"contest": contest, **asdict(pair)} for pair in new_pairs])
            there = set(connection.scalars(_GAMES_BETWEEN, _bounds(contest, [game.number for game in new])))
            added = [game for game in new if game.id not in there]
            if added:
                connection.execute(insert(games), [{"contest": contest, **asdict(game)} for game in added])
                digest = schedule_digest(added)
                played_in = min(game.round for game in added)
                self._tell(connection, contest, Scheduled(len(added)), digest=digest, at=now, played_in=played_in)
            return True

    # --- withheld results --------------------------------------------------------------------------------------------

    def withhold(self, contest: str) -> None:
        """Withhold the results of the rounds of which no game has begun, unless some are or were withheld."""
        with self._writing() as connection:
            row = contest_row(connection, contest, locked=True)
            if row.withheld_from is None and not row.is_frozen:
                begun = select(func.max(games.c.round)).where(games.c.contest == contest, games.c.attempt > 0)
                first = (connection.scalar(begun) or 0) + 1
                connection.execute(update(contests).where(contests.c.name == contest).values(withheld_from=first))

    def reveal(self, contest: str, why: str, last: int | None) -> None:
        """Make the results up to round `last` public, or all. Raises InputError if it changes nothing."""
        with self._writing() as connection:
            row = contest_row(connection, contest, locked=True)
            if row.withheld_from is None or not row.is_frozen:
                raise InputError(f"no results of {contest!r} are withheld")
            if last is not None and last < row.withheld_from:
                raise InputError(f"round {last} is public: the first withheld one is {row.withheld_from}")
            event = Revealed(why, last)
            self._tell(connection, contest, event)
            of_contest = update(contests).where(contests.c.name == contest)
            connection.execute(of_contest.values(withheld_from=event.withheld_from))

    def _note_round(self, connection: Connection, contest: str) -> None:
        """Write that a withheld round has ended."""
        row = contest_row(connection, contest)
        if row.withheld_from is None or not row.is_frozen:
            return
        of_contest = games.c.contest == contest
        is_left = games.c.state.in_(OPEN_STATES)
        left = connection.scalar(select(func.min(games.c.round)).where(of_contest, is_left))
        last = connection.scalar(select(func.max(games.c.round)).where(of_contest)) if left is None else left - 1
        if last is None or last < row.withheld_from:
            return
        written = self._inside(connection).last_lines(contest, 1, RoundPlayed)
        if not written or written[0].change != RoundPlayed(last):
            self._tell(connection, contest, RoundPlayed(last))

    # --- issue, accept, roll back ------------------------------------------------------------------------------------

    def issue(
        self,
        contest: str,
        host: str,
        alone: frozenset[str] = frozenset(),
        slot: str = "",
        ranks: Mapping[str, float] | None = None,
    ) -> ScheduledGame | None:
        """Issue the next game as a new attempt.

        Agents in `alone` play one game at a time, in schedule order but for held games. Raises HostError if the time of
        the game's record would contradict the log.
        """
        with self._writing() as connection:
            if contest_row(connection, contest, locked=True).state != "open":
                return None
            of = games.c
            playing = select(of.first, of.second).where(of.contest == contest, of.state == GameState.RUNNING)
            busy = {agent for row in connection.execute(playing) for agent in row} & alone if alone else set()
            pending = {"of_contest": contest, "of_state": GameState.PENDING}
            if ranks is not None and not alone:
                by_need = min(
                    connection.execute(_IN_STATE, pending),
                    key=lambda row: (ranks.get(row.first, -math.inf) + ranks.get(row.second, -math.inf), row.number),
                    default=None,
                )
                return None if by_need is None else self._start(connection, contest, by_need.id, host, slot)
            for row in connection.execute(_IN_STATE if alone else _FIRST_IN_STATE, pending):
                if not busy & {row.first, row.second}:
                    return self._start(connection, contest, row.id, host, slot)
                busy |= {row.first, row.second} & set(alone)
            return None

    def _start(self, connection: Connection, contest: str, game: str, host: str, slot: str) -> ScheduledGame:
        row = connection.execute(_GAME, {"of_id": game}).one()
        attempt = row.attempt + 1
        self._refuse_slow_clock(connection, contest)
        connection.execute(update(games).where(games.c.id == row.id).values(state=GameState.RUNNING, attempt=attempt))
        place = {"game": row.id, "number": attempt, "host": host, "slot": slot}
        new = {"state": AttemptState.RUNNING, "why": "", "started_at": self._stamp()}
        connection.execute(insert(attempts), place | new)
        self._tell(connection, contest, Started(row.id, attempt, row.first, row.second))
        return replace(value_of(ScheduledGame, row), state=GameState.RUNNING, attempt=attempt)

    def _refuse_slow_clock(self, connection: Connection, contest: str) -> None:
        """The newest time may be of a clock that was ahead; the one before it is not."""
        of_contest = journal.c.contest == contest
        newest = stamp(self._time_of_next_line(connection, contest))
        earliest = stamp(self._now() + MAX_CLOCK_STEP)
        if newest <= earliest:
            return
        before = connection.scalar(select(func.max(journal.c.at)).where(of_contest, journal.c.at < newest))
        if before is not None and before > earliest:
            raise HostError(
                f"the clock of this machine shows {stamp(self._now())}, and the log of {contest} has one of {before}: "
                "set the clock, or no record could be verified"
            )

    def played_by(self, game: str, attempt: int, host: str) -> None:
        """Store an attempt's machine, if unknown at its start."""
        with self._writing() as connection:
            of_attempt = (attempts.c.game == game, attempts.c.number == attempt)
            connection.execute(update(attempts).where(*of_attempt).values(host=host))

    def accept(self, game: str, attempt: int, outcome: Outcome, host: str = "") -> AttemptState:
        """Accept the current attempt's result, unless the game has one.

        Returns ACCEPTED, also if repeated, or SUPERSEDED. Raises ValueError for a void.
        """
        if outcome.verdict == Verdict.VOID:
            raise ValueError("a void is no result: it is played again")
        with self._writing() as connection:
            row = _game(connection, game)
            done = connection.execute(select(results).where(results.c.game == game)).first()
            if done is not None and done.attempt == attempt:
                return AttemptState.ACCEPTED
            if row.attempt != attempt or row.state != GameState.RUNNING:
                superseded = Superseded(game, attempt, cut(outcome.reason))
                self._end(connection, row, superseded, outcome.record, outcome.public, host)
                return AttemptState.SUPERSEDED
            pair = (row.first, row.second)
            winner = None if outcome.winner is None else pair[outcome.winner]
            accepted = Accepted.of_result(game, attempt, pair, winner, outcome.reason)
            self._end(connection, row, accepted, outcome.record, outcome.public, host)
            values = {"game": game, "attempt": attempt, "finished_at": self._stamp(), **columns_of(results, outcome)}
            for number, seat in enumerate(outcome.seats):
                values |= {f"{name}_{number}": value for name, value in asdict(seat).items()}
            connection.execute(insert(results), values)
            connection.execute(update(games).where(games.c.id == game).values(state=GameState.DONE, why=""))
            self._note_round(connection, row.contest)
            return AttemptState.ACCEPTED

    def void(
        self,
        game: str,
        attempt: int,
        why: str,
        record: str | None,
        allowed: int,
        public: str | None = None,
        host: str = "",
    ) -> GameState | None:
        """Mark an attempt as void; return the game's new state: pending, held after `allowed` voids in a row, or
        cancelled if an agent is out. None if the game's state did not change.

        `record` and `public` are digests. If the attempt is not current, only its own row changes.
        """
        why = cut(why)
        with self._writing() as connection:
            row = _game(connection, game)
            of_attempt = (attempts.c.game == game, attempts.c.number == attempt)
            if connection.scalar(select(attempts.c.state).where(*of_attempt)) == AttemptState.VOID:
                return None
            is_current = row.attempt == attempt and row.state == GameState.RUNNING
            ended = (Voided if is_current else Superseded)(game, attempt, why)
            self._end(connection, row, ended, record, public, host)
            if not is_current:
                return None
            state = GameState.HELD if _voids_in_a_row(connection, game) >= allowed else GameState.PENDING
            connection.execute(update(games).where(games.c.id == game).values(state=state, why=why))
            _cancel(connection, row.contest)
            self._note_round(connection, row.contest)
            return GameState(_game(connection, game).state)

    def roll_back(self, contest: str, why: str, but: Collection[tuple[str, int]] = ()) -> int:
        """Abandon running attempts except `but` (game, attempt), so their games are pending; return their number."""
        with self._writing_to(contest) as connection:
            is_running = (games.c.contest == contest, games.c.state == GameState.RUNNING)
            found = connection.execute(select(games).where(*is_running)).all()
            running = [row for row in found if (row.id, row.attempt) not in but]
            for row in running:
                self._end(connection, row, Abandoned(row.id, row.attempt, cut(why)), None)
                connection.execute(update(games).where(games.c.id == row.id).values(state=GameState.PENDING))
            _cancel(connection, contest)
            self._note_round(connection, contest)
            return len(running)

    def annul(self, game: str, why: str, attempt: int | None = None) -> GameState:
        """Withdraw a result: the game is pending, or cancelled if an agent is out.

        Raises InputError if it is neither played nor running, or `attempt` is not current.
        """
        with self._writing() as connection:
            row = _game(connection, game)
            if attempt not in (None, row.attempt):
                raise InputError(
                    f"game {row.number} was replayed: attempt {row.attempt} is the current one, "
                    f"not {attempt}; reload it"
                )
            if row.state not in (GameState.DONE, GameState.RUNNING):
                raise InputError(f"game {game} is {row.state}: it has no result to withdraw")
            connection.execute(results.delete().where(results.c.game == game))
            self._end(connection, row, Annulled(game, row.attempt, why), None)
            connection.execute(update(games).where(games.c.id == game).values(state=GameState.PENDING, why=why))
            _cancel(connection, row.contest)
            self._note_round(connection, row.contest)
            return GameState(_game(connection, game).state)

    def release(self, contest: str, why: str, game: str | None = None, but: Collection[str] = ()) -> int:
        """Release the held games, or `game`, except `but`; return their number. One more void holds a game again."""
        with self._writing_to(contest) as connection:
            is_held = (games.c.contest == contest) & (games.c.state == GameState.HELD) & games.c.id.not_in(but)
            if game is not None:
                is_held &= games.c.id == game
            released = connection.execute(update(games).where(is_held).values(state=GameState.PENDING)).rowcount
            if released:
                event = GamesReleased(released, why) if game is None else GameReleased(game, why)
                self._tell(connection, contest, event)
            return released

    def _end(
        self,
        connection: Connection,
        game: Row[Any],
        event: AttemptEvent,
        record: str | None,
        public: str | None = None,
        host: str = "",
    ) -> None:
        state = AttemptState(str(event.NAME))
        values: dict[str, Any] = {"state": state, "why": text_of(event), "ended_at": self._stamp()}
        if record is not None:
            values["record"] = record
        if host:
            values["host"] = host
        of_attempt = (attempts.c.game == game.id, attempts.c.number == event.attempt)
        if not connection.execute(update(attempts).where(*of_attempt).values(**values)).rowcount:
            raise InputError(f"game {game.id} has no attempt {event.attempt}")
        self._tell(connection, game.contest, event, digest=public)


def _bounds(contest: str, numbers: Sequence[int]) -> dict[str, Any]:
    return {"of_contest": contest, "low": min(numbers, default=0), "high": max(numbers, default=-1)}


def _game(connection: Connection, game: str) -> Row[Any]:
    """Locked after its contest's row, as in all transactions."""
    contest = connection.scalar(select(games.c.contest).where(games.c.id == game))
    if contest is None:
        raise InputError(f"there is no game {game!r} in this store")
    contest_row(connection, contest, locked=True)
    return connection.execute(_GAME, {"of_id": game}).one()


def _cancel(connection: Connection, contest: str) -> None:
    is_out = entries.c.disqualified.is_not(None) | entries.c.is_annulled
    is_left = (games.c.contest == contest, games.c.state.in_((GameState.PENDING, GameState.HELD)))
    for entry in connection.execute(select(entries).where(entries.c.contest == contest, is_out)).all():
        plays = (games.c.first == entry.name) | (games.c.second == entry.name)
        why = cancellation(entry.name, entry.disqualified, entry.withdrawn)
        connection.execute(update(games).where(*is_left, plays).values(state=GameState.CANCELLED, why=why))


def _voids_in_a_row(connection: Connection, game: str) -> int:
    """Abandoned attempts do not count."""
    is_counted = (attempts.c.game == game, attempts.c.state != AttemptState.ABANDONED)
    states = connection.scalars(select(attempts.c.state).where(*is_counted).order_by(attempts.c.number.desc()))
    return sum(1 for _ in takewhile(lambda state: state == AttemptState.VOID, states))
