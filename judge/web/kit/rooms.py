"""Bounds of concurrent work of a service. When it is full, the client with most of it ends."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from judge.base.errors import InputError
from judge.submissions.intake import IntakePolicy
from judge.web.kit.networks import networks_of

MAX_REQUESTS = 1024

ORGANISER_ROOM = 32
"""Further requests for signed-in organisers."""

SIGN_IN_ROOM = 8
"""Further requests for organisers' sign-ins."""

HEALTH_ROOM = 8
"""Further requests for the state of the service."""

SPARE_CONNECTIONS = 64
"""Further connections that wait for a request. Beyond it, the oldest one is ended."""

MAX_SPARE_CONNECTIONS = 4 * SPARE_CONNECTIONS

OWN_DESCRIPTORS = 256
"""Files, databases and pipes of the service."""

MIN_ROOM = 64


class Rooms(NamedTuple):
    """The numbers of requests and streams at once."""

    requests: int
    streams: int

    @property
    def connections(self) -> int:
        """The number of connections that have a request."""
        return self.requests + self.streams + ORGANISER_ROOM + SIGN_IN_ROOM + HEALTH_ROOM

    @classmethod
    def wanted(cls, limits: IntakePolicy) -> "Rooms":
        return cls(min(limits.connections, MAX_REQUESTS), limits.connections)

    @classmethod
    def within(cls, limits: IntakePolicy, descriptors: int) -> "Rooms":
        """Those of `limits`, or fewer, as many as `descriptors` allow. Raises InputError if these are too few."""
        wanted = cls.wanted(limits)
        own = OWN_DESCRIPTORS + MAX_SPARE_CONNECTIONS + cls(0, 0).connections
        free = descriptors - own
        if free < MIN_ROOM:
            raise InputError(
                f"this process may open and watch {descriptors} files, and the service needs at least "
                f"{own + MIN_ROOM}: raise LimitNOFILE= of its unit, the hard limit of ulimit -n, or "
                "fs.epoll.max_user_watches"
            )
        if wanted.requests + wanted.streams <= free:
            return wanted
        requests = min(wanted.requests, free // 3)
        return cls(requests, min(wanted.streams, free - requests))


class Endable(Protocol):
    """A connection."""

    def end(self) -> None:
        """End it, whatever its client does."""


@dataclass(slots=True, eq=False)
class _Guest:
    network: str
    size: int
    connection: Endable | None


class SharedRoom:
    """Room for a number of requests, or bytes. If it is full, the network with most of it loses its newest."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._taken = 0
        self._by_network: defaultdict[str, dict[_Guest, None]] = defaultdict(dict)
        self._sums: defaultdict[str, int] = defaultdict(int)

    @contextmanager
    def entered(self, host: str, connection: Endable | None, size: int = 1) -> Iterator[bool]:
        """Take room; False if it is full. `connection` is ended to make room for others."""
        guest = _Guest(networks_of(host)[-1].name, size, connection)
        is_in = self._make_room(guest)
        if is_in:
            self._by_network[guest.network][guest] = None
            self._sums[guest.network] += size
            self._taken += size
        try:
            yield is_in
        finally:
            self._leave(guest)

    def _make_room(self, guest: _Guest) -> bool:
        while self._taken and self._taken + guest.size > self._size:
            network = max(self._sums, key=lambda name: self._sums[name])
            own = self._sums.get(guest.network, 0)
            if network == guest.network or self._sums[network] <= own + guest.size:
                return False
            newest = next(reversed(self._by_network[network]))
            self._leave(newest)
            if newest.connection is not None:
                newest.connection.end()
        return True

    def _leave(self, guest: _Guest) -> None:
        guests = self._by_network.get(guest.network, {})
        if guest not in guests:
            return
        del guests[guest]
        self._taken -= guest.size
        self._sums[guest.network] -= guest.size
        if not guests:
            del self._by_network[guest.network], self._sums[guest.network]
