"""PostgreSQL's advisory locks, and how long a transaction waits for a lock.

Advisory locks of a database share one space of numbers, so every key is here. SQLite has one writer at a time and needs
none of them.
"""

from enum import IntEnum, unique
from typing import Any

from sqlalchemy import Connection, Engine, ExceptionContext, event, func, select, text

from judge.base.errors import StoreBusyError

LOCK_TIMEOUT_S = 10
"""Maximum wait of a transaction for a lock that another session has. Transactions of the judge take milliseconds."""

MIGRATION_TIMEOUT_S = 600
"""The same for a process that waits until another one has migrated the database."""

_LOCK_NOT_AVAILABLE = "55P03"
"""PostgreSQL's code where `lock_timeout` has passed."""

_SQLITE_BUSY = 5
"""SQLite's code where `busy_timeout` has passed."""


@unique
class AdvisoryLock(IntEnum):
    """The first key of each advisory lock; the second key is a hash of the contest's name."""

    MIGRATION = 5003112
    """A process migrates the database. This key is used alone, because the lock is for all contests."""
    LEASE = 5003113
    """A process runs the contest; see `judge.store.lease`."""
    NOTICES = 5003114
    """A process derives the notices to authors."""
    REGISTER = 5003115
    """A process writes to the register of submissions."""


def lock_until_commit(connection: Connection, lock: AdvisoryLock, contest: str) -> None:
    """Wait for a lock that the transaction's end releases. Raises StoreBusyError. SQLite: does nothing."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(lock, func.hashtext(contest))))


def lock_migration(connection: Connection) -> None:
    """Wait until no other process migrates the database; the lock is released with the transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SET LOCAL lock_timeout = '{MIGRATION_TIMEOUT_S}s'"))
        connection.execute(select(func.pg_advisory_xact_lock(AdvisoryLock.MIGRATION)))


def limit_lock_waits(engine: Engine) -> None:
    """Give every connection of an engine the lock timeout, and raise StoreBusyError where it passes."""
    if engine.dialect.name == "postgresql":
        event.listen(engine, "connect", _set_lock_timeout)
    event.listen(engine, "handle_error", _raise_busy)


def _set_lock_timeout(connection: Any, _record: object) -> None:
    # Outside a transaction: a rollback would take the setting back.
    before, connection.autocommit = connection.autocommit, True
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{LOCK_TIMEOUT_S}s'")
    connection.autocommit = before


def _raise_busy(context: ExceptionContext) -> None:
    error = context.original_exception
    is_busy = getattr(error, "sqlstate", None) == _LOCK_NOT_AVAILABLE
    # The low byte is the primary code; the others tell kinds of it.
    is_busy |= getattr(error, "sqlite_errorcode", 0) & 0xFF == _SQLITE_BUSY
    if is_busy:
        raise StoreBusyError(
            "the store is busy: another process keeps it locked, and nothing was written; "
            "try again, and look for a judge that hangs"
        ) from error
