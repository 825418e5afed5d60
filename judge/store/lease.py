"""One judge runs a contest: of several hosts with the same PostgreSQL one does, and the others say which.

The lease is an advisory lock of a session of its own. PostgreSQL gives it back when the holder's process dies, and, by
the keepalive of TCP, about half a minute after its host was cut off: no clock of ours is compared, and no row is left
behind that somebody would have to remove. Who has it is the name of that session. A holder that was cut off may go on
for a moment beside the next one; that costs time and nothing else, because a result counts for the current attempt
only. A SQLite database is on one machine, where the lock of the contest's folder does the same.
"""

from types import TracebackType

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from judge.errors import HostError, InputError

LEASE_KEY = 5003113
"""Of the advisory locks of contests; the second part of each is the hash of the contest's name."""

_SETTINGS = {"tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 4}
"""After so many seconds of silence the server asks, so often, until it takes the holder for lost."""

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
        self._session: Connection | None = None

    def __enter__(self) -> "Lease":
        if self._engine.dialect.name == "postgresql":
            other = self._take()
            if other is not None:
                raise InputError(f"{other} runs {self._contest}: only one judge can; stop that one first")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._drop()

    def check(self) -> None:
        """Take it again if the database was restarted. Raises HostError if somebody else has it now, or if the database
        cannot be reached."""
        if self._session is None:
            return
        try:
            self._session.execute(text("SELECT 1"))
        except DBAPIError:
            self._drop()
            try:
                other = self._take()
            except DBAPIError as error:
                raise HostError(f"the store of {self._contest} is lost: {error.orig}") from None
            if other is not None:
                raise HostError(f"{other} has taken over {self._contest}: this judge ends") from None

    def _take(self) -> str | None:
        """None if it is ours now; otherwise whose it is."""
        session = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        for name, value in (_SETTINGS | {"application_name": self._holder}).items():
            session.execute(text("SELECT set_config(:name, :value, false)"), {"name": name, "value": str(value)})
        which = {"key": LEASE_KEY, "contest": self._contest}
        if session.scalar(_TAKE, which):
            self._session = session
            return None
        other = session.scalar(_HOLDER, which)
        session.invalidate()
        session.close()
        return str(other or "another judge")

    def _drop(self) -> None:
        """End the session, and the lock with it: it must not go back to the pool."""
        if self._session is not None:
            self._session.invalidate()
            self._session.close()
            self._session = None
