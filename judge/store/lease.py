"""One judge runs a contest: of several hosts with the same PostgreSQL one does, and the others say which.

The lease is an advisory lock of a session of its own, and the judge that runs the contest writes in this session alone.
So whoever has lost the lease cannot write: the database ends the lock and the session together, and every transaction
with them. PostgreSQL does so when the holder's process dies, and about half a minute after its host was cut off. No
clock of ours is compared, and no row is left behind that somebody would have to remove. Who has it is the name of that
session. A SQLite database is on one machine, where the lock of the contest's folder does the same.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from judge.base.errors import HostError, InputError, StoreLostError
from judge.store.database import LOST_AFTER_S, AdvisoryLock, store_lost

_SETTINGS = {
    "tcp_keepalives_idle": LOST_AFTER_S // 3,
    "tcp_keepalives_interval": LOST_AFTER_S // 6,
    "tcp_keepalives_count": 4,
    # Where an answer is on its way to a host that was cut off, no keepalive is sent.
    "tcp_user_timeout": LOST_AFTER_S * 1000,
}
"""When the server takes a silent holder for lost."""

_TAKE = text("SELECT pg_try_advisory_lock(:key, hashtext(:contest))")

_HOLDER = text(
    "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid "
    "WHERE l.locktype = 'advisory' AND l.granted AND l.classid = CAST(:key AS bigint) "
    "AND l.objid = CAST(hashtext(:contest) AS bigint) & 4294967295 "
    "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class Lease:
    """A contest is run by whoever is inside; InputError, with the other's name, if somebody else is."""

    def __init__(self, engine: Engine, contest: str, holder: str) -> None:
        """`holder` says to others who has it; 63 bytes of it are kept."""
        self._engine = engine
        self._contest = contest
        self._holder = holder
        self._is_needed = engine.dialect.name == "postgresql"
        self._session: Connection | None = None
        self._alone = threading.RLock()
        """A session does one thing at a time."""

    def __enter__(self) -> "Lease":
        if self._is_needed and (other := self._take()) is not None:
            raise InputError(f"{other} runs {self._contest}: only one judge can; stop that one first")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            # The end of a session frees its locks too, but a moment after this has returned.
            with suppress(StoreLostError), self.writing() as session:
                session.execute(text("SELECT pg_advisory_unlock_all()"))
        self._drop()

    def check(self) -> None:
        """Take it again if the database was restarted. Raises StoreLostError if the database cannot be reached, and
        HostError if somebody else has the lease now."""
        if not self._is_needed:
            return
        with suppress(StoreLostError), self.writing() as session:
            session.execute(text("SELECT 1"))
            return
        with store_lost(self._contest):
            other = self._take()
        if other is not None:
            raise HostError(f"{other} has taken over {self._contest}: this judge ends")

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that the database carries out only while the lease is held. Raises StoreLostError."""
        if not self._is_needed:
            with self._engine.begin() as connection:
                yield connection
            return
        with self._alone, store_lost(self._contest):
            session = self._session
            if session is None:
                raise StoreLostError(f"the lease of {self._contest} is lost")
            try:
                with session.begin():
                    yield session
            finally:
                # Otherwise the next statement would be sent in a new session, which has no lease.
                if session.invalidated:
                    self._drop()

    def _take(self) -> str | None:
        """None if it is ours now; otherwise whose it is."""
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
                return str(session.scalar(_HOLDER, which) or "another judge")
        finally:
            if self._session is not session:
                _end(session)

    def _drop(self) -> None:
        """End the session, and the lock with it: it must not go back to the pool."""
        if self._session is not None:
            _end(self._session)
            self._session = None


def _end(session: Connection) -> None:
    with suppress(DBAPIError):
        session.invalidate()
        session.close()
