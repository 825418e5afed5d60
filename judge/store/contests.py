"""The state of a contest: its matches, which of them is being played as which attempt, and how each ended.

A match is issued, and then either accepted with its result or rolled back. A result counts once, and only for the
current attempt: a result that comes after the match was issued again is stored for audit and changes nothing.
Every method is one transaction, and its changes are on disk when it returns.
"""

import hashlib
import heapq
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, replace
from itertools import takewhile
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from judge.base.errors import InputError
from judge.games.types import Verdict
from judge.matches import Match, MatchState, Outcome, Pairing, schedule_digest
from judge.store.database import columns_of, value_of
from judge.store.lease import Lease
from judge.store.orders import DoneOrder, OrganiserOrder, once
from judge.store.queries import Reader, announced_row, contest_row, pairings_of
from judge.store.tables import attempts, contests, entries, files, journal, matches, pairings, results
from judge.store.types import ANNOUNCED, FROZEN, AttemptState, EntryRow, FileKind


class Store(Reader):
    """One database. Safe to use from several processes at once."""

    _lease: Lease | None = None

    @contextmanager
    def lease(self, contest: str, holder: str) -> Iterator[Lease]:
        """What whoever runs a contest holds, while it does: see `judge.store.lease`. Until its end this store writes
        only while the lease is held: StoreLostError otherwise."""
        with Lease(self._engine, contest, holder) as lease:
            self._lease = lease
            try:
                yield lease
            finally:
                self._lease = None

    def carry_out(self, contest: str, order: OrganiserOrder, do: Callable[["Store"], str]) -> DoneOrder:
        """Carry out an order once: see `judge.store.orders`. `do` is given this store inside the transaction, uses it
        alone, and returns what was done. Raises what it raises, and then nothing has changed."""
        with self._writing() as connection:
            contest_row(connection, contest, locked=True)
            inner = self._inside(connection)
            return once(connection, contest, order, self._stamp, lambda: do(inner))

    def _begin(self) -> AbstractContextManager[Connection]:
        return self._lease.writing() if self._lease else super()._begin()

    # --- the files of a contest --------------------------------------------------------------------------------------

    def keep(self, contest: str, kind: FileKind, digest: str, data: bytes) -> None:
        """Keep a copy of a file in the database, so that another host finds it when the contest's host is lost; once.

        An SQLite database keeps none: it is on the disk of the contest's folder.
        """
        if not self.keeps_files:
            return
        with self._writing() as connection:
            values = {"contest": contest, "kind": kind, "digest": digest, "data": data}
            connection.execute(upsert(files).values(**values).on_conflict_do_nothing())

    # --- a contest and its schedule ----------------------------------------------------------------------------------

    def announce(self, name: str, secret: str | None, commitment: str | None) -> None:
        """Begin the log of a contest with the commitment to its chance, before its entries are known.

        Nothing changes if it has a log or has begun. `secret` and `commitment` are None if the plan fixes a seed.
        """
        with self._writing() as connection:
            if announced_row(connection, name, locked=True) is not None:
                return
            values = {"document": "", "created_at": self._stamp(), "state": ANNOUNCED, "secret": secret}
            connection.execute(insert(contests).values(name=name, **values))
            self._tell(connection, name, ANNOUNCED, "", digest=commitment)

    def announced_secret(self, name: str) -> str | None:
        """The secret of a contest that was announced; None if it was not, or if its seed is fixed."""
        with self._reading() as connection:
            row = announced_row(connection, name)
        return None if row is None else row.secret

    def freeze(self, name: str, digest: str) -> int:
        """Tell who takes part, by a digest, before anything is drawn; the number of leaves up to there.

        The same entries can be frozen again, which changes nothing. Raises InputError for other ones: whoever could
        freeze twice could choose the draw.
        """
        with self._writing() as connection:
            if announced_row(connection, name, locked=True) is None:
                raise InputError(f"contest {name!r} was not announced")
            frozen = select(journal).where(journal.c.contest == name, journal.c.event == FROZEN)
            row = connection.execute(frozen.limit(1)).first()
            if row is None:
                return (self._tell(connection, name, FROZEN, "", digest=digest) or 0) + 1
            if row.digest != digest:
                raise InputError(
                    f"the entries of {name!r} were frozen as others ({row.at}), and whoever freezes them twice could "
                    "choose the draw; bring them back as they were, or begin a contest of another name"
                )
            return int(row.number) + 1

    def create(self, name: str, document: str, entered: Sequence[EntryRow], secret: str | None = None) -> None:
        """Create a contest with its entries, which do not change any more; InputError if there is one of that name.

        `secret` is the secret of its chance, if the document has only a commitment to it.
        """
        values = {"document": document, "created_at": self._stamp(), "state": "open", "secret": secret}
        with self._writing() as connection:
            announced = announced_row(connection, name, locked=True)
            if announced is None:
                connection.execute(insert(contests).values(name=name, **values))
            elif announced.state == ANNOUNCED:
                connection.execute(update(contests).where(contests.c.name == name).values(**values))
            else:
                raise InputError(f"there is a contest {name!r} already; go on with it or take another name")
            for entry in entered:
                connection.execute(insert(entries).values(contest=name, **asdict(entry)))
            digest = hashlib.sha256(f"{document}\n".encode()).hexdigest()
            self._tell(connection, name, "created", f"{len(entered)} entries", digest=digest)

    def set_state(self, contest: str, state: str, why: str) -> None:
        """Open, pause or stop a contest: only an open one issues matches."""
        with self._writing() as connection:
            contest_row(connection, contest, locked=True)
            connection.execute(update(contests).where(contests.c.name == contest).values(state=state))
            self._tell(connection, contest, state, why)

    def remark(self, contest: str, event: str, text: str, match: str | None = None) -> None:
        """Write a line into the contest's log, of a match if one is given."""
        with self._writing() as connection:
            contest_row(connection, contest, locked=True)
            self._tell(connection, contest, event, text, match)

    def tell_once(self, name: str, event: str, text: str, who: str) -> bool:
        """Write a line into the log of a contest that was announced, unless the last line of this event has the same
        text; whether it was written. Raises InputError if it was not announced."""
        with self._writing() as connection:
            if announced_row(connection, name, locked=True) is None:
                raise InputError(f"contest {name!r} was not announced")
            told = select(journal).where(journal.c.contest == name, journal.c.event == event)
            last = connection.execute(told.order_by(journal.c.id.desc()).limit(1)).first()
            if last is not None and last.text == text:
                return False
            self._tell(connection, name, event, text, who=who)
            return True

    def disqualify(self, contest: str, agent: str, why: str) -> None:
        """Disqualify an agent: its results do not count, and its other matches are cancelled."""
        with self._writing() as connection:
            contest_row(connection, contest, locked=True)
            changed = connection.execute(
                update(entries).where(entries.c.contest == contest, entries.c.name == agent).values(disqualified=why)
            )
            if not changed.rowcount:
                raise InputError(f"no agent {agent!r} takes part in {contest!r}")
            _cancel(connection, contest)
            self._tell(connection, contest, "disqualified", f"{agent}: {why}")

    def schedule(self, contest: str, new: Sequence[Match], pairs: Sequence[Pairing] = ()) -> None:
        """Add matches and the pairings that they are of; what is there already is left as it is."""
        with self._writing() as connection:
            contest_row(connection, contest, locked=True)
            known = {(row.round, row.table) for row in connection.execute(pairings_of(contest))}
            pair_rows = [
                {"contest": contest, **asdict(pair)} for pair in pairs if (pair.round, pair.table) not in known
            ]
            if pair_rows:
                connection.execute(insert(pairings), pair_rows)
            there = set(connection.scalars(select(matches.c.id).where(matches.c.contest == contest)))
            added = [match for match in new if match.id not in there]
            if added:
                connection.execute(insert(matches), [{"contest": contest, **asdict(match)} for match in added])
                digest = schedule_digest(added)
                self._tell(connection, contest, "scheduled", f"{len(added)} games", digest=digest)

    # --- issue, fix, roll back ---------------------------------------------------------------------------------------

    def issue(self, contest: str, host: str, alone: frozenset[str] = frozenset(), slot: str = "") -> Match | None:
        """Give out the next match of the schedule as a new attempt; None if there is none.

        `host` and `slot` say where it will be played; empty if nobody knows yet.

        Agents in `alone` play one match at a time, in the order of the schedule: no later match of theirs is given out
        before an earlier one, nor before one that is held.
        """
        with self._writing() as connection:
            if contest_row(connection, contest, locked=True).state != "open":
                return None
            busy = _playing(connection, contest) & alone
            of = matches.c
            columns = (of.number, of.id, of.first, of.second, of.state)
            # Each by itself: then an index has them in their order.
            pending, held = (
                select(*columns).where(of.contest == contest, of.state == state).order_by(of.number)
                for state in (MatchState.PENDING, MatchState.HELD)
            )
            waiting = (pending, held) if alone else (pending.limit(1),)
            for row in heapq.merge(*map(connection.execute, waiting), key=attrgetter("number")):
                if row.state == MatchState.PENDING and not busy & {row.first, row.second}:
                    return self._start(connection, contest, _match(connection, row.id), host, slot)
                busy |= {row.first, row.second} & set(alone)
            return None

    def _start(self, connection: Connection, contest: str, row: Row[Any], host: str, slot: str) -> Match:
        attempt = row.attempt + 1
        connection.execute(
            update(matches).where(matches.c.id == row.id).values(state=MatchState.RUNNING, attempt=attempt)
        )
        values = {"match": row.id, "number": attempt, "state": AttemptState.RUNNING, "host": host, "slot": slot}
        connection.execute(insert(attempts).values(**values, why="", started_at=self._stamp()))
        self._tell(connection, contest, "started", f"{row.first} - {row.second}", row.id, attempt)
        return replace(value_of(Match, row), state=MatchState.RUNNING, attempt=attempt)

    def played_by(self, match: str, attempt: int, host: str) -> None:
        """Say which machine played an attempt, if that was not known when it was issued."""
        with self._writing() as connection:
            of_attempt = (attempts.c.match == match, attempts.c.number == attempt)
            connection.execute(update(attempts).where(*of_attempt).values(host=host))

    def accept(self, match: str, attempt: int, outcome: Outcome) -> AttemptState:
        """Accept the result of an attempt, if it is the current one and the match has no result.

        ACCEPTED, also when this very attempt was accepted already; SUPERSEDED otherwise, and nothing has changed.
        ValueError for a void, which is no result.
        """
        if outcome.verdict == Verdict.VOID:
            raise ValueError("a void is no result: it is played again")
        with self._writing() as connection:
            row = _match(connection, match)
            done = connection.execute(select(results).where(results.c.match == match)).first()
            if done is not None and done.attempt == attempt:
                return AttemptState.ACCEPTED
            if row.attempt != attempt or row.state != MatchState.RUNNING:
                superseded = AttemptState.SUPERSEDED
                self._end(connection, row, attempt, superseded, outcome.reason, outcome.record, outcome.public)
                return superseded
            story = _story(row, outcome)
            self._end(connection, row, attempt, AttemptState.ACCEPTED, story, outcome.record, outcome.public)
            connection.execute(
                insert(results).values(
                    match=match,
                    attempt=attempt,
                    finished_at=self._stamp(),
                    **columns_of(results, outcome),
                    **_seat_values(outcome),
                )
            )
            connection.execute(update(matches).where(matches.c.id == match).values(state=MatchState.DONE, why=""))
            return AttemptState.ACCEPTED

    def void(
        self, match: str, attempt: int, why: str, record: str | None, allowed: int, public: str | None = None
    ) -> MatchState:
        """Mark an attempt as void; returns the new state of the match: pending, held after `allowed` void attempts in a
        row, or cancelled if one of its agents is disqualified.

        `record` and `public` are the digests of its record and of what is public of it. If the attempt is not the
        current one, only its own row changes; if this very attempt is void already, nothing does.
        """
        with self._writing() as connection:
            row = _match(connection, match)
            of_attempt = (attempts.c.match == match, attempts.c.number == attempt)
            if connection.scalar(select(attempts.c.state).where(*of_attempt)) == AttemptState.VOID:
                return MatchState(row.state)
            is_current = row.attempt == attempt and row.state == MatchState.RUNNING
            ended = AttemptState.VOID if is_current else AttemptState.SUPERSEDED
            self._end(connection, row, attempt, ended, why, record, public)
            if not is_current:
                return MatchState(row.state)
            state = MatchState.HELD if _voids_in_a_row(connection, match) >= allowed else MatchState.PENDING
            connection.execute(update(matches).where(matches.c.id == match).values(state=state, why=why))
            _cancel(connection, row.contest)
            return MatchState(_match(connection, match).state)

    def roll_back(self, contest: str, why: str, but: Collection[tuple[str, int]] = ()) -> int:
        """Abandon every running attempt after a crash, so that its match is pending again; returns how many.

        `but`: matches and attempts that are still being played.
        """
        with self._writing() as connection:
            contest_row(connection, contest, locked=True)
            found = connection.execute(
                select(matches).where(matches.c.contest == contest, matches.c.state == MatchState.RUNNING)
            )
            running = [row for row in found.all() if (row.id, row.attempt) not in but]
            for row in running:
                self._end(connection, row, row.attempt, AttemptState.ABANDONED, why, None)
                connection.execute(update(matches).where(matches.c.id == row.id).values(state=MatchState.PENDING))
            _cancel(connection, contest)
            return len(running)

    def annul(self, match: str, why: str, attempt: int | None = None) -> MatchState:
        """Take back the result of a match: it is pending again, or cancelled if one of its agents is disqualified.

        InputError if the match has no result and is not being played, or if `attempt` is given and is not the current
        one.
        """
        with self._writing() as connection:
            row = _match(connection, match)
            if attempt not in (None, row.attempt):
                raise InputError(
                    f"game {row.number} has been played again since: attempt {row.attempt} is the current one, "
                    f"not {attempt}; look at it again"
                )
            if row.state not in (MatchState.DONE, MatchState.RUNNING):
                raise InputError(f"match {match} is {row.state}: it has no result to be taken back")
            connection.execute(results.delete().where(results.c.match == match))
            self._end(connection, row, row.attempt, AttemptState.ANNULLED, why, None)
            connection.execute(update(matches).where(matches.c.id == match).values(state=MatchState.PENDING, why=why))
            _cancel(connection, row.contest)
            return MatchState(_match(connection, match).state)

    def release(self, contest: str, why: str, match: str | None = None, but: Collection[str] = ()) -> int:
        """Make the held matches pending again, or that one alone, because the organiser has fixed the cause; returns
        how many. Those of `but` stay held.

        Earlier void attempts still count: one more, and the match is held again.
        """
        with self._writing() as connection:
            contest_row(connection, contest, locked=True)
            held = (matches.c.contest == contest) & (matches.c.state == MatchState.HELD) & matches.c.id.not_in(but)
            if match is not None:
                held &= matches.c.id == match
            released = connection.execute(update(matches).where(held).values(state=MatchState.PENDING)).rowcount
            if released:
                self._tell(connection, contest, "released", f"{released} games: {why}" if match is None else why, match)
            return released

    def _end(
        self,
        connection: Connection,
        match: Row[Any],
        attempt: int,
        state: AttemptState,
        why: str,
        record: str | None,
        public: str | None = None,
    ) -> None:
        values: dict[str, Any] = {"state": state, "why": why, "ended_at": self._stamp()}
        if record is not None:
            values["record"] = record
        changed = connection.execute(
            update(attempts).where(attempts.c.match == match.id, attempts.c.number == attempt).values(**values)
        )
        if not changed.rowcount:
            raise InputError(f"match {match.id} has no attempt {attempt}")
        self._tell(connection, match.contest, state, why, match.id, attempt, public)


def _match(connection: Connection, match: str) -> Row[Any]:
    """The row of a match, locked after that of its contest, as in every other transaction."""
    contest = connection.scalar(select(matches.c.contest).where(matches.c.id == match))
    if contest is None:
        raise InputError(f"there is no match {match!r} in this store")
    contest_row(connection, contest, locked=True)
    return connection.execute(select(matches).where(matches.c.id == match)).one()


def _cancel(connection: Connection, contest: str) -> None:
    """Cancel the matches of disqualified agents that are not played yet."""
    out = select(entries).where(entries.c.contest == contest, entries.c.disqualified.is_not(None))
    for entry in connection.execute(out).all():
        connection.execute(
            update(matches)
            .where(
                matches.c.contest == contest,
                matches.c.state.in_((MatchState.PENDING, MatchState.HELD)),
                (matches.c.first == entry.name) | (matches.c.second == entry.name),
            )
            .values(state=MatchState.CANCELLED, why=f"{entry.name} is disqualified: {entry.disqualified}")
        )


def _story(match: Row[Any], outcome: Outcome) -> str:
    """How a match ended, with names, for the log."""
    if outcome.winner is None:
        return f"{match.first} - {match.second}: nobody won: {outcome.reason}"
    winner = match.first if outcome.winner == 0 else match.second
    return f"{winner} won: {outcome.reason}"


def _voids_in_a_row(connection: Connection, match: str) -> int:
    """The number of void attempts since the last attempt of another state; abandoned attempts are not counted."""
    told = connection.scalars(
        select(attempts.c.state)
        .where(attempts.c.match == match, attempts.c.state != AttemptState.ABANDONED)
        .order_by(attempts.c.number.desc())
    )
    return sum(1 for _ in takewhile(lambda state: state == AttemptState.VOID, told))


def _playing(connection: Connection, contest: str) -> set[str]:
    rows = connection.execute(
        select(matches.c.first, matches.c.second).where(
            matches.c.contest == contest, matches.c.state == MatchState.RUNNING
        )
    )
    return {agent for row in rows for agent in row}


def _seat_values(outcome: Outcome) -> dict[str, Any]:
    return {
        f"{name}_{number}": value for number, seat in enumerate(outcome.seats) for name, value in asdict(seat).items()
    }
