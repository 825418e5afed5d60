"""Limits that uvicorn does not have: the number of connections, those of an address, and the time for a request's head.

Where there is no room for a new connection, the oldest one that waits for a request is ended.
"""

import asyncio
import socket
from collections import Counter
from typing import Any, Protocol

from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from judge.submissions.intake import IntakePolicy
from judge.web.kit.middleware import CONNECTION, longest_s
from judge.web.kit.rate_limit import address_key

SPARE_CONNECTIONS = 64
"""Connections beyond `connections`: a request that has no room is still read, and answered with the reason."""

MOST_SPARE = 4 * SPARE_CONNECTIONS
"""The same where none waits for a request, as when many come at once; one more is ended."""

SEND_BYTES = 128 << 10
"""Send buffer of the kernel for a stream; the default would take megabytes for a client that does not read."""


class _Endable(Protocol):
    def end(self) -> None: ...


def bounded_by(limits: IntakePolicy, proxy: str = "") -> type[H11Protocol]:
    """A protocol class for uvicorn with these limits; the number of connections from `proxy` is limited only by the
    number of all connections."""
    held: Counter[str] = Counter()
    waiting: dict[_Endable, None] = {}
    """Connections without a request, the oldest first."""

    class Bounded(H11Protocol):
        """HTTP/1.1 with a client that may be slow on purpose."""

        _timer: asyncio.TimerHandle | None = None
        _is_asked = False
        _is_held = False
        _key = ""
        _unsent = 0

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            host = self.client[0] if self.client else ""
            self._key = address_key(host)
            self._is_held = True
            held[self._key] += 1
            if held[self._key] > limits.connections_per_address and host != proxy:
                self.end()
                return
            spare = held.total() - limits.connections
            if spare > SPARE_CONNECTIONS and waiting:
                next(iter(waiting)).end()
            elif spare > MOST_SPARE:
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
            """The transport, from now on without a limit of time."""
            self._set_timer(None)
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
            return self.transport

        def _look(self) -> None:
            """Restart the timer if a request begins or ends."""
            cycle: RequestResponseCycle | None = self.cycle
            if cycle is not None:
                # The application begins when the caller returns.
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
                # The application has shorter limits; this one ends what they cannot.
                self._set_timer(longest_s(limits) if is_asked else limits.head_s)

        def _set_timer(self, seconds: float | None) -> None:
            if self._timer:
                self._timer.cancel()
            self._timer = None if seconds is None else self.loop.call_later(seconds, self._late)

        def _late(self) -> None:
            unsent = self.transport.get_write_buffer_size()
            if not self._is_asked and 0 < unsent < self._unsent:
                # The client still takes the end of the last answer.
                self._unsent = unsent
                self._set_timer(limits.head_s)
                return
            self.end()

        def _release(self) -> None:
            waiting.pop(self, None)
            if self._is_held:
                self._is_held = False
                held[self._key] -= 1
                if not held[self._key]:
                    del held[self._key]

        def end(self) -> None:
            """End the connection at once."""
            self._release()
            # Aborted and not closed: closing waits until the client reads the rest.
            self.transport.abort()

    return Bounded


def take_connection(scope: Scope) -> asyncio.Transport:
    """The transport of a request whose answer was begun, in chunks, and is written by the caller from now on."""
    transport: asyncio.Transport = scope["extensions"][CONNECTION].take_over()
    return transport


def uvicorn_options(limits: IntakePolicy, proxy: str = "") -> dict[str, Any]:
    """The options of uvicorn: no log of its own, no server header, and no trusted header except the proxy's."""
    return {
        "http": bounded_by(limits, proxy),
        "ws": "none",
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
