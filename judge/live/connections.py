"""The server's side of a connection: the limits of the intake's, and connections that the hub writes to itself."""

import asyncio
import socket
from typing import Any

from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from judge.intake.connections import bounded_by
from judge.submissions.intake import IntakePolicy

SEND_BYTES = 128 << 10

_EXTENSION = "judge.connection"


def streaming(limits: IntakePolicy, proxy: str = "") -> type[H11Protocol]:
    """A protocol class for uvicorn, as `bounded_by`, whose connections `stream_of` can take over."""
    bounded: Any = bounded_by(limits, proxy)

    class Streaming(bounded):  # type: ignore[misc]
        """HTTP/1.1 whose answer may be written past the protocol."""

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None:
                # The application begins when this returns.
                self.cycle.scope.setdefault("extensions", {})[_EXTENSION] = self

        def take_over(self) -> asyncio.Transport:
            """The transport, from now on without a limit of time."""
            self._set_timer(None)
            transport: asyncio.Transport = self.transport
            # What the kernel stores for a client that does not read: it would take megabytes.
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
            return transport

    return Streaming


def stream_of(scope: Scope) -> asyncio.Transport:
    """The transport of a request whose answer was begun, in chunks, and is written by the caller from now on."""
    transport: asyncio.Transport = scope["extensions"][_EXTENSION].take_over()
    return transport
