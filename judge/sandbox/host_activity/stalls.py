"""Stalls of the host: time for which the kernel lets processes sleep that want nothing unusual.

A task that sleeps on a lock of the kernel, on memory that is being freed or on a slow disk takes no processor from
anybody. Many such sleeps an agent can cause to itself, and by them it raises the pressure figures of its own box and of
the whole host. So no figure of an agent's makes a stall, but what happens meanwhile to a process of the judge's (the
probe, `judge.sandbox.host_activity.stall_probe`), beside the boxes and on a core of the judge's.
"""

import os
import subprocess
import sys
import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.util import Finalize
from pathlib import Path
from threading import Lock

from judge.sandbox.box import Nearby
from judge.sandbox.host_activity import stall_probe
from judge.sandbox.host_activity.stall_probe import STALL_NS, Disk, SharedPage, list_of, waited_ns
from judge.sandbox.machine.cgroup import Pressure
from judge.sandbox.machine.procfs import PROC, stat_fields

HOST_PRESSURE = [PROC / "pressure" / name for name in ("memory", "io")]


PATIENCE_NS = 50_000_000
NAP_S = 0.0005
"""How long a probe that waits for a core is waited for, and how often it is looked at."""


class StallWatch:
    """The probe, and the pressure of the host; for several games at once, each in a thread.

    The probe ends with `close`, and with the judge's process.
    """

    def __init__(self, near: Iterable[Nearby]) -> None:
        """Start the probe near these boxes. Raises OSError where no process can be started."""
        places = list(near)
        self.cgroups = _cgroups_of(places)
        """Those that the probe was moved to, where that can be."""
        self._lock = Lock()
        """Of what follows."""
        self._disks: list[Disk] = []
        self._lists = 0
        self._waiting: set[Hashable] = set()
        """The games whose agents are waited for."""
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
        self.attach_to(places)

    @property
    def pid(self) -> int:
        """The probe's process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the probe runs."""
        return self._process.poll() is None

    def attach_to(self, places: Iterable[Nearby], *, at_once: bool = True) -> None:
        """Read the disks of other boxes from now on, in the same cgroups. Raises OSError where the probe is gone.

        `at_once`: on return the probe has begun to.
        """
        disks = list(_disks(path for place in places for path in place.files))
        with self._lock:
            self._close_disks()
            self._disks = disks
            data = list_of([disk.path for disk in disks])
            while data:
                data = data[os.write(self._pipe, data) :]
            self._lists += 1
        while at_once and not self._has_taken_lists():
            time.sleep(NAP_S)

    def rest(self) -> bool:
        """Let go of all disks; False if the probe still reads one after a moment, or is gone."""
        with suppress(OSError):
            with self._lock:
                self._waiting.clear()
                self._page.want(0)
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

    def want(self, since: int, game: Hashable = None) -> None:
        """An agent of a game is waited for since this moment; 0: none is. The probe works while one of any game is."""
        with self._lock:
            self._waiting.discard(game)
            if not self._waiting:
                self._page.want(since)
            if since:
                self._waiting.add(game)

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
                with self._lock:
                    spent_ns = self._disks[doing.disk - 1].spent_ns() if 0 < doing.disk <= len(self._disks) else 0
                return doing.total_ns(now, waited, spent_ns)
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


@dataclass(slots=True)
class _Shared:
    """A watch and the games that have it now, by what is near their boxes, the oldest first."""

    watch: StallWatch
    games: list[Sequence[Nearby]] = field(default_factory=list)


class _Watches:
    """The watches of this process, one for all its games in the same cgroups; a fork has none of its parent's.

    A watch reads the disks of one of its games: agents' files are in one directory, and images are the Engine's. That
    game's place takes another one when it ends. A watch that no game has is kept for the next one.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._shared: dict[frozenset[Path], _Shared] = {}
        self._process = 0

    def take(self, places: Sequence[Nearby]) -> _Shared:
        """One near these boxes, or near those of a game that goes on. Raises OSError where none can be started."""
        cgroups = _cgroups_of(places)
        with self._lock:
            if self._process != os.getpid():
                self._process, self._shared = os.getpid(), {}
                Finalize(None, self.close, exitpriority=0)  # at the end of a worker process too
            shared = self._shared.get(cgroups)
            if shared is None or not self._goes_on(shared, places):
                shared = self._shared[cgroups] = _Shared(StallWatch(places))
            shared.games.append(places)
        return shared

    def put(self, shared: _Shared, places: Sequence[Nearby]) -> None:
        """A game has ended that had a watch."""
        with self._lock:
            was_near = shared.games[0] == places
            shared.games.remove(places)
            is_ours = self._shared.get(shared.watch.cgroups) is shared
            if shared.games:
                if was_near and is_ours:
                    with suppress(OSError):
                        shared.watch.attach_to(shared.games[0], at_once=False)
            elif not is_ours:
                shared.watch.close()
            elif not shared.watch.rest():
                del self._shared[shared.watch.cgroups]
                shared.watch.close()

    def close(self) -> None:
        """End all."""
        with self._lock:
            while self._shared:
                self._shared.popitem()[1].watch.close()

    @staticmethod
    def _goes_on(shared: _Shared, places: Sequence[Nearby]) -> bool:
        """Whether the watch can be that of one more game. If not it is closed, by the last game that has it."""
        if shared.games:
            return shared.watch.is_running
        if shared.watch.is_running:
            with suppress(OSError):
                shared.watch.attach_to(places)
                return True
        shared.watch.close()
        return False


_WATCHES = _Watches()


@contextmanager
def watch_stalls(near: Iterable[Nearby]) -> Iterator[StallWatch]:
    """A watch near these boxes, which games of this process have had before or have too: to start one takes 20 ms.

    Raises OSError where no process can be started.
    """
    places = list(near)
    shared = _WATCHES.take(places)
    try:
        yield shared.watch
    finally:
        _WATCHES.put(shared, places)


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
