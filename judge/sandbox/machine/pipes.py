"""Named pipes between judge and agent: an end of file means that the agent is gone, never that it has not started."""

import os
import select
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from judge.sandbox.box import Channel

CHUNK = 1 << 14
"""The most that is read at a time, in bytes: what is in it is looked at before anything else is, so it is not much."""


class PipeSource:
    """The reading end of a pipe. The first end of file is final, though an agent may open a named pipe again."""

    events = select.EPOLLIN

    def __init__(self, fd: int, channel: Channel) -> None:
        self.fd = fd
        self.ended = False
        self._channel = channel

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        """What is there now, at most `CHUNK`; empty data is the end."""
        if self.ended:
            return ()
        try:
            data = os.read(self.fd, CHUNK)
        except BlockingIOError:
            return ()
        self.ended = not data
        return ((self._channel, data),)


class NamedPipes:
    """Three named pipes in a directory of their own, to be mounted read-only at /io.

    The order of opening is what matters. Before the agent runs, the judge holds both ends of every pipe: nothing
    blocks, nothing is lost and nothing reads as an end. `settle`, once the agent runs or never will, leaves it only
    its own ends.
    """

    MODES: ClassVar = {"in": 0o644, "out": 0o622, "err": 0o622}
    """For other users than the judge: the agent, under any user (user namespaces shift it), reads `in` only and writes
    `out` and `err` only, and the parent's mode excludes everybody else."""

    def __init__(self, parent: Path) -> None:
        """Make and open the pipes in a directory of `parent`, which should have mode 0700; others there go."""
        self.directory = parent / "io"
        self.directory.mkdir(exist_ok=True)
        self.directory.chmod(0o755)
        self._fds: list[int] = []
        self._held: list[int] = []
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

    @property
    def stdin_fd(self) -> int:
        return self._stdin

    def write(self, data: bytes) -> int:
        return write_some(self._stdin, data)

    def settle(self) -> None:
        """Close the agent's ends."""
        while self._held:
            os.close(self._held.pop())

    def close(self) -> None:
        """Close everything; the owner of the parent removes the directory."""
        self.settle()
        self._stdin = -1
        while self._fds:
            os.close(self._fds.pop())

    def _open(self, name: str, mode: int) -> int:
        fd = os.open(self.directory / name, mode | os.O_NONBLOCK)
        self._fds.append(fd)
        return fd


def await_readable(fd: int, span_s: float) -> bool:
    """Whether there is something to read, an end included, now or within the span; of a process's handle, its end.

    `select.select` would refuse the number of a file above 1,023, which a judge of many games has.
    """
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(span_s * 1000))


def write_some(fd: int, data: bytes) -> int:
    """Write without blocking: the number of bytes taken, 0 when full, -1 when nobody reads (or `fd` is -1)."""
    if fd < 0:
        return -1
    with suppress(BlockingIOError):
        try:
            return os.write(fd, data)
        except BrokenPipeError:
            return -1
    return 0
