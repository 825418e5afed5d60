"""One command, run once in a box of its own: a directory goes in read-only, bytes come out bounded.

What unpacks and what builds a stranger's upload works here, in the same box as an agent plays in: no network, no
capabilities, a read-only root, small file systems in memory, limits on memory, processes, time and output. What comes
out is hostile, whoever wrote the command: it may have been taken over by what it read.
"""

import os
import select
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from judge.errors import HostError
from judge.sandbox.box import BoxPolicy, Channel, EventSource, Limits, ProcessReport, Tenant
from judge.sandbox.docker_box import DockerBox

DONE = ProcessReport("exited", 0)


class End(StrEnum):
    """How the work ended; what is not `FINISHED` was ended by a limit."""

    FINISHED = "finished"
    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    TALK = "talk"
    """It wrote more to stderr than it may."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be done: `directory` is mounted read-only at /agent, and `command` begins with an absolute path.

    Every word of `command` that names something in `directory` must be ours, and absolute. `seconds` are of the wall;
    `output_bytes` is the most that stdout may be, `talk_bytes` the most that stderr may be.
    """

    name: str
    directory: Path
    command: tuple[str, ...]
    image: str
    """A name of `judge.sandbox.images`."""
    limits: Limits
    seconds: float
    output_bytes: int
    talk_bytes: int
    kept_bytes: int = 64 << 10
    """How much of stderr is kept: its first half and its last."""
    environment: tuple[tuple[str, str], ...] = ()
    cores: tuple[int, ...] = ()


@dataclass(slots=True)
class Stderr:
    """The first and the last of what was written to stderr, `kept_bytes` in all, and how much it was."""

    kept_bytes: int
    total_bytes: int = 0
    first: bytearray = field(default_factory=bytearray)
    last: bytearray = field(default_factory=bytearray)

    def add(self, data: bytes) -> None:
        """Take bytes in, letting go of those in the middle."""
        self.total_bytes += len(data)
        half = self.kept_bytes // 2
        room = half - len(self.first)
        self.first += data[:room]
        self.last += data[max(0, room) :]
        del self.last[: max(0, len(self.last) - half)]

    @property
    def omitted_bytes(self) -> int:
        """How much of the middle was let go."""
        return self.total_bytes - len(self.first) - len(self.last)


@dataclass(frozen=True, slots=True)
class Work:
    """What came of a job: how it ended, PID 1's report (of a job that was ended: signalled), stderr, the seconds."""

    end: End
    report: ProcessReport
    talk: Stderr
    seconds: float

    @property
    def is_done(self) -> bool:
        """Whether the command came to its own end and reported no failure."""
        return self.end is End.FINISHED and self.report == DONE


def work(job: Command, policy: BoxPolicy, output: BinaryIO) -> Work:
    """Do a job; its stdout goes to `output`. The box is gone on return.

    Raises HostError where the Engine, the kernel or the disk fails, or the command cannot even be started: the image
    is ours. What is done to the box from inside is told in the `Work`.
    """
    with closing(DockerBox(_tenant(job), job.limits, policy)) as box:
        box.prepare()
        with _watched(box) as poll:
            return _Shift(job, box, output, poll).run()


def _tenant(job: Command) -> Tenant:
    return Tenant(
        name=job.name,
        program=job.directory,
        command=job.command,
        runtime=job.image,
        seat=0,
        match_id=job.name,
        cores=job.cores,
        environment=job.environment,
    )


class _Poll:
    """The sources of a box under one epoll, until each has ended."""

    def __init__(self, box: DockerBox, epoll: select.epoll) -> None:
        self._epoll = epoll
        self._sources: dict[int, EventSource] = {source.fd: source for source in box.sources}
        for source in self._sources.values():
            epoll.register(source.fd, source.events)

    def events(self, seconds: float) -> Iterator[tuple[Channel, bytes]]:
        """What comes within so many seconds."""
        for fd, _ in self._epoll.poll(seconds):
            if source := self._sources.get(fd):
                yield from source.read()
        for fd, source in list(self._sources.items()):
            if source.ended:  # an end may end more than the stream that it was read from
                del self._sources[fd]
                self._epoll.unregister(fd)


@contextmanager
def _watched(box: DockerBox) -> Iterator[_Poll]:
    with closing(select.epoll()) as epoll:
        yield _Poll(box, epoll)


class _Shift:
    """One job from its start to its end."""

    def __init__(self, job: Command, box: DockerBox, output: BinaryIO, poll: _Poll) -> None:
        self._job = job
        self._box = box
        self._output = output
        self._poll = poll
        self._talk = Stderr(job.kept_bytes)
        self._written = 0
        self._open = {Channel.OUT, Channel.ERR}
        self._report: ProcessReport | None = None

    def run(self) -> Work:
        """Start the command, and listen until it and its streams have ended, or a limit is reached."""
        began = time.monotonic()
        self._box.start()
        end = self._listen(began + self._job.seconds)
        report = self._report or ProcessReport("signalled", 9)
        if end is End.FINISHED and report != DONE and self._box.readings().oom_kills:
            end = End.MEMORY
        if report.kind == "exec-failed":
            raise HostError(
                f"{self._job.command[0]} cannot be started in the image {self._job.image}: "
                f"{os.strerror(report.number)}; run: judge images build {self._job.image}"
            )
        if report.kind == "lost" and end is End.FINISHED:
            raise HostError(f"The box of {self._job.name} is gone and nobody says why")
        return Work(end, report, self._talk, time.monotonic() - began)

    def _listen(self, deadline: float) -> End:
        while self._report is None or self._open:
            left = deadline - time.monotonic()
            if left <= 0:
                return End.TIME
            for channel, data in self._poll.events(left):
                self._take(channel, data)
            if self._written > self._job.output_bytes:
                return End.OUTPUT
            if self._talk.total_bytes > self._job.talk_bytes:
                return End.TALK
        return End.FINISHED

    def _take(self, channel: Channel, data: bytes) -> None:
        if channel is Channel.REPORT:
            said = ProcessReport.decode(data)
            self._report = None if said.kind == "started" else said
        elif channel in (Channel.OUT, Channel.ERR) and not data:
            self._open.discard(channel)
        elif channel is Channel.ERR:
            self._talk.add(data)
        elif channel is Channel.OUT:
            self._keep(data)

    def _keep(self, data: bytes) -> None:
        self._written += len(data)
        if self._written <= self._job.output_bytes:
            try:
                self._output.write(data)
            except OSError as error:
                raise HostError(f"{self._job.name}: {error.strerror}: make room, or set TMPDIR") from error
