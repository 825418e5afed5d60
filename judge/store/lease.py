"""A lease: of several hosts with the same PostgreSQL, one judge runs a contest.

The lease is an advisory lock of a separate session that makes all writes. PostgreSQL ends session, lock and open
transaction when the holder dies or, after half a minute, when its host is cut off. SQLite needs only the contest
folder's lock.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from judge.base.errors import HostError, InputError, StoreLostError
from judge.store.database import LOST_AFTER_S, AdvisoryLock

_SETTINGS = {
    "tcp_keepalives_idle": LOST_AFTER_S // 3,
    "tcp_keepalives_interval": LOST_AFTER_S // 6,
    "tcp_keepalives_count": 4,
    # No keepalive is sent while an answer is unacknowledged.
    "tcp_user_timeout": LOST_AFTER_S * 1000,
}
"""When the server considers a silent holder lost."""

_TAKE = text("SELECT pg_try_advisory_lock(:key, hashtext(:contest))")

LEASE_HOLDER = text(
    "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid "
    "WHERE l.locktype = 'advisory' AND l.granted AND l.classid = CAST(:key AS bigint) "
    "AND l.objid = CAST(hashtext(:contest) AS bigint) & 4294967295 "
    "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class Lease:
    """Holds the right to run the contest. Raises InputError naming the current holder."""

    def __init__(self, engine: Engine, contest: str, holder: str) -> None:
        """`holder` is shown to others, cut to 63 bytes."""
        self._engine = engine
        self._contest = contest
        self._holder = holder
        self._session: Connection | None = None
        self._alone = threading.RLock()

    def __enter__(self) -> "Lease":
        if (other := self._take()) is not None:
            raise InputError(f"{other} runs {self._contest}: only one judge can; stop that one first")
        return self

    def __exit__(self, *_: object) -> None:
        if self._session is not None:
            # Frees the lock sooner than ending the session.
            with suppress(StoreLostError), self.writing() as session:
                session.execute(text("SELECT pg_advisory_unlock_all()"))
        self._drop()

    def check(self) -> None:
        """Retake the lease after a database restart. Raises StoreLostError if the database is unreachable, HostError if
        another process has the lease.
        """
        with suppress(StoreLostError), self.writing() as session:
            session.execute(text("SELECT 1"))
            return
        other = self._take()
        if other is not None:
            raise HostError(f"{other} has taken over {self._contest}: this judge ends")

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction with the lease. Raises StoreLostError."""
        with self._alone:
            session = self._session
            if session is None:
                raise StoreLostError(f"the lease of {self._contest} is lost")
            try:
                with session.begin():
                    yield session
            finally:
                # The next statement would open a session without the lease.
                if session.invalidated:
                    self._drop()

    def _take(self) -> str | None:
        session = self._engine.connect()
        which = {"key": AdvisoryLock.LEASE.value, "contest": self._contest}
        try:
            with session.begin():
                for name, value in (_SETTINGS | {"application_name": self._holder}).items():
                    session.execute(
                        text("SELECT set_config(:name, :value, false)"), {"name": name, "value": str(value)}
                    )
                if session.scalar(_TAKE, which):
                    self._session = session
                    return None
                return str(session.scalar(LEASE_HOLDER, which) or "another judge")
        finally:
            if self._session is not session:
                _end(session)

    def _drop(self) -> None:
        """The session must not return to the pool."""
        if self._session is not None:
            _end(self._session)
            self._session = None


def _end(session: Connection) -> None:
    with suppress(DBAPIError, StoreLostError):
        session.invalidate()
        session.close()
