"""Read-only queries of a store, each in one snapshot."""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, false, func, literal, or_, select

from judge.base.errors import InputError
from judge.contest_games import (
    Attempt,
    AttemptState,
    GameResult,
    GameState,
    Pairing,
    PublishedGame,
    ScheduledGame,
    game_result,
)
from judge.journal.codec import Event
from judge.journal.state import JournalLine
from judge.store.database import Database, stamp, value_of
from judge.store.tables import attempts, contests, entries, files, games, journal, pairings, results
from judge.store.types import ANNOUNCED, EntryRow, FileKind

MIN_ID_CHARACTERS = 4
"""Of the beginning of a game's id."""

RESULT_COLUMNS = (
    *(games.c.first, games.c.second),
    *(results.c[name] for name in ("winner", "verdict", "reason", "result", "fault_0", "fault_1")),
    *(results.c[name] for name in ("replies_0", "replies_1", "charged_ms_0", "charged_ms_1")),
    *(games.c[name] for name in ("round", "table", "leg", "id", "number")),
    *(results.c[name] for name in ("attempt", "record", "seconds", "moves")),
)
_HAS_FAULT = or_(results.c.fault_0.is_not(None), results.c.fault_1.is_not(None))
_FAILED = games.c.id.in_(select(results.c.game).where(_HAS_FAULT))

# Built once, for speed.
_RESULTS = (
    select(*RESULT_COLUMNS)
    .join(results, results.c.game == games.c.id)
    .where(games.c.contest == bindparam("of_contest"))
    .order_by(games.c.number)
)
_FAILED_RESULTS = _RESULTS.where(_HAS_FAULT)
_RESULTS_BY_NUMBER = _RESULTS.where(games.c.number.in_(bindparam("numbers", expanding=True)))
_RESULTS_OF = _RESULTS.where(
    or_(*(column.in_(bindparam("agents", expanding=True)) for column in (games.c.first, games.c.second)))
)
_FAILED_RESULTS_OF = _RESULTS_OF.where(_HAS_FAULT)
_CONTEST = select(*[each for each in contests.c if each.name != "document"]).where(
    contests.c.name == bindparam("of_name")
)
_LOCKED_CONTEST = _CONTEST.with_for_update()
WITHOUT_SPEC = [literal("").label("spec") if column.name == "spec" else column for column in games.c]


class Reader(Database):
    """A database for reading."""

    @property
    def keeps_files(self) -> bool:
        """Whether the database has copies of files."""
        return self._engine.dialect.name == "postgresql"

    def stored_files(self, contest: str) -> list[tuple[FileKind, str]]:
        query = select(files.c.kind, files.c.digest).where(files.c.contest == contest)
        return [(row.kind, row.digest) for row in self._rows(query)]

    def stored_file(self, contest: str, kind: FileKind, digest: str) -> bytes:
        """The caller checks the digest."""
        which = (files.c.contest == contest, files.c.kind == kind, files.c.digest == digest)
        with self._reading() as connection:
            return bytes(connection.execute(select(files.c.data).where(*which)).scalar_one())

    def contest_names(self) -> list[str]:
        """Begun contests, oldest first."""
        begun = select(contests.c.name).where(contests.c.state != ANNOUNCED)
        return [name for (name,) in self._rows(begun.order_by(contests.c.created_at))]

    def document(self, contest: str) -> str:
        """Raises InputError for an unknown contest."""
        self._contest_row(contest)
        [(document,)] = self._rows(select(contests.c.document).where(contests.c.name == contest))
        return str(document)

    def secret(self, contest: str) -> str | None:
        """Private until the contest is over; None with a fixed seed."""
        found: str | None = self._contest_row(contest).secret
        return found

    def state(self, contest: str) -> str:
        """`announced`, `open`, `paused` or `stopped`."""
        return str(self._contest_row(contest).state)

    def withheld_from(self, contest: str) -> int | None:
        """The first round whose results are withheld; None also before the standings are frozen."""
        row = self._contest_row(contest)
        found: int | None = row.withheld_from if row.is_frozen else None
        return found

    def _contest_row(self, contest: str) -> Row[Any]:
        with self._reading() as connection:
            return contest_row(connection, contest)

    def entries(self, contest: str) -> list[EntryRow]:
        """Entries by rank."""
        return self._values(EntryRow, _entries_of(contest))

    def gone_entries(self, contest: str) -> list[EntryRow]:
        """Disqualified and withdrawn entries by rank."""
        is_gone = or_(entries.c.disqualified.is_not(None), entries.c.withdrawn.is_not(None))
        return self._values(EntryRow, _entries_of(contest).where(is_gone))

    def number_of_entries(self, contest: str) -> int:
        [(number,)] = self._rows(select(func.count()).where(entries.c.contest == contest))
        return int(number)

    def pairings(self, contest: str) -> list[Pairing]:
        """Pairings, including byes, by round and table."""
        query = select(pairings).where(pairings.c.contest == contest)
        return self._values(Pairing, query.order_by(pairings.c.round, pairings.c.table))

    def last_record(self, contest: str, agent: str, before: int) -> tuple[str, int] | None:
        """Record and seat of an agent's last game with a result, before number `before`."""
        is_agents = (games.c.first == agent) | (games.c.second == agent)
        query = (
            select(results.c.record, games.c.first)
            .join(games, results.c.game == games.c.id)
            .where(games.c.contest == contest, games.c.number < before, is_agents)
            .order_by(games.c.number.desc())
            .limit(1)
        )
        row = self._first(query)
        return None if row is None else (row.record, int(row.first != agent))

    def results(self, contest: str, *, failed: bool = False) -> list[GameResult]:
        """Results in schedule order, without specs. `failed`: only games with a fault."""
        return self._results(_FAILED_RESULTS if failed else _RESULTS, of_contest=contest)

    def results_by_number(self, contest: str, numbers: Collection[int]) -> Mapping[int, GameResult]:
        found = self._results(_RESULTS_BY_NUMBER, of_contest=contest, numbers=list(numbers))
        return {result.number: result for result in found}

    def results_of(self, contest: str, agents: Collection[str], *, failed: bool = False) -> list[GameResult]:
        """Results of these agents' games. `failed`: only games with a fault."""
        query = _FAILED_RESULTS_OF if failed else _RESULTS_OF
        return self._results(query, of_contest=contest, agents=list(agents))

    def _results(self, query: Select[Any], **values: Any) -> list[GameResult]:
        with self._reading() as connection:
            return [game_result(row) for row in connection.execute(query, values)]

    def games(self, contest: str) -> list[ScheduledGame]:
        """Games in schedule order."""
        return self._values(ScheduledGame, select(games).where(games.c.contest == contest).order_by(games.c.number))

    def schedule_of(self, contest: str) -> list[ScheduledGame]:
        """All games in schedule order, without spec and state."""
        columns = [games.c[name] for name in ("id", "number", "round", "table", "leg", "first", "second")]
        query = select(*columns, literal("")).where(games.c.contest == contest).order_by(games.c.number)
        with self._reading() as connection:
            return [ScheduledGame(*row) for row in connection.execute(query)]

    def matching_games(self, contest: str, word: str) -> list[ScheduledGame]:
        """Games with the number `word`, or whose id begins with it, if it has at least `MIN_ID_CHARACTERS`."""
        matches = [games.c.number == int(word)] if re.fullmatch("[1-9][0-9]{0,8}", word) else []
        if len(word) >= MIN_ID_CHARACTERS:
            matches.append(func.substr(games.c.id, 1, len(word)) == word)
        return self._values(ScheduledGame, select(games).where(games.c.contest == contest, or_(false(), *matches)))

    def attempt(self, game: str, number: int) -> Attempt | None:
        row = self._first(select(attempts).where(attempts.c.game == game, attempts.c.number == number))
        return None if row is None else value_of(Attempt, row)

    def attempts(self, contest: str, *ids: str) -> list[Attempt]:
        """Attempts of all games, or of those with these ids, in schedule order."""
        query = _attempts(contest, *attempts.c).order_by(games.c.number, attempts.c.number)
        if ids:
            query = query.where(attempts.c.game.in_(ids))
        return self._values(Attempt, query)

    def attempts_by_host(self, contest: str) -> list[tuple[str, AttemptState, int]]:
        columns = (attempts.c.host, attempts.c.state)
        query = _attempts(contest, *columns, func.count()).group_by(*columns)
        return [(host, state, count) for host, state, count in self._rows(query)]

    def running(self, contest: str) -> list[tuple[ScheduledGame, Attempt]]:
        """Running games and attempts, in schedule order."""
        is_current = (attempts.c.game == games.c.id) & (attempts.c.number == games.c.attempt)
        query = (
            select(games, attempts)
            .join(attempts, is_current)
            .where(games.c.contest == contest, games.c.state == GameState.RUNNING)
            .order_by(games.c.number)
        )
        return [(value_of(ScheduledGame, row, games), value_of(Attempt, row, attempts)) for row in self._rows(query)]

    def listed(
        self,
        contest: str,
        state: GameState | None = None,
        after: int = 0,
        limit: int | None = None,
        agent: str = "",
        *,
        failed: bool = False,
        repeated: bool = False,
    ) -> list[ScheduledGame]:
        """At most `limit` games with this state and numbers above `after`, in schedule order, without specs.

        Optionally only an agent's games, those in which an agent failed, or those with several attempts.
        """
        query = select(*WITHOUT_SPEC).where(games.c.contest == contest, games.c.number > after)
        if state is not None:
            query = query.where(games.c.state == state)
        if agent:
            query = query.where(or_(games.c.first == agent, games.c.second == agent))
        if failed:
            query = query.where(_FAILED)
        if repeated:
            query = query.where(games.c.attempt > 1)
        return self._values(ScheduledGame, query.order_by(games.c.number).limit(limit))

    def done_games(self, contest: str) -> frozenset[str]:
        """Ids of the games with a result."""
        query = select(games.c.id).where(games.c.contest == contest, games.c.state == GameState.DONE)
        return frozenset(number for (number,) in self._rows(query))

    def counts(self, contest: str) -> Mapping[GameState, int]:
        query = select(games.c.state, func.count()).where(games.c.contest == contest).group_by(games.c.state)
        return dict.fromkeys(GameState, 0) | {row[0]: row[1] for row in self._rows(query)}

    def attempt_counts(self, contest: str) -> Mapping[AttemptState, int]:
        query = _attempts(contest, attempts.c.state, func.count()).group_by(attempts.c.state)
        return dict.fromkeys(AttemptState, 0) | {row[0]: row[1] for row in self._rows(query)}

    def journal(self, contest: str) -> list[JournalLine]:
        """Oldest line first."""
        return [line for _, line in self.journal_since(contest, 0)]

    def last_lines(self, contest: str, limit: int | None, *events: type[Event]) -> list[JournalLine]:
        """Newest first; only `events`, if given."""
        chosen = (journal.c.event.in_([each.NAME for each in events]),) if events else ()
        return self._values(JournalLine, _lines(contest, *chosen).order_by(journal.c.id.desc()).limit(limit))

    def recent_lines(self, contest: str, event: type[Event], hours: float) -> list[JournalLine]:
        """Lines of the last hours, oldest first. Lines of the future, before the clock was set back, are left out."""
        now = self._now()
        span = (journal.c.at > stamp(now - timedelta(hours=hours)), journal.c.at <= stamp(now))
        return self._values(JournalLine, _lines(contest, journal.c.event == event.NAME, *span).order_by(journal.c.id))

    def journal_before(self, contest: str, before: int | None, limit: int) -> list[tuple[int, JournalLine]]:
        """Lines with numbers, newest first; if given, only `before` a number."""
        chosen = () if before is None else (journal.c.id < before,)
        query = _lines(contest, *chosen).order_by(journal.c.id.desc()).limit(limit)
        return [(row.id, value_of(JournalLine, row)) for row in self._rows(query)]

    def journal_since(self, contest: str, position: int, limit: int | None = None) -> list[tuple[int, JournalLine]]:
        """Lines with their positions, which grow with gaps."""
        query = _lines(contest, journal.c.id > position).order_by(journal.c.id).limit(limit)
        return [(row.id, value_of(JournalLine, row)) for row in self._rows(query)]

    def journal_end(self, contest: str, *, is_public: bool = False) -> int:
        """Position of the last line, or 0. `is_public`: of those that were never withheld."""
        chosen = (journal.c.withheld.is_(None),) if is_public else ()
        [(end,)] = self._rows(select(func.max(journal.c.id)).where(journal.c.contest == contest, *chosen))
        return end or 0

    def leaves(self, contest: str, start: int, end: int) -> list[JournalLine]:
        """Lines of leaves from `start` to before `end`, also of an announced contest."""
        of_leaves = journal.c.number.between(start, end - 1)
        return self._values(JournalLine, _lines(contest, of_leaves).order_by(journal.c.id))


def published_games(
    games: Iterable[ScheduledGame], results: Iterable[GameResult], attempts: Iterable[Attempt]
) -> list[PublishedGame]:
    """Games with their results and those of their attempts that have a record and do not count."""
    ended = {result.id: result for result in results}
    uncounted: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        result = ended.get(attempt.game)
        if attempt.record is not None and (result is None or result.attempt != attempt.number):
            uncounted.setdefault(attempt.game, []).append(attempt)
    return [PublishedGame.of(game, ended.get(game.id), uncounted.get(game.id, ())) for game in games]


def _attempts(contest: str, *columns: ColumnElement[Any]) -> "Select[*tuple[Any, ...]]":
    return select(*columns).join(games, attempts.c.game == games.c.id).where(games.c.contest == contest)


def _lines(contest: str, *chosen: ColumnElement[bool]) -> Select[Any]:
    return select(journal).where(journal.c.contest == contest, *chosen)


def _entries_of(contest: str) -> Select[Any]:
    return select(entries).where(entries.c.contest == contest).order_by(entries.c.rank)


def contest_row(connection: Connection, name: str, *, locked: bool = False) -> Row[Any]:
    """Row of a begun contest, without document; `locked` until the transaction ends. Raises InputError if missing."""
    row = announced_row(connection, name, locked=locked)
    if row is None or row.state == ANNOUNCED:
        raise InputError(f"there is no contest {name!r} in this store")
    return row


def announced_row(connection: Connection, name: str, *, locked: bool = False) -> Row[Any] | None:
    """Row of an announced or begun contest.

    Every write locks the contest's row first: no two hosts get the same game, and the log's leaves are in one order.
    """
    return connection.execute(_LOCKED_CONTEST if locked else _CONTEST, {"of_name": name}).first()
