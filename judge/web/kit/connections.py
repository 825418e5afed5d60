"""Listen addresses, and limits that uvicorn lacks: connections in total and per address, and time for a request's head.

Beyond a limit, the oldest idle connection is closed.
"""

import asyncio
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EADDRINUSE
from ipaddress import ip_address
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Scope
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from judge.base.descriptors import watchable_descriptors
from judge.base.errors import InputError
from judge.base.logs import get_logger
from judge.base.procfs import listening_process, program_name
from judge.base.scheduling import lower_priority
from judge.base.worker_processes import start_fork_server
from judge.submissions.intake import IntakePolicy
from judge.web.kit.clients import MAX_SPARE_CONNECTIONS, SPARE_CONNECTIONS, ClientLimits, Endable, IsOrganiser, Rooms
from judge.web.kit.middleware import CONNECTION, longest_s
from judge.web.kit.networks import NetworkCounts

UNSENT_BYTES = 16 << 10
"""Of an answer, beyond which the next piece waits; asyncio's default is 64 KiB."""

ACCEPT_QUEUE = 4096
"""Connections that wait in the kernel. It drops more, and their clients repeat them after 1 s."""

ACCEPTS = 16
"""Connections that are accepted in one round of the event loop. Thousands at once could use up the descriptors; asyncio
would then accept none for 1 s.
"""

SEND_BYTES = 64 << 10
"""Kernel send buffer of a connection. The default takes megabytes of an unread answer."""


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """An address to listen on."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        return ip_address(self.host).is_loopback

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_listen_address(text: str, option: str = "--listen") -> ListenAddress:
    """Parse `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`; port 0: any free port. Raises InputError."""
    host, colon, port = text.rpartition(":")
    host = "127.0.0.1" if host == "localhost" else host.removeprefix("[").removesuffix("]")
    try:
        ip_address(host)
        number = int(port)
        if not colon or not 0 <= number < 1 << 16:
            raise ValueError
    except ValueError:
        raise InputError(f"{option} {text!r}: use an IP address and a port, such as 127.0.0.1:8080") from None
    return ListenAddress(host, number)


def checked_proxy(text: str) -> str:
    """One address or "": other values would let clients escape the limits. Raises InputError."""
    try:
        return str(ip_address(text)) if text else ""
    except ValueError:
        raise InputError(f"--proxy {text!r}: use one IP address, such as 127.0.0.1") from None


@contextmanager
def listening_at(text: str, *, beyond_loopback: bool) -> Iterator[tuple[socket.socket, ListenAddress]]:
    """A listening socket and its address; as `listening`."""
    with listening(parse_listen_address(text), beyond_loopback=beyond_loopback) as listener:
        yield listener, ListenAddress(*listener.getsockname()[:2])


def listening(address: ListenAddress, *, beyond_loopback: bool, option: str = "--listen") -> socket.socket:
    """Raises InputError if listening fails, or if the address needs `beyond_loopback`."""
    if not address.is_loopback and not beyond_loopback:
        raise InputError(
            f"{option} {address}: other machines could reach it, and would send tokens without encryption: "
            "listen on 127.0.0.1 and let a server with TLS forward to it, or use --beyond-loopback"
        )
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        listener = socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        if error.errno == EADDRINUSE:
            pid = listening_process(address.port)
            holder = "another program" if pid is None else f"{program_name(pid)}, process {pid},"
            raise InputError(f"{option} {address}: {holder} listens there: end it, or give another port") from None
        raise InputError(f"{option} {address}: {os.strerror(error.errno or 0)}") from None
    # asyncio sets it only on its own sockets. Without it, responses of two segments are delayed by 40 ms on reused
    # connections.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
    return listener


def bounded_by(limits: IntakePolicy, connections: int, proxy: str = "") -> type[H11Protocol]:
    """Protocol class for uvicorn, for a number of `connections` with a request.

    `ClientLimits` limits these. So if there are more, some wait for a request, and the oldest of them is ended.
    Connections from `proxy` are only limited in total.
    """
    counts = NetworkCounts(limits.connections_per_address)
    open_connections: set[Endable] = set()
    waiting: dict[Endable, None] = {}

    class Bounded(H11Protocol):
        """Clients may be slow on purpose."""

        _timer: asyncio.TimerHandle | None = None
        _is_asked = False
        _host = ""
        _unsent = 0

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            transport.set_write_buffer_limits(high=UNSENT_BYTES)
            self._host = self.client[0] if self.client else ""
            has_room = self._host == proxy or counts.has_room(self._host)
            open_connections.add(self)
            counts.add(self._host)
            if not has_room:
                self.end()
                return
            spare = len(open_connections) - connections
            if spare > SPARE_CONNECTIONS and waiting:
                next(iter(waiting)).end()
            elif spare > MAX_SPARE_CONNECTIONS:
                self.end()
                return
            waiting[self] = None
            self._set_timer(limits.head_s)

        def connection_lost(self, exc: Exception | None) -> None:
            self._release()
            self._set_timer(None)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._look()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._look()

        def take_over(self) -> asyncio.Transport:
            """Transport, now without time limit."""
            self._set_timer(None)
            return self.transport

        def _look(self) -> None:
            cycle: RequestResponseCycle | None = self.cycle
            if cycle is not None:
                # Begins when the caller returns.
                scope: Any = cycle.scope
                scope.setdefault("extensions", {})[CONNECTION] = self
            is_asked = cycle is not None and not cycle.response_complete
            if is_asked != self._is_asked:
                self._is_asked = is_asked
                if is_asked:
                    waiting.pop(self, None)
                else:
                    waiting[self] = None
                    self._unsent = self.transport.get_write_buffer_size()
                self._set_timer(longest_s(limits) if is_asked else limits.head_s)

        def _set_timer(self, seconds: float | None) -> None:
            if self._timer:
                self._timer.cancel()
            self._timer = None if seconds is None else self.loop.call_later(seconds, self._late)

        def _late(self) -> None:
            unsent = self.transport.get_write_buffer_size()
            if not self._is_asked and 0 < unsent < self._unsent:
                # The client reads the last response.
                self._unsent = unsent
                self._set_timer(limits.head_s)
                return
            self.end()

        def _release(self) -> None:
            waiting.pop(self, None)
            if self in open_connections:
                open_connections.remove(self)
                counts.add(self._host, -1)

        def end(self) -> None:
            self._release()
            # Closing would wait for the client.
            self.transport.abort()

    return Bounded


def take_connection(scope: Scope) -> asyncio.Transport:
    """Transport of a request, to continue its chunked response."""
    transport: asyncio.Transport = scope["extensions"][CONNECTION].take_over()
    return transport


class AppServer:
    """Serves an application within `limits` for each client."""

    def __init__(
        self,
        app: ASGIApp,
        limits: IntakePolicy,
        listener: socket.socket,
        proxy: str,
        organisers: Mapping[str, IsOrganiser],
        **options: Any,
    ) -> None:
        """`options` are uvicorn's. Raises InputError if this process may open too few files."""
        self._allowed = Rooms.for_descriptors(limits, watchable_descriptors())
        self._is_limited = self._allowed != Rooms.wanted(limits)
        self._listener = listener
        limited = ClientLimits(app, limits, self._allowed, organisers)
        options = uvicorn_options(limits, self._allowed.connections, proxy) | options
        self._server = _Server(uvicorn.Config(limited, **options))

    def run(self) -> None:
        if self._is_limited:
            numbers = self._allowed._asdict()
            get_logger().warning("the limit of files lowers the number of requests and streams at once", **numbers)
        start_fork_server()  # its workers have the normal priority
        lower_priority()  # threads started earlier keep their priority
        self._server.run(sockets=[self._listener])


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(ACCEPT_QUEUE)


def uvicorn_options(limits: IntakePolicy, connections: int, proxy: str = "") -> dict[str, Any]:
    """No log, no server header, only `proxy`'s headers trusted; `connections` as of `bounded_by`."""
    return {
        "http": bounded_by(limits, connections, proxy),
        "ws": "none",
        "backlog": ACCEPTS,
        "lifespan": "off",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": bool(proxy),
        "forwarded_allow_ips": proxy or None,
        "timeout_keep_alive": max(1, int(limits.head_s)),
        "timeout_graceful_shutdown": 5,
        "h11_max_incomplete_event_size": 16 << 10,
    }
