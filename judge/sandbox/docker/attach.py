"""The Engine's attach stream: PID 1's reports, and the agent's streams where pipes cannot reach it."""

import os
import secrets
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress

from judge.base.errors import HostError
from judge.sandbox.box import Channel
from judge.sandbox.evidence import ProcessReport
from judge.sandbox.machine.pipes import CHUNK_BYTES, await_readable

STDOUT, STDERR = 1, 2

MAX_FRAME_BYTES = 4 << 20

PATIENCE_S = 0.01

TLS_RECORD_BYTES = 1 << 14
"""Maximum size of a TLS record: of larger writes TLS does not report the bytes written."""


class Frames:
    """Splits bytes into frames. A header's first byte is the kind, its last four are the payload's length."""

    def __init__(self, header: int) -> None:
        """`header` is its length: 8 for the Engine's frames, 5 for PID 1's."""
        self._header = header
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Complete frames as (kind, payload). Raises HostError."""
        self._rest += data
        while len(self._rest) >= self._header:
            end = self._header + int.from_bytes(self._rest[self._header - 4 : self._header], "big")
            if end > MAX_FRAME_BYTES:
                raise HostError(f"The Engine's attach stream holds a frame of {end} bytes: it is broken")
            if len(self._rest) < end:
                return
            kind, payload = self._rest[0], bytes(self._rest[self._header : end])
            del self._rest[:end]
            yield kind, payload


class EndMark:
    """Finds the secret marker that PID 1 writes after the agent's stdout.

    Its first byte never ends a line of text, so no complete line is delayed.
    """

    LENGTH = 16

    def __init__(self) -> None:
        self.mark = b"\0" + secrets.token_bytes(self.LENGTH - 1)
        self._held = b""

    def feed(self, data: bytes) -> tuple[bytes, bool]:
        data = self._held + data
        if data.endswith(self.mark):
            self._held = b""
            return data[: -self.LENGTH], True
        lengths = range(min(len(data), self.LENGTH - 1), 0, -1)
        held = next((n for n in lengths if data.endswith(self.mark[:n])), 0)
        self._held = data[len(data) - held :]
        return data[: len(data) - held], False


class AttachStream:
    """The stream as one event source.

    `on_end` returns the events for its end, which comes when the container or the Engine is gone.
    """

    events = select.EPOLLIN

    def __init__(
        self,
        attached: socket.socket,
        on_report: Callable[[bytes], ProcessReport],
        on_end: Callable[[], Sequence[tuple[Channel, bytes]]],
    ) -> None:
        self._socket = attached
        self.on_report = on_report
        self.on_end = on_end
        self._streams = Frames(8)
        self._control = Frames(5)
        self._mark: EndMark | None = None
        self._held: list[tuple[Channel, bytes]] = []
        self._open = {Channel.OUT, Channel.ERR}
        self._is_clean = False
        self._is_tls = isinstance(attached, ssl.SSLSocket)
        self.fd = attached.fileno()
        self.stdin_fd = os.dup(self.fd)  # the same socket, polled separately
        self.ended = False

    def say_pipes(self) -> None:
        self._say(b"P")

    def say_attach(self) -> None:
        self._mark = EndMark()
        self._say(b"A" + self._mark.mark)

    def clean(self, span_s: float) -> bool:
        """Let PID 1 clean up after the former agent; False without a confirmation in time.

        Discards output that arrives before it.
        """
        self._is_clean, self._held = False, []
        self._say(b"C")
        deadline = time.monotonic() + span_s
        while not self._is_clean and not self.ended and (left := deadline - time.monotonic()) > 0:
            await_readable(self.fd, left)
            self._receive()
        return self._is_clean

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        held, self._held = self._held, []
        return [*held, *self._receive()]

    def take_in(self, until: Future[None]) -> None:
        """Buffer output for the next read until a call is done."""
        while not until.done():
            if self.ended:
                time.sleep(PATIENCE_S)
            else:
                await_readable(self.fd, PATIENCE_S)
            self._held += self._receive()

    def finish(self, span_s: float) -> Sequence[tuple[Channel, bytes]]:
        """Remaining output of an ended container, and its end.

        The Engine may fail to close the stream.
        """
        said: list[tuple[Channel, bytes]] = []
        deadline = time.monotonic() + span_s
        while not self.ended and (left := deadline - time.monotonic()) > 0:
            await_readable(self.fd, left)
            said += self.read()
        return said if self.ended else [*said, *self._end()]

    def _receive(self) -> Sequence[tuple[Channel, bytes]]:
        if self.ended:
            return ()
        try:
            data = self._socket.recv(CHUNK_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError):
            return ()
        except OSError:
            data = b""  # a reset is an end
        if data:
            return [event for kind, payload in self._streams.feed(data) for event in self._events(kind, payload)]
        return self._end()

    def _end(self) -> Sequence[tuple[Channel, bytes]]:
        self.ended = True
        ends = [(channel, b"") for channel in self._open] if self._mark else []
        return [*ends, *self.on_end()]

    def write(self, data: bytes) -> int:
        if self.ended:
            return -1
        try:
            return self._socket.send(data[:TLS_RECORD_BYTES] if self._is_tls else data)
        except (BlockingIOError, ssl.SSLWantWriteError):
            return 0
        except OSError:
            return -1

    def close(self) -> None:
        self.ended = True
        if self.stdin_fd >= 0:
            os.close(self.stdin_fd)
            self.stdin_fd = -1
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _say(self, word: bytes) -> None:
        if self.write(word) != len(word):
            raise HostError("The container ended before its agent was started: see the Engine's log")

    def _events(self, stream: int, payload: bytes) -> Iterator[tuple[Channel, bytes]]:
        if stream == STDERR:
            for kind, frame in self._control.feed(payload):
                if kind == ord("C"):
                    self._is_clean = True
                elif kind == ord("R"):
                    yield Channel.REPORT, self.on_report(frame).encode()
                else:
                    if not frame:
                        self._open.discard(Channel.ERR)
                    yield Channel.ERR, frame
        elif self._mark and Channel.OUT in self._open:
            data, last = self._mark.feed(payload)
            if data:
                yield Channel.OUT, data
            if last:
                self._open.discard(Channel.OUT)
                yield Channel.OUT, b""
