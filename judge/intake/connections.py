"""Limits that uvicorn does not have: the time for a request's headers, and the connections of an address."""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from judge.intake.middleware import longest_s
from judge.intake.rate_limit import address_key
from judge.submissions.intake import IntakePolicy


def bounded_by(limits: IntakePolicy, proxy: str = "") -> type[H11Protocol]:
    """A protocol class for uvicorn with these limits; the number of connections from `proxy` is not limited."""
    held: Counter[str] = Counter()

    class Bounded(H11Protocol):
        """HTTP/1.1 with a client that may be slow on purpose."""

        _timer: asyncio.TimerHandle | None = None
        _is_asked = False
        _key = ""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            host = self.client[0] if self.client else ""
            self._key = address_key(host)
            held[self._key] += 1
            if held[self._key] > limits.connections_per_address and host != proxy:
                transport.abort()
                return
            self._set_timer(limits.head_s)

        def connection_lost(self, exc: Exception | None) -> None:
            held[self._key] -= 1
            if not held[self._key]:
                del held[self._key]
            self._set_timer(None)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._look()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._look()

        def _look(self) -> None:
            """Restart the timer if a request begins or ends."""
            cycle: RequestResponseCycle | None = self.cycle
            is_asked = cycle is not None and not cycle.response_complete
            if is_asked != self._is_asked:
                self._is_asked = is_asked
                self._set_timer(longest_s(limits) if is_asked else limits.head_s)

        def _set_timer(self, seconds: float | None) -> None:
            if self._timer:
                self._timer.cancel()
            self._timer = None if seconds is None else self.loop.call_later(seconds, self._late)

        def _late(self) -> None:
            # Aborted and not closed: closing waits until the client reads the rest.
            self.transport.abort()

    return Bounded


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
        "limit_concurrency": limits.connections,
        "timeout_keep_alive": max(1, int(limits.head_s)),
        "timeout_graceful_shutdown": 5,
        "h11_max_incomplete_event_size": 16 << 10,
    }
