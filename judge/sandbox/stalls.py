"""Stalls of the host: time for which the kernel lets processes sleep that want nothing unusual.

A task that sleeps on a lock of the kernel, on memory that is being freed or on a slow disk takes no processor from
anybody. Many such sleeps an agent can cause to itself, and by them it raises the pressure figures of its own box and of
the whole host. So no figure of an agent's makes a stall, but what happens meanwhile to a process of the judge's (the
probe, `judge.sandbox.stall_probe`), beside the boxes and on a core of the judge's.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from judge.sandbox import stall_probe
from judge.sandbox.box import Nearby
from judge.sandbox.cgroup import Pressure
from judge.sandbox.procfs import PROC, stat_fields
from judge.sandbox.stall_probe import STALL_NS, Board, Disk, waited_ns

HOST_PRESSURE = [PROC / "pressure" / name for name in ("memory", "io")]


PATIENCE_NS = 50_000_000
NAP_S = 0.0005
"""How long a probe that waits for a core is waited for, and how often it is looked at."""


class StallWatch:
    """The probe, and the pressure of the host. The probe ends with `close`, and with the judge's process."""

    def __init__(self, near: Iterable[Nearby]) -> None:
        """Start the probe near these boxes. Raises OSError where no process can be started."""
        places = list(near)
        self._disks = list(_disks(path for place in places for path in place.files))
        self._pressure = Pressure(HOST_PRESSURE)
        memory = os.memfd_create("judge-stalls", os.MFD_CLOEXEC)
        theirs, self._pipe = os.pipe2(os.O_CLOEXEC)
        try:
            os.ftruncate(memory, Board.SIZE)
            self._board = Board(memory)
            paths = (disk.path for disk in self._disks)
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", stall_probe.__file__, str(memory), str(theirs), *paths],
                pass_fds=(memory, theirs),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,  # Ctrl-C at the terminal is the judge's
            )
        finally:
            os.close(memory)
            os.close(theirs)
        self._schedstat = os.open(PROC / str(self._process.pid) / "schedstat", os.O_RDONLY)
        for cgroup in {place.cgroup for place in places if place.cgroup}:
            with suppress(OSError):  # of version 2 none may have both processes and children
                (cgroup / "cgroup.procs").write_text(str(self._process.pid), encoding="ascii")

    @property
    def pid(self) -> int:
        """The probe's process."""
        return self._process.pid

    def want(self, since: int) -> None:
        """An agent is waited for since this moment; 0: none is."""
        self._board.want(since)

    def stalled_ns(self, *, most: bool = False) -> int | None:
        """For how long the probe was stalled so far; None if it cannot tell.

        While it waits for a core, nobody can tell since when: it gets a moment to go on, and if it does not, what it
        does is no stall. `most`: at once, and then it is one, for a reading that others are compared with.
        """
        until = time.monotonic_ns() + PATIENCE_NS
        while self._process.poll() is None:
            doing, now = self._board.doing(), time.monotonic_ns()
            if now - doing.began_ns < STALL_NS:
                return doing.stalled_ns
            try:
                is_asleep = stat_fields(self.pid)[0] in "DS"
                waited = waited_ns(self._schedstat)
            except (OSError, ValueError):
                return None
            if is_asleep or most:
                spent = self._disks[doing.disk - 1].spent_ns() if doing.disk else 0
                return doing.total_ns(now, waited, spent)
            if now >= until:
                return doing.stalled_ns
            time.sleep(NAP_S)
        return None

    def pressure_ns(self) -> int | None:
        """For how long whatever wanted to run on this host waited for memory or a disk instead; see `Pressure`."""
        return self._pressure.read()

    def close(self) -> None:
        """End the probe."""
        os.close(self._pipe)
        self._process.kill()
        self._process.wait()
        os.close(self._schedstat)
        self._board.close()
        self._pressure.close()
        for disk in self._disks:
            disk.close()


def _disks(paths: Iterable[Path]) -> Iterator[Disk]:
    """The disks of those of the files that can be read past the memory."""
    for path in dict.fromkeys(map(str, paths)):
        with suppress(OSError):
            disk = Disk(path)
            try:
                disk.read()
            except OSError:
                disk.close()
                raise
            yield disk
