"""A box with an agent in it, as a test talks to it: lines in, lines out, and waiting for conditions only."""

import select
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.sandbox.box import Box, Channel, EventSource
from judge.sandbox.evidence import ProcessReport
from tests.patience import PATIENCE_S


class Guest:
    """One box, polled as a referee polls it, and everything that it said."""

    def __init__(self, box: Box, program: Path) -> None:
        self.box = box
        self.program = program
        self.heard = {channel: bytearray() for channel in Channel}
        self.heard_of: set[Channel] = set()
        self.ends: list[Channel] = []
        self.reports: list[ProcessReport] = []
        self.largest_read = 0
        self._read_lines = 0
        self._poll = select.epoll()
        self._sources: dict[int, EventSource] = {}

    def move_in(self) -> "Guest":
        """Prepare the box, go to its cores and start it, and wait until somebody says what has become of the agent."""
        self.box.prepare()
        return self.begin()

    def begin(self) -> "Guest":
        """The same with a box that is prepared."""
        for source in self.box.sources:
            self._sources[source.fd] = source
            self._poll.register(source.fd, source.events)
        self.box.enter()
        self.box.start()
        self.until(lambda: bool(self.reports))
        return self

    def until(self, met: Callable[[], bool]) -> None:
        """Take in what the box says until a condition is met."""
        deadline = time.monotonic() + PATIENCE_S
        while not met():
            if time.monotonic() > deadline:
                pytest.fail(f"in vain after {PATIENCE_S} s: {self.heard}, {self.reports}, {self.ends}")
            self.take_in(0.02)

    def take_in(self, patience_s: float = 0.0) -> None:
        """Take in what the box says now, or soon."""
        for fd, _ in self._poll.poll(patience_s):
            source = self._sources[fd]
            for channel, data in source.read():
                self._hear(channel, data)
            if source.ended:
                self._poll.unregister(fd)

    def _hear(self, channel: Channel, data: bytes) -> None:
        self.largest_read = max(self.largest_read, len(data))
        self.heard[channel] += data
        self.heard_of.add(channel)
        if channel is Channel.REPORT:
            self.reports.append(ProcessReport.decode(data))
        elif not data and channel is not Channel.OOM:
            self.ends.append(channel)

    def tell(self, line: str) -> None:
        data = f"{line}\n".encode()
        assert self.box.write(data) == len(data)

    def ask(self, line: str) -> str:
        self.tell(line)
        return self.line()

    def line(self) -> str:
        self.until(lambda: self.heard[Channel.OUT].count(b"\n") > self._read_lines)
        line = self.heard[Channel.OUT].split(b"\n")[self._read_lines]
        self._read_lines += 1
        return line.decode()

    def end(self) -> ProcessReport:
        """Wait until the agent's output and its process have ended; what became of it."""
        self.until(lambda: len(self.reports) > 1 and {Channel.OUT, Channel.ERR} <= set(self.ends))
        return self.reports[-1]

    def freeze(self) -> None:
        self.box.freeze()
        self.until(self.box.is_frozen)

    def cpu_ns(self) -> int:
        used = self.box.meter.cpu_ns() or self.box.meter.readings().cpu_ns
        assert used is not None
        return used

    def until_busy(self) -> None:
        before = self.cpu_ns()
        self.until(lambda: self.cpu_ns() > before)

    def close(self) -> None:
        self.box.close()
        self._poll.close()


def work_for(seconds: float) -> None:
    """Use that much CPU time in this process: a while in which anything that can run does."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
