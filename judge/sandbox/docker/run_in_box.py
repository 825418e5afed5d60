"""Runs one command in its own box, with a read-only directory and bounded output.

Output is hostile even for our own command, because its input may have taken it over.
"""

import os
import select
import time
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from judge.base.errors import HostError
from judge.base.text import printable_lines
from judge.sandbox.box import Box, BoxPolicy, Channel, EventSource, Limits, Tenant
from judge.sandbox.evidence import ProcessReport, host_memory_words
from judge.sandbox.open_box import open_box

SUCCESS = ProcessReport("exited", 0)

CPU_SHARES = 341
"""A third of a game's, because only games have clocks."""


class CommandEnd(StrEnum):
    """All values except `FINISHED` are limits."""

    FINISHED = "finished"
    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    STDERR = "stderr"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Command:
    """`directory` is mounted read-only at /agent; words of `command` are absolute paths of ours.

    `seconds` is wall-clock time; `output_bytes` and `stderr_bytes` are maximum sizes.
    """

    name: str
    directory: Path
    command: tuple[str, ...]
    image: str
    limits: Limits
    seconds: float
    output_bytes: int
    stderr_bytes: int
    log_bytes: int = 64 << 10
    """Of the returned stderr: its first and last half."""
    environment: tuple[tuple[str, str], ...] = ()
    cores: tuple[int, ...] = ()
    runs_scratch: bool = False


@dataclass(slots=True)
class Stderr:
    """The beginning and end of stderr, `log_bytes` in all, and its total size."""

    log_bytes: int
    total_bytes: int = 0
    first: bytearray = field(default_factory=bytearray)
    last: bytearray = field(default_factory=bytearray)

    def add(self, data: bytes) -> None:
        self.total_bytes += len(data)
        half = self.log_bytes // 2
        room = half - len(self.first)
        self.first += data[:room]
        self.last += data[max(0, room) :]
        del self.last[: max(0, len(self.last) - half)]

    @property
    def omitted_bytes(self) -> int:
        return self.total_bytes - len(self.first) - len(self.last)

    def __str__(self) -> str:
        if not self.omitted_bytes:
            lines = printable_lines(self.first + self.last)
        else:
            omitted = f"[{self.omitted_bytes} bytes are left out here]"
            lines = [*printable_lines(self.first), omitted, *printable_lines(self.last)]
        return "\n".join(lines).strip("\n")


@dataclass(frozen=True, slots=True)
class CommandResult:
    """`report` is PID 1's; after a limit: signalled."""

    end: CommandEnd
    report: ProcessReport
    stderr: Stderr
    seconds: float

    @property
    def is_success(self) -> bool:
        return self.end is CommandEnd.FINISHED and self.report == SUCCESS


def run_in_box(command: Command, policy: BoxPolicy, output: BinaryIO) -> CommandResult:
    """Run a command with its stdout written to `output`.

    Raises HostError if the Engine, the kernel or the disk fails, or the command cannot start. The result has failures
    caused inside.
    """
    tenant = Tenant(
        name=command.name,
        program=command.directory,
        command=command.command,
        runtime=command.image,
        seat=0,
        game_id=command.name,
        cores=command.cores,
        cpu_shares=CPU_SHARES,
        environment=command.environment,
        runs_scratch=command.runs_scratch,
    )
    with closing(open_box("docker", tenant, command.limits, policy)) as box, closing(select.epoll()) as epoll:
        box.prepare()
        try:
            return _Run(command, box, output, epoll).run()
        finally:
            box.leave()  # nothing else runs on its cores until it is gone


class _Run:
    def __init__(self, command: Command, box: Box, output: BinaryIO, epoll: select.epoll) -> None:
        self._command = command
        self._box = box
        self._output = output
        self._output_bytes = 0
        self._stderr = Stderr(command.log_bytes)
        self._open = {Channel.OUT, Channel.ERR}
        self._report: ProcessReport | None = None
        self._epoll = epoll
        self._sources: dict[int, EventSource] = {source.fd: source for source in box.sources}
        for source in self._sources.values():
            epoll.register(source.fd, source.events)

    def run(self) -> CommandResult:
        began = time.monotonic()
        self._box.start()
        end = self._read_all(began + self._command.seconds)
        report = self._report or ProcessReport("signalled", 9)
        if end in (CommandEnd.FINISHED, CommandEnd.MEMORY) and report != SUCCESS:
            readings = self._box.meter.readings()
            if readings.oom_kills and readings.reached_cap is False:
                raise HostError(host_memory_words(readings))
            if readings.oom_kills:
                end = CommandEnd.MEMORY
        if report.kind == "exec-failed":
            raise HostError(
                f"{self._command.command[0]} cannot be started in the image {self._command.image}: "
                f"{os.strerror(report.number)}; run: judge images build {self._command.image}"
            )
        if report.kind == "removed" and end is CommandEnd.FINISHED:
            raise HostError(f"The box of {self._command.name} was ended by another client of the Engine: try again")
        if report.kind == "lost" and end is CommandEnd.FINISHED:
            end = CommandEnd.LOST
        return CommandResult(end, report, self._stderr, time.monotonic() - began)

    def _read_all(self, deadline: float) -> CommandEnd:
        while self._report is None or self._open:
            left = deadline - time.monotonic()
            if left <= 0:
                return CommandEnd.TIME
            for fd, _ in self._epoll.poll(left):
                if source := self._sources.get(fd):
                    for channel, data in source.read():
                        self._add(channel, data)
            for fd, source in list(self._sources.items()):
                if source.ended:  # one stream may end another
                    del self._sources[fd]
                    self._epoll.unregister(fd)
            if self._output_bytes > self._command.output_bytes:
                return CommandEnd.OUTPUT
            if self._stderr.total_bytes > self._command.stderr_bytes:
                return CommandEnd.STDERR
        return CommandEnd.FINISHED

    def _add(self, channel: Channel, data: bytes) -> None:
        if channel is Channel.REPORT:
            report = ProcessReport.decode(data)
            self._report = None if report.kind == "started" else report
        elif channel in (Channel.OUT, Channel.ERR) and not data:
            self._open.discard(channel)
        elif channel is Channel.ERR:
            self._stderr.add(data)
        elif channel is Channel.OUT:
            self._output_bytes += len(data)
            if self._output_bytes <= self._command.output_bytes:
                try:
                    self._output.write(data)
                except OSError as error:
                    raise HostError(f"{self._command.name}: {error.strerror}: make room, or set TMPDIR") from error
