"""A box for an Engine whose named pipes cannot be shared: on another machine, in a virtual machine, or with gVisor.

The Engine's attach stream carries the agent's bytes, and the Engine ends the container. Every clock includes the
Engine's delay, so contests refuse this box.
"""

import os
import secrets
import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path

from judge.base.logs import get_logger
from judge.sandbox.box import Channel, EventSource
from judge.sandbox.docker.container_box import Container, ContainerBox
from judge.sandbox.docker.engine import Engine
from judge.sandbox.docker.first_process import STDOUT, ControlStream, EngineProcess, OnEnd, OnReport
from judge.sandbox.docker.kept import log_no_effect
from judge.sandbox.machine.pipes import await_readable

log = get_logger()

POLL_INTERVAL_S = 0.01

TLS_RECORD_BYTES = 1 << 14
"""Maximum size of a TLS record: of larger writes TLS does not report the bytes written."""


class EndMark:
    """Finds the secret marker that PID 1 writes after the agent's stdout.

    Its first byte never ends a line of text, so no complete line is delayed.
    """

    LENGTH = 16

    def __init__(self) -> None:
        self.mark = b"\0" + secrets.token_bytes(self.LENGTH - 1)
        self._tail = b""

    def feed(self, data: bytes) -> tuple[bytes, bool]:
        data = self._tail + data
        if data.endswith(self.mark):
            self._tail = b""
            return data[: -self.LENGTH], True
        lengths = range(min(len(data), self.LENGTH - 1), 0, -1)
        length = next((n for n in lengths if data.endswith(self.mark[:n])), 0)
        self._tail = data[len(data) - length :]
        return data[: len(data) - length], False


class AttachStream(ControlStream):
    """Also carries the agent's stdin, stdout and stderr."""

    def __init__(self, attached: socket.socket, on_report: OnReport, on_end: OnEnd) -> None:
        super().__init__(attached, on_report, on_end)
        self._mark = EndMark()
        self._buffer: list[tuple[Channel, bytes]] = []
        self._open: set[Channel] = set()
        self._is_tls = isinstance(attached, ssl.SSLSocket)
        self.stdin_fd = os.dup(self.fd)  # the same socket, polled separately

    def start(self) -> None:
        self._open = {Channel.OUT, Channel.ERR}
        self._send_word(b"A" + self._mark.mark)

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        events, self._buffer = self._buffer, []
        return [*events, *super().read()]

    def take_in(self, until: Future[None]) -> None:
        """Buffer output for the next read until a call is done."""
        while not until.done():
            if self.ended:
                time.sleep(POLL_INTERVAL_S)
            else:
                await_readable(self.fd, POLL_INTERVAL_S)
            self._buffer += super().read()

    def write(self, data: bytes) -> int:
        return super().write(data[:TLS_RECORD_BYTES] if self._is_tls else data)

    def close(self) -> None:
        if self.stdin_fd >= 0:
            os.close(self.stdin_fd)
            self.stdin_fd = -1
        super().close()

    def _end(self) -> Sequence[tuple[Channel, bytes]]:
        return [*((channel, b"") for channel in self._open), *super()._end()]

    def _events(self, stream: int, payload: bytes) -> Iterator[tuple[Channel, bytes]]:
        yield from super()._events(stream, payload)
        if stream == STDOUT and Channel.OUT in self._open:
            data, is_last = self._mark.feed(payload)
            if data:
                yield Channel.OUT, data
            if is_last:
                self._open.discard(Channel.OUT)
                yield Channel.OUT, b""

    def _stderr(self, data: bytes) -> Iterator[tuple[Channel, bytes]]:
        if not data:
            self._open.discard(Channel.ERR)
        yield Channel.ERR, data


class AttachBox(ContainerBox[EngineProcess]):
    """Streams, counters and kills through the Engine."""

    name = "docker-attach"
    is_elsewhere = True
    _stream: AttachStream | None = None

    def prepare(self) -> None:
        if self._policy.reuse == "agent":
            log_no_effect("PID 1 hears the agent's input and the judge's words in one stream (box.transport)")
        super().prepare()

    @property
    def sources(self) -> Sequence[EventSource]:
        oom = self._container.oom if self._container else None
        return [source for source in (self._stream, oom) if source]

    def write(self, data: bytes) -> int:
        return -1 if self._over or not self._stream else self._stream.write(data)

    @property
    def stdin_fd(self) -> int:
        return -1 if self._over or not self._stream else self._stream.stdin_fd

    def file_bytes(self) -> int:
        return sum(self._file_limits.values())

    def _share(self, engine: Engine, directory: Path) -> tuple[Path | None, None]:
        if engine.sees(directory):
            return directory, None
        if self._tenant.digest:
            log_shared_files()
        return None, None

    def _open_stream(self, attached: socket.socket) -> AttachStream:
        self._stream = AttachStream(attached, self._on_report, self._on_end)
        return self._stream

    def _open_first(
        self, container: Container[EngineProcess], _pid: int, _groups: Mapping[str, Path] | None
    ) -> EngineProcess:
        return EngineProcess(container.engine, container.id)

    def _kill_by_engine(self, container: Container[EngineProcess]) -> None:
        """The Engine waits until all output is read."""
        with ThreadPoolExecutor(1) as pool:
            killing = pool.submit(super()._kill_by_engine, container)
            if self._stream:
                self._stream.take_in(killing)
            killing.result()


@cache
def log_shared_files() -> None:
    """Log once that boxes do not copy the agents' files."""
    log.warning(
        "the Engine does not see TMPDIR: all games of an agent share its files, so an agent can pass numbers from game "
        "to game; set TMPDIR to a directory that the Engine sees"
    )
