"""The database: engine, transactions, locks and schema, on SQLite or PostgreSQL."""

import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from dataclasses import fields
from datetime import UTC, datetime
from enum import IntEnum, unique
from functools import partial
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Self, TypeVar, TypeVarTuple

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    ExceptionContext,
    MetaData,
    Row,
    Select,
    String,
    Table,
    bindparam,
    create_engine,
    event,
    func,
    insert,
    inspect,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import NullPool

from judge.base.durable_files import is_only_readable
from judge.base.errors import HostError, InputError, StoreBusyError, StoreDamagedError, StoreLostError
from judge.journal.codec import Event, UnknownLine, decode, encode
from judge.journal.events import StandingsFrozen
from judge.journal.state import withheld_round
from judge.store.sqlite_files import ReadOnlyFile, damage_of, damaged
from judge.store.tables import contests, games, journal, metadata

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value = TypeVar("Value", bound="DataclassInstance")
Columns = TypeVarTuple("Columns")

LOST_AFTER_S = 30
"""Both sides notice a lost connection within this time."""

LOCK_TIMEOUT_S = 10
"""Lock wait of PostgreSQL transactions, which take milliseconds."""

SQLITE_LOCK_TIMEOUT_S = 60.0
"""Maximum wait for SQLite's one writer."""

WAL_RETRY_S = 0.01

MIGRATION_TIMEOUT_S = 600

SALT_BYTES = 16

MIGRATIONS = Path(__file__).parent / "migrations"

_LIBPQ_SETTINGS = {
    "connect_timeout": LOST_AFTER_S // 3,
    "keepalives_idle": LOST_AFTER_S // 3,
    "keepalives_interval": LOST_AFTER_S // 6,
    "keepalives_count": 4,
    "tcp_user_timeout": LOST_AFTER_S * 1000,
}
"""libpq's default is a quarter of an hour."""

_LAST_LINE = (
    select(journal.c.number, journal.c.at, contests.c.withheld_from, contests.c.is_frozen)
    .join(contests, contests.c.name == journal.c.contest)
    .where(journal.c.contest == bindparam("of_contest"))
    .order_by(journal.c.id.desc())
    .limit(1)
)
_READS = "judge_reads"
_LOCK_NOT_AVAILABLE = "55P03"
_SHUTTING_DOWN = "57P"
_DAMAGES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_VERSION = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))

_migrating = Lock()
"""alembic has global state."""

_opened: set[Path] = set()


@unique
class AdvisoryLock(IntEnum):
    """First keys of PostgreSQL's advisory locks; the second is a hash of the contest's name."""

    MIGRATION = 5003112
    """Migration of the database; without a second key."""
    LEASE = 5003113
    NOTICES = 5003114
    REGISTER = 5003115


class Database:
    """Safe to use from several processes."""

    def __init__(self, url: str) -> None:
        """Connect and migrate. Raises like `connect`."""
        self._engine: Engine = connect(url)
        self._connection: Connection | None = None
        self._now: Callable[[], datetime] = partial(datetime.now, UTC)

    @classmethod
    def from_part(cls, other: "Database") -> Self:
        """This part in the database and transaction of another part."""
        part = cls.__new__(cls)
        part._engine, part._connection, part._now = other._engine, other._connection, other._now
        return part

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def moment(self) -> Iterator[Self]:
        """Read from one snapshot."""
        with self._reading() as connection:
            yield self._inside(connection)

    @contextmanager
    def change(self) -> Iterator[Self]:
        """Write in one transaction."""
        with self._writing() as connection:
            yield self._inside(connection)

    def _inside(self, connection: Connection) -> Self:
        inner = copy(self)
        inner._connection = connection
        return inner

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        if self._connection is not None:
            yield self._connection
            return
        with self._engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                yield connection.execution_options(isolation_level="REPEATABLE READ")
            else:
                yield connection.execution_options(**{_READS: True})

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        if self._connection is not None:
            yield self._connection
            return
        with self._begin() as connection:
            yield connection

    def _begin(self) -> AbstractContextManager[Connection]:
        return self._engine.begin()

    def _rows(self, query: "Select[*Columns]") -> "Sequence[Row[*Columns]]":
        with self._reading() as connection:
            return connection.execute(query).all()

    def _first(self, query: "Select[*Columns]") -> "Row[*Columns] | None":
        with self._reading() as connection:
            return connection.execute(query).first()

    def _values(self, kind: type[Value], query: Select[Any]) -> list[Value]:
        with self._reading() as connection:
            return [value_of(kind, row) for row in connection.execute(query)]

    def _count(self, query: Select[Any]) -> int:
        [(number,)] = self._rows(select(func.count()).select_from(query.subquery()))
        return number

    def _stamp(self) -> str:
        return stamp(self._now())

    def _tell(
        self,
        connection: Connection,
        contest: str,
        event: Event,
        digest: str | None = None,
        who: str | None = None,
        at: datetime | None = None,
        played_in: int | None = None,
    ) -> int:
        """Append a line; returns its number. `announced_row` must lock the row. `played_in`: the round of new games.

        A line is not earlier than the one before it, also after the clock was set back. Before the first line of a
        round whose results are withheld, the standings are frozen.
        """
        line = encode(event)
        if isinstance(decode(line), UnknownLine):
            raise InputError(f"{line.name}: not an event of the journal, shorten its texts: {line.data:.200}")
        last = connection.execute(_LAST_LINE, {"of_contest": contest}).first()
        withheld = None
        if last is not None and last.withheld_from is not None:
            withheld = _withheld_round(
                connection, contest, event, played_in, first=last.withheld_from, is_frozen=last.is_frozen
            )
            if withheld is not None and not last.is_frozen:
                connection.execute(update(contests).where(contests.c.name == contest).values(is_frozen=True))
                self._tell(connection, contest, StandingsFrozen(last.withheld_from), at=at)
                last = connection.execute(_LAST_LINE, {"of_contest": contest}).one()
        number: int = 0 if last is None else last.number + 1
        time = max(self._stamp() if at is None else stamp(at), "" if last is None else last.at)
        place = {"contest": contest, "game": line.game, "attempt": line.attempt, "number": number}
        values = {"event": line.name, "data": line.data, "digest": digest, "who": who, "at": time}
        salt = None if withheld is None else new_salt()
        connection.execute(insert(journal), {**place, **values, "withheld": withheld, "salt": salt})
        return number

    def _time_of_next_line(self, connection: Connection, contest: str) -> datetime:
        last = connection.execute(_LAST_LINE, {"of_contest": contest}).first()
        return self._now() if last is None else max(self._now(), datetime.fromisoformat(last.at))


def new_salt() -> str:
    """Random digits for a leaf that is withheld."""
    return secrets.token_hex(SALT_BYTES)


def _withheld_round(
    connection: Connection, contest: str, event: Event, played_in: int | None, *, first: int, is_frozen: bool
) -> int | None:
    if played_in is None and (game := getattr(event, "game", None)) is not None:
        played_in = connection.scalar(select(games.c.round).where(games.c.id == game))
    latest = 0
    if played_in is None:
        if not is_frozen:
            return None
        latest = connection.scalar(select(func.max(journal.c.withheld)).where(journal.c.contest == contest)) or 0
    return withheld_round(event, played_in, first, latest)


class ContestDatabase(Database):
    """A part for one contest."""

    def __init__(self, url: str, contest: str) -> None:
        super().__init__(url)
        self._contest = contest

    @property
    def contest(self) -> str:
        return self._contest

    @classmethod
    def for_contest(cls, other: Database, contest: str) -> Self:
        """This part of a contest in the database and transaction of another part."""
        part = cls.from_part(other)
        part._contest = contest
        return part


def stamp(time: datetime) -> str:
    """Text that sorts by time."""
    return time.isoformat(timespec="milliseconds")


def value_of(kind: type[Value], row: Row[Any], table: Table | None = None) -> Value:
    """Convert a row, or the `table` of a joined row, to a dataclass with its columns' names."""
    columns = row._mapping
    names = kind.__dataclass_fields__
    return kind(**{name: columns[name if table is None else table.c[name]] for name in names})


def columns_of(table: Table, value: "DataclassInstance") -> dict[str, Any]:
    """Fields that are columns of `table`."""
    return {field.name: getattr(value, field.name) for field in fields(value) if field.name in table.c}


def connect(url: str) -> Engine:
    """Engine for `url` (`sqlite:///round.db`, `postgresql+psycopg://...`), migrated.

    Raises InputError for an unusable URL or schema, StoreLostError if the database is unreachable, HostError if it is
    unusable.
    """
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() not in ("sqlite", "postgresql"):
            raise InputError(f"store {url}: expected sqlite:///FILE or postgresql+psycopg://…")
        is_elsewhere = parsed.get_backend_name() == "postgresql"
        given = {name: value for name, value in _LIBPQ_SETTINGS.items() if name not in parsed.query}
        if not is_elsewhere and parsed.database and parsed.database != ":memory:":
            _opened.add(path := Path(parsed.database))
            if is_only_readable(path):
                return _only_reading(create_engine(parsed, creator=ReadOnlyFile(path).connect, poolclass=NullPool))
        # The server may have restarted.
        engine = create_engine(parsed, connect_args=given if is_elsewhere else {}, pool_pre_ping=is_elsewhere)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise InputError(f"store {url}: {error}") from None
    if is_elsewhere:
        event.listen(engine, "connect", _set_up_postgresql)
    else:
        _restrict_to_owner(parsed.database)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    event.listen(engine, "handle_error", _explain)
    try:
        _migrate(engine)
    except DBAPIError as error:
        engine.dispose()
        raise HostError(f"store {parsed.render_as_string()}: {error.orig}") from None
    except (HostError, InputError):
        engine.dispose()
        raise
    return engine


def damage_of_opened() -> StoreDamagedError | None:
    """For a damaged SQLite file of this process."""
    for path in sorted(_opened):
        with suppress(sqlite3.Error, OSError):
            if (damage := damage_of(path)) is not None:
                return damaged(path, damage)
    return None


def lock_until_commit(connection: Connection, lock: AdvisoryLock, contest: str) -> None:
    """Take a lock until the transaction ends. Raises StoreBusyError. Does nothing on SQLite."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(lock, func.hashtext(contest))))


def _only_reading(engine: Engine) -> Engine:
    event.listen(engine, "connect", _set_up_reading)
    event.listen(engine, "handle_error", _explain)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    where = f"store {engine.url.render_as_string()}"
    try:
        with engine.begin() as connection:
            if _revision(connection) != _revisions()[-1]:
                raise InputError(
                    f"{where}: read-only here, and its schema is of another version: open it once with this judge "
                    "where it can be written, which migrates it"
                )
    except DBAPIError as error:
        raise HostError(f"{where}: {error.orig}") from None
    return engine


def _set_up_reading(connection: Any, _record: object) -> None:
    connection.isolation_level = None
    connection.execute("PRAGMA query_only=ON")


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # Deferred transactions could deadlock two writers.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={SQLITE_LOCK_TIMEOUT_S * 1000:.0f}")
    _use_wal(cursor)
    for pragma in (
        # Results survive a power failure.
        "synchronous=FULL",
        "foreign_keys=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _use_wal(cursor: Any) -> None:
    """While another process creates the file, SQLite refuses at once: waiting for each other could be a deadlock."""
    until = monotonic() + SQLITE_LOCK_TIMEOUT_S
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
            sleep(WAL_RETRY_S)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    reads = connection.get_execution_options().get(_READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _set_up_postgresql(connection: Any, _record: object) -> None:
    # A rollback would undo the setting.
    before, connection.autocommit = connection.autocommit, True
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{LOCK_TIMEOUT_S}s'")
    connection.autocommit = before


def _explain(context: ExceptionContext) -> None:
    error = context.original_exception
    if not isinstance(error, Exception):  # a signal ended the command: SQLAlchemy calls this a disconnection
        return
    # Without a connection psycopg's state is None.
    state, code = getattr(error, "sqlstate", ""), getattr(error, "sqlite_errorcode", 0) & 0xFF
    if state == _LOCK_NOT_AVAILABLE or code == sqlite3.SQLITE_BUSY:
        raise StoreBusyError(
            "the store is busy: another process keeps it locked, and nothing was written; "
            "try again, and look for a judge that hangs"
        ) from error
    if code in _DAMAGES:
        url = None if context.engine is None else context.engine.url
        raise damaged(getattr(url, "database", None) or "of the contest", str(error)) from error
    is_ping = getattr(context, "is_pre_ping", False)
    is_lost = context.is_disconnect or state is None or (state or "").startswith(_SHUTTING_DOWN)
    if is_lost and not is_ping:
        raise StoreLostError(
            f"the database that `store` names cannot be reached: {error}; its contents are not affected: start the "
            "database, or correct `store` in contest.toml, and run the command again"
        ) from error


def _restrict_to_owner(database: str | None) -> None:
    """The file contains the secret. SQLite gives its other files the same mode."""
    if not database or database == ":memory:":
        return
    path = Path(database)
    with suppress(OSError):  # the database reports why; another user's file keeps its mode
        if not path.exists():
            path.touch(mode=0o600)
        for file in (path, *(Path(f"{path}-{end}") for end in ("wal", "shm", "journal"))):
            if file.exists() and file.stat().st_mode & 0o007:
                file.chmod(file.stat().st_mode & 0o770)


def _migrate(engine: Engine) -> None:
    with _migrating, engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SET LOCAL lock_timeout = '{MIGRATION_TIMEOUT_S}s'"))
            connection.execute(select(func.pg_advisory_xact_lock(AdvisoryLock.MIGRATION)))
        revision, revisions = _revision(connection), _revisions()
        if revision is None:
            metadata.create_all(connection, checkfirst=False)
            _VERSION.create(connection)
            connection.execute(insert(_VERSION).values(version_num=revisions[-1]))
        elif revision not in revisions:
            raise InputError(
                f"store {engine.url.render_as_string()}: its schema is {revision}, and this judge opens "
                f"{revisions[0]} to {revisions[-1]}: open it with the version that wrote it"
            )
        elif revision != revisions[-1]:
            _upgrade(connection)


def _revision(connection: Connection) -> str | None:
    has_tables = inspect(connection).has_table(_VERSION.name)
    return connection.scalar(select(_VERSION.c.version_num)) if has_tables else None


def _revisions() -> list[str]:
    return sorted(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("*.py"))


def _upgrade(connection: Connection) -> None:
    # slow to import and rarely needed
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
