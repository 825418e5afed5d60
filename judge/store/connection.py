"""From a URL to an engine whose transactions are safe, with the tables of today."""

from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine, event, func, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from judge.errors import HostError, InputError

MIGRATIONS = Path(__file__).parent / "migrations"


def connect(url: str) -> Engine:
    """An engine for `url` (`sqlite:///round.db`, `postgresql+psycopg://...`), its tables made or migrated.

    InputError for a URL that names no database of ours, HostError where the database cannot be reached.
    """
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() not in ("sqlite", "postgresql"):
            raise InputError(f"store {url}: it is sqlite:///FILE or postgresql+psycopg://…")
        engine = create_engine(parsed)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise InputError(f"store {url}: {error}") from None
    if engine.dialect.name == "sqlite":
        _keep_to_owner(parsed.database)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_immediate)
    try:
        _migrate(engine)
    except DBAPIError as error:
        raise HostError(f"store {parsed.render_as_string()}: {error.orig}") from None
    return engine


def _keep_to_owner(database: str | None) -> None:
    """A contest's secret is in the file: a new one is its owner's alone, one that is there is nobody's but its group's.

    What SQLite writes beside it gets the file's own mode.
    """
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
"""alembic keeps what it works on in its module: one thread at a time."""

MIGRATION_KEY = 5003112
"""Of PostgreSQL's advisory lock, so that of several judges that start at once one migrates; any number would do."""


def _migrate(engine: Engine) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with _migrating, engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(MIGRATION_KEY)))
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
        "busy_timeout=60000",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_immediate(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
