"""Detects host stalls: intervals in which the kernel delays ordinary operations (locks, reclaim, slow disks).

Only delays of a probe process (`judge.sandbox.host_activity.stall_probe`), on the judge's core, count as stalls.
"""

import os
import subprocess
import sys
import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.util import Finalize
from pathlib import Path
from threading import Lock

from judge.base.procfs import PROC, stat_fields
from judge.sandbox.box import Nearby
from judge.sandbox.host_activity import stall_probe
from judge.sandbox.host_activity.stall_probe import STALL_NS, Disk, SharedPage, list_of, waited_ns
from judge.sandbox.machine.cgroup import Pressure

HOST_PRESSURE = [PROC / "pressure" / name for name in ("memory", "io")]


PATIENCE_NS = 50_000_000
NAP_S = 0.0005


class StallWatch:
    """The probe and the host's pressure figures, for several games at once, each in its thread."""

    def __init__(self, near: Iterable[Nearby]) -> None:
        """Raises OSError if the process cannot be started."""
        places = list(near)
        self.cgroups = _cgroups_of(places)
        self.games: list[Sequence[Nearby]] = []
        self._lock = Lock()
        """For the following attributes."""
        self._disks: list[Disk] = []
        self._lists = 0
        self._waiting: set[Hashable] = set()
        with ExitStack() as at_end, ExitStack() as after_start:
            at_end.callback(self._close_disks)
            self._pressure = Pressure(HOST_PRESSURE)
            at_end.callback(self._pressure.close)
            memory = os.memfd_create("judge-stalls", os.MFD_CLOEXEC)
            after_start.callback(os.close, memory)
            os.ftruncate(memory, SharedPage.SIZE)
            self._page = SharedPage(memory)
            at_end.callback(self._page.close)
            theirs, self._pipe = os.pipe2(os.O_CLOEXEC)
            after_start.callback(os.close, theirs)
            at_end.callback(os.close, self._pipe)
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", stall_probe.__file__, str(memory), str(theirs)],
                pass_fds=(memory, theirs),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,  # no Ctrl-C from the terminal
            )
            after_start.close()  # a probe that ends breaks the pipe
            at_end.callback(self._process.wait)
            at_end.callback(self._process.kill)
            self._schedstat = os.open(PROC / str(self._process.pid) / "schedstat", os.O_RDONLY)
            at_end.callback(os.close, self._schedstat)
            for cgroup in self.cgroups:
                with suppress(OSError):  # Version 2 forbids both processes and children.
                    (cgroup / "cgroup.procs").write_text(str(self._process.pid), encoding="ascii")
            self.attach_to(places)
            self._at_end = at_end.pop_all()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def attach_to(self, places: Iterable[Nearby], *, at_once: bool = True) -> None:
        """Read the disks of other boxes in the same cgroups. Raises OSError without the probe.

        With `at_once`, wait until the probe uses them.
        """
        disks = list(_disks(path for place in places for path in place.files))
        with self._lock:
            self._close_disks()
            self._disks = disks
            self._send_list(disk.path for disk in disks)
        while at_once and not self._has_taken_lists():
            time.sleep(NAP_S)

    def rest(self) -> bool:
        """Release all disks. False if the probe still reads one after a short wait, or is gone."""
        with suppress(OSError):
            with self._lock:
                self._waiting.clear()
                self._page.want(0)
                self._send_list(())
            until = time.monotonic_ns() + PATIENCE_NS
            while time.monotonic_ns() < until:
                if self._has_taken_lists():
                    return True
                time.sleep(NAP_S)
        return False

    def _send_list(self, paths: Iterable[str]) -> None:
        data = list_of([*paths])
        while data:
            data = data[os.write(self._pipe, data) :]
        self._lists += 1

    def _has_taken_lists(self) -> bool:
        if not self.is_running:
            raise ChildProcessError("the stall probe process has ended")
        return self._page.lists_taken() == self._lists

    def want(self, since: int, game: Hashable = None) -> None:
        """Start of a game's wait for an agent; 0 ends it. The probe works while any game waits."""
        with self._lock:
            self._waiting.discard(game)
            if not self._waiting:
                self._page.want(since)
            if since:
                self._waiting.add(game)

    def stalled_ns(self, *, most: bool = False) -> int:
        """The probe's total.

        A probe without a core gets a short time to continue; otherwise its current operation does not count. With
        `most` it counts immediately: use it for baseline readings. A probe that has ended counts as stalled since then:
        an agent cannot end it, but a host without memory can.
        """
        until = time.monotonic_ns() + PATIENCE_NS
        while self._process.poll() is None:
            doing, now = self._page.doing(), time.monotonic_ns()
            if now - doing.began_ns < STALL_NS:
                return doing.stalled_ns
            with suppress(OSError, ValueError):  # it ends now, or the kernel has no memory for its statistics
                if most or stat_fields(self.pid)[0] in "DS":
                    return doing.total_ns(now, waited_ns(self._schedstat), self._spent_ns(doing.disk))
            if now >= until:
                return doing.stalled_ns
            time.sleep(NAP_S)
        doing = self._page.doing()
        return doing.stalled_ns + max(0, time.monotonic_ns() - doing.began_ns)

    def _spent_ns(self, number: int) -> int:
        with self._lock:
            return self._disks[number - 1].spent_ns() if 0 < number <= len(self._disks) else 0

    def pressure_ns(self) -> int | None:
        return self._pressure.read()

    def close(self) -> None:
        self._at_end.close()

    def _close_disks(self) -> None:
        for disk in self._disks:
            disk.close()
        self._disks = []


class _Watches:
    def __init__(self) -> None:
        self._lock = Lock()
        self._watches: dict[frozenset[Path], StallWatch] = {}
        self._process = 0

    def take(self, places: Sequence[Nearby]) -> StallWatch:
        cgroups = _cgroups_of(places)
        with self._lock:
            if self._process != os.getpid():
                self._process, self._watches = os.getpid(), {}
                Finalize(None, self.close, exitpriority=0)  # also in worker processes
            watch = self._watches.get(cgroups)
            if watch is None or not self._continues(watch, places):
                watch = self._watches[cgroups] = StallWatch(places)
            watch.games.append(places)
        return watch

    def put(self, watch: StallWatch, places: Sequence[Nearby]) -> None:
        with self._lock:
            was_near = watch.games[0] == places
            watch.games.remove(places)
            is_ours = self._watches.get(watch.cgroups) is watch
            if watch.games:
                if was_near and is_ours:
                    with suppress(OSError):
                        watch.attach_to(watch.games[0], at_once=False)
            elif not is_ours:
                watch.close()
            elif not watch.rest():
                del self._watches[watch.cgroups]
                watch.close()

    def close(self) -> None:
        with self._lock:
            while self._watches:
                self._watches.popitem()[1].close()

    @staticmethod
    def _continues(watch: StallWatch, places: Sequence[Nearby]) -> bool:
        if watch.games:
            return watch.is_running
        if watch.is_running:
            with suppress(OSError):
                watch.attach_to(places)
                return True
        watch.close()
        return False


_WATCHES = _Watches()


@contextmanager
def watch_stalls(near: Iterable[Nearby]) -> Iterator[StallWatch]:
    """One probe serves all games of this process. Raises OSError if no process can be started."""
    places = list(near)
    watch = _WATCHES.take(places)
    try:
        yield watch
    finally:
        _WATCHES.put(watch, places)


def _cgroups_of(places: Iterable[Nearby]) -> frozenset[Path]:
    return frozenset(place.cgroup for place in places if place.cgroup)


def _disks(paths: Iterable[Path]) -> Iterator[Disk]:
    for path in dict.fromkeys(map(str, paths)):
        with suppress(OSError):
            disk = Disk(path)
            try:
                disk.read()
            except OSError:
                disk.close()
                raise
            yield disk
