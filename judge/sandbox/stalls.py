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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.util import Finalize
from pathlib import Path

from judge.sandbox import stall_probe
from judge.sandbox.box import Nearby
from judge.sandbox.cgroup import Pressure
from judge.sandbox.procfs import PROC, stat_fields
from judge.sandbox.stall_probe import STALL_NS, Disk, SharedPage, list_of, waited_ns

HOST_PRESSURE = [PROC / "pressure" / name for name in ("memory", "io")]


PATIENCE_NS = 50_000_000
NAP_S = 0.0005
"""How long a probe that waits for a core is waited for, and how often it is looked at."""


class StallWatch:
    """The probe, and the pressure of the host. The probe ends with `close`, and with the judge's process."""

    def __init__(self, near: Iterable[Nearby]) -> None:
        """Start the probe near these boxes. Raises OSError where no process can be started."""
        places = list(near)
        self.cgroups = _cgroups_of(places)
        """Those that the probe was moved to, where that can be."""
        self._disks: list[Disk] = []
        self._lists = 0
        self._pressure = Pressure(HOST_PRESSURE)
        memory = os.memfd_create("judge-stalls", os.MFD_CLOEXEC)
        theirs, self._pipe = os.pipe2(os.O_CLOEXEC)
        try:
            os.ftruncate(memory, SharedPage.SIZE)
            self._page = SharedPage(memory)
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", stall_probe.__file__, str(memory), str(theirs)],
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
        for cgroup in self.cgroups:
            with suppress(OSError):  # of version 2 none may have both processes and children
                (cgroup / "cgroup.procs").write_text(str(self._process.pid), encoding="ascii")
        self.go_near(places)

    @property
    def pid(self) -> int:
        """The probe's process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the probe runs."""
        return self._process.poll() is None

    def go_near(self, places: Iterable[Nearby]) -> None:
        """Read the disks of other boxes from now on, in the same cgroups. Raises OSError where the probe is gone."""
        self._close_disks()
        self._disks = list(_disks(path for place in places for path in place.files))
        data = list_of([disk.path for disk in self._disks])
        while data:
            data = data[os.write(self._pipe, data) :]
        self._lists += 1
        while not self._has_taken_lists():
            time.sleep(NAP_S)

    def rest(self) -> bool:
        """Let go of all disks; False if the probe still reads one after a moment, or is gone."""
        self.want(0)
        with suppress(OSError):
            os.write(self._pipe, list_of([]))
            self._lists += 1
            until = time.monotonic_ns() + PATIENCE_NS
            while time.monotonic_ns() < until:
                if self._has_taken_lists():
                    return True
                time.sleep(NAP_S)
        return False

    def _has_taken_lists(self) -> bool:
        if not self.is_running:
            raise ChildProcessError("the process that tells of stalls has ended")
        return self._page.lists_taken() == self._lists

    def want(self, since: int) -> None:
        """An agent is waited for since this moment; 0: none is."""
        self._page.want(since)

    def stalled_ns(self, *, most: bool = False) -> int | None:
        """For how long the probe was stalled so far; None if it cannot tell.

        While it waits for a core, nobody can tell since when: it gets a moment to go on, and if it does not, what it
        does is no stall. `most`: at once, and then it is one, for a reading that others are compared with.
        """
        until = time.monotonic_ns() + PATIENCE_NS
        while self._process.poll() is None:
            doing, now = self._page.doing(), time.monotonic_ns()
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
        self._page.close()
        self._pressure.close()
        self._close_disks()

    def _close_disks(self) -> None:
        for disk in self._disks:
            disk.close()
        self._disks = []


class _Idle:
    """The watches of this process that no game has; a fork has none of its parent's."""

    def __init__(self) -> None:
        self._watches: list[StallWatch] = []
        self._process = 0

    def take(self, places: Sequence[Nearby]) -> StallWatch | None:
        """One that is near these boxes now; None if there is none that can be."""
        cgroups = _cgroups_of(places)
        while self._process == os.getpid() and self._watches:
            watch = self._watches.pop()
            if watch.is_running and watch.cgroups == cgroups:
                with suppress(OSError):
                    watch.go_near(places)
                    return watch
            watch.close()
        return None

    def put(self, watch: StallWatch) -> None:
        """Take one back, to be ended with this process."""
        if not watch.rest():
            watch.close()
            return
        if self._process != os.getpid():
            self._process, self._watches = os.getpid(), []
            Finalize(None, self.close, exitpriority=0)  # at the end of a worker process too
        self._watches.append(watch)

    def close(self) -> None:
        """End all."""
        while self._watches:
            self._watches.pop().close()


_IDLE = _Idle()


@contextmanager
def watch_stalls(near: Iterable[Nearby]) -> Iterator[StallWatch]:
    """A watch near these boxes, which may be one of a former game of this process: to start one takes 20 ms.

    Raises OSError where no process can be started.
    """
    places = list(near)
    watch = _IDLE.take(places) or StallWatch(places)
    try:
        yield watch
    finally:
        _IDLE.put(watch)


def _cgroups_of(places: Iterable[Nearby]) -> frozenset[Path]:
    return frozenset(place.cgroup for place in places if place.cgroup)


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
