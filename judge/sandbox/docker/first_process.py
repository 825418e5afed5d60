"""PID 1 of a container: its process, on this kernel or as the Engine reports it, and its reports."""

import os
import select
import signal
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from judge.base.errors import HostError
from judge.sandbox.box import Channel
from judge.sandbox.docker.engine import Engine
from judge.sandbox.evidence import ProcessReport
from judge.sandbox.machine.pipes import CHUNK_BYTES, await_readable

POLL_INTERVAL_S = 0.05

STDOUT, STDERR = 1, 2
"""Streams of the Engine's frames."""

MAX_FRAME_BYTES = 4 << 20

OnReport = Callable[[bytes], ProcessReport]
OnEnd = Callable[[], Sequence[tuple[Channel, bytes]]]


class FirstProcess:
    """Event source that ends with the container's PID 1; `on_end` returns its last events.

    It uses a pidfd, so a reused PID cannot confuse it. Raises OSError without the process.
    """

    events = select.EPOLLIN

    def __init__(self, pid: int, on_end: OnEnd) -> None:
        self.fd = os.pidfd_open(pid)
        self.pid = pid
        self.ended = False
        self.on_end = on_end

    def is_running(self) -> bool:
        return not await_readable(self.fd, 0)

    def await_end(self, span_s: float) -> None:
        await_readable(self.fd, span_s)

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        if self.ended or self.is_running():
            return ()
        self.ended = True
        return self.on_end()

    def kill(self) -> bool:
        """False without permission, True also if it has ended."""
        with suppress(ProcessLookupError):
            try:
                signal.pidfd_send_signal(self.fd, signal.SIGKILL)
            except PermissionError:
                return False
        return True

    def spread(self) -> None:
        """Allow every core of its container, if permitted.

        Processes inherit the CPU affinity of a pinned Engine, and Linux 6.2 and later keep it.
        """
        with suppress(OSError):
            os.sched_setaffinity(self.pid, range(os.sysconf("SC_NPROCESSORS_CONF")))

    def close(self) -> None:
        os.close(self.fd)


class EngineProcess:
    """PID 1 of a container, as the Engine reports it."""

    def __init__(self, engine: Engine, container: str) -> None:
        self._engine = engine
        self._container = container

    def is_running(self) -> bool:
        return self._engine.is_running(self._container)

    def await_end(self, span_s: float) -> None:
        deadline = time.monotonic() + span_s
        while self.is_running() and time.monotonic() < deadline:
            time.sleep(POLL_INTERVAL_S)

    def kill(self) -> bool:
        """False: only the Engine can."""
        return False

    def close(self) -> None: ...


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


class ControlStream:
    """PID 1's reports as an event source.

    `on_end` returns the events for its end, which comes when the container or the Engine is gone.
    """

    events = select.EPOLLIN

    def __init__(self, attached: socket.socket, on_report: OnReport, on_end: OnEnd) -> None:
        self._socket = attached
        self.on_report = on_report
        self.on_end = on_end
        self._streams = Frames(8)
        self._control = Frames(5)
        self._is_clean = False
        self.fd = attached.fileno()
        self.ended = False

    def start(self) -> None:
        """Let PID 1 run the agent with the pipes of /io."""
        self._send_word(b"P")

    def clean(self, span_s: float) -> bool:
        """Let PID 1 clean up after the former agent; False without a confirmation in time.

        Discards output that arrives before it.
        """
        self._is_clean = False
        self._send_word(b"C")
        deadline = time.monotonic() + span_s
        while not self._is_clean and not self.ended and (left := deadline - time.monotonic()) > 0:
            await_readable(self.fd, left)
            self.read()
        return self._is_clean

    def finish(self, span_s: float) -> Sequence[tuple[Channel, bytes]]:
        """Remaining reports of an ended container, and its end. The Engine may fail to close the stream."""
        said: list[tuple[Channel, bytes]] = []
        deadline = time.monotonic() + span_s
        while not self.ended and (left := deadline - time.monotonic()) > 0:
            await_readable(self.fd, left)
            said += self.read()
        return said if self.ended else [*said, *self._end()]

    def read(self) -> Sequence[tuple[Channel, bytes]]:
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

    def write(self, data: bytes) -> int:
        """Write without blocking: bytes written, 0 if the socket is full, -1 after its end."""
        if self.ended:
            return -1
        try:
            return self._socket.send(data)
        except (BlockingIOError, ssl.SSLWantWriteError):
            return 0
        except OSError:
            return -1

    def close(self) -> None:
        self.ended = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _send_word(self, word: bytes) -> None:
        if self.write(word) != len(word):
            raise HostError("The container ended before its agent was started: see the Engine's log")

    def _end(self) -> Sequence[tuple[Channel, bytes]]:
        self.ended = True
        return self.on_end()

    def _events(self, stream: int, payload: bytes) -> Iterator[tuple[Channel, bytes]]:
        if stream == STDERR:
            for kind, frame in self._control.feed(payload):
                if kind == ord("C"):
                    self._is_clean = True
                elif kind == ord("R"):
                    yield Channel.REPORT, self.on_report(frame).encode()
                else:
                    yield from self._stderr(frame)

    def _stderr(self, _data: bytes) -> Iterator[tuple[Channel, bytes]]:
        """The agent's, which does not come here."""
        return iter(())
