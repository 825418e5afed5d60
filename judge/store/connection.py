"""From a URL to an engine whose transactions are safe, with the tables of today."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import NullPool

from judge.base.errors import HostError, InputError, StoreLostError
from judge.store.advisory_locks import limit_lock_waits, lock_migration
from judge.store.read_only import only_reads, reader_of
from judge.store.tables import metadata

SQLITE_LOCK_TIMEOUT_S = 60.0
"""Maximum wait of a transaction on SQLite, which has one writer at a time."""

LOST_AFTER_S = 30
"""How long a silent host, or a silent PostgreSQL, is not yet taken for lost."""

_TO_POSTGRESQL = {
    "connect_timeout": LOST_AFTER_S // 3,
    "keepalives_idle": LOST_AFTER_S // 3,
    "keepalives_interval": LOST_AFTER_S // 6,
    "keepalives_count": 4,
    "tcp_user_timeout": LOST_AFTER_S * 1000,
}
"""Of libpq: otherwise a judge that is cut off from its store would wait for it a quarter of an hour."""

MIGRATIONS = Path(__file__).parent / "migrations"

_VERSION = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))
"""Where alembic notes which migration a database has reached."""


def connect(url: str) -> Engine:
    """An engine for `url` (`sqlite:///round.db`, `postgresql+psycopg://...`), its tables made or migrated.

    Raises InputError for a URL that names no database of ours, StoreLostError if the database cannot be reached,
    HostError if it cannot be used.
    """
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() not in ("sqlite", "postgresql"):
            raise InputError(f"store {url}: it is sqlite:///FILE or postgresql+psycopg://…")
        is_elsewhere = parsed.get_backend_name() == "postgresql"
        given = {name: value for name, value in _TO_POSTGRESQL.items() if name not in parsed.query}
        if not is_elsewhere and parsed.database and only_reads(path := Path(parsed.database)):
            return _only_reading(create_engine(parsed, creator=reader_of(path), poolclass=NullPool))
        engine = create_engine(parsed, connect_args=given if is_elsewhere else {})
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise InputError(f"store {url}: {error}") from None
    if engine.dialect.name == "sqlite":
        _keep_to_owner(parsed.database)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin)
    limit_lock_waits(engine)
    try:
        with store_lost("contests"):
            _migrate(engine)
    except DBAPIError as error:
        engine.dispose()
        raise HostError(f"store {parsed.render_as_string()}: {error.orig}") from None
    except HostError:
        engine.dispose()
        raise
    return engine


def _only_reading(engine: Engine) -> Engine:
    """An engine of a database that this process cannot write. Raises InputError for one of an earlier judge, HostError
    for one that cannot be read."""
    event.listen(engine, "connect", _set_up_reading)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    where = f"store {engine.url.render_as_string()}"
    try:
        with engine.begin() as connection:
            has_tables = inspect(connection).has_table(_VERSION.name)
            if not has_tables or connection.scalar(select(_VERSION.c.version_num)) != _newest():
                raise InputError(
                    f"{where}: it can only be read here, and an earlier judge made it: open it once with this judge "
                    "where it can be written, which migrates it"
                )
    except DBAPIError as error:
        raise HostError(f"{where}: {error.orig}") from None
    return engine


def _set_up_reading(connection: Any, _record: object) -> None:
    connection.isolation_level = None
    connection.execute("PRAGMA query_only=ON")


@contextmanager
def store_lost(what: str) -> Iterator[None]:
    """Raises StoreLostError where the connection to the store of `what` breaks, or none can be made."""
    try:
        yield
    except DBAPIError as error:
        # SQLite's errors have no such code; 57P are those of a server that is just being stopped or started.
        code = getattr(error.orig, "sqlstate", "")
        if error.connection_invalidated or code is None or code.startswith("57P"):
            raise StoreLostError(f"the store of {what} is lost: {error.orig}") from None
        raise


def _keep_to_owner(database: str | None) -> None:
    """A contest's secret is in the file: a new file can be read by its owner only, an existing one at most by its
    group. Other files that SQLite writes get the same mode."""
    if not database or database == ":memory:":
        return
    path = Path(database)
    with suppress(OSError):  # the database says why it cannot be opened; somebody else's file keeps its mode
        if not path.exists():
            path.touch(mode=0o600)
        for file in (path, *(Path(f"{path}-{end}") for end in ("wal", "shm", "journal"))):
            if file.exists() and file.stat().st_mode & 0o007:
                file.chmod(file.stat().st_mode & 0o770)


_migrating = Lock()
"""alembic works with state of its own module: one thread at a time."""


def _migrate(engine: Engine) -> None:
    """Make the tables of a new database, and migrate those of an older one.

    alembic is imported for an older one only: with it a judge would start twice as slowly.
    """
    with _migrating, engine.begin() as connection:
        lock_migration(connection)
        if not inspect(connection).has_table(_VERSION.name):
            metadata.create_all(connection, checkfirst=False)
            _VERSION.create(connection)
            connection.execute(insert(_VERSION).values(version_num=_newest()))
        elif connection.scalar(select(_VERSION.c.version_num)) != _newest():
            migrate(connection)


def _newest() -> str:
    """The revision of the last migration; their files begin with it."""
    return max(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("*.py"))


def migrate(connection: Connection) -> None:
    """Run the migrations that a database lacks, inside the connection's transaction; an empty one lacks them all."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # The driver must not begin transactions by itself: it would begin them deferred, and two writers could deadlock.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        # A result that was accepted survives a power cut.
        "synchronous=FULL",
        "foreign_keys=ON",
        f"busy_timeout={SQLITE_LOCK_TIMEOUT_S * 1000:.0f}",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    # Whoever only reads does not wait for a writer, nor the other way round.
    reads = connection.get_execution_options().get(_READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def read_one_moment(connection: Connection) -> Connection:
    """Let all queries of a connection see the database as it is at the first one; it may not write."""
    if connection.dialect.name == "postgresql":
        return connection.execution_options(isolation_level="REPEATABLE READ")
    return connection.execution_options(**{_READS: True})


_READS = "judge_reads"
