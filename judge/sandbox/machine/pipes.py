"""Named pipes between judge and agent. End of file means that the agent is gone."""

import os
import select
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from judge.sandbox.box import Channel

CHUNK_BYTES = 1 << 14
"""Per read: each chunk is processed before other events."""


class PipeSource:
    """The first end of file is final, even if an agent reopens a named pipe."""

    events = select.EPOLLIN

    def __init__(self, fd: int, channel: Channel) -> None:
        self.fd = fd
        self.ended = False
        self._channel = channel

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        if self.ended:
            return ()
        try:
            data = os.read(self.fd, CHUNK_BYTES)
        except BlockingIOError:
            return ()
        self.ended = not data
        return ((self._channel, data),)


class NamedPipes:
    """Three named pipes in a directory for /io.

    Until the agent runs, the judge holds both ends of every pipe, so nothing blocks, is lost or reads as an end of
    file. `settle` closes the agent's ends.
    """

    MODES: ClassVar = {"in": 0o644, "out": 0o622, "err": 0o622}
    """The agent, another user, reads only `in` and writes only `out` and `err`. The parent directory's mode excludes
    other users.
    """

    def __init__(self, parent: Path) -> None:
        """`parent` should have mode 0700."""
        self.directory = parent / "io"
        self.directory.mkdir(exist_ok=True)
        self.directory.chmod(0o755)
        self._fds: list[int] = []
        self._held: list[int] = []
        try:
            for name, mode in self.MODES.items():
                path = self.directory / name
                path.unlink(missing_ok=True)
                os.mkfifo(path)
                path.chmod(mode)
                self._held.append(os.open(path, os.O_RDWR | os.O_NONBLOCK))
            self._stdin = self._open("in", os.O_WRONLY)
            self.sources = (
                PipeSource(self._open("out", os.O_RDONLY), Channel.OUT),
                PipeSource(self._open("err", os.O_RDONLY), Channel.ERR),
            )
        except OSError:
            self.close()
            raise

    @property
    def stdin_fd(self) -> int:
        return self._stdin

    def write(self, data: bytes) -> int:
        return write_some(self._stdin, data)

    def settle(self) -> None:
        while self._held:
            os.close(self._held.pop())

    def close(self) -> None:
        self.settle()
        self._stdin = -1
        while self._fds:
            os.close(self._fds.pop())

    def _open(self, name: str, mode: int) -> int:
        fd = os.open(self.directory / name, mode | os.O_NONBLOCK)
        self._fds.append(fd)
        return fd


def await_readable(fd: int, span_s: float) -> bool:
    """Whether data or an end of file arrives within `span_s`; for a pidfd, whether the process ends."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(span_s * 1000))


def write_some(fd: int, data: bytes) -> int:
    """Write without blocking: bytes written, 0 if the pipe is full, -1 without a reader (or `fd` is -1)."""
    if fd < 0:
        return -1
    with suppress(BlockingIOError):
        try:
            return os.write(fd, data)
        except BrokenPipeError:
            return -1
    return 0
