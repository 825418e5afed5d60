"""Finds and reads a container's cgroups from outside, on v1, v2 and hybrid hosts."""

import errno
import os
import re
import select
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from judge.base.logs import get_logger
from judge.base.procfs import BUSY_STATES
from judge.sandbox.box import Channel, Meter
from judge.sandbox.evidence import Evidence

FULL = "full .*total="

SOME = "some .*total="

MAX_OPEN_FILES = 64
"""Kept open, one per thread."""

MAX_LISTING_BYTES = 1 << 16

UNIFIED = ""
"""Version 2. Keys of v1 hierarchies are controllers' names."""

log = get_logger()


def parse_memberships(text: str) -> dict[str, str]:
    """/proc/PID/cgroup as hierarchy -> path. Raises ValueError."""
    paths = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def parse_mounts(text: str) -> dict[str, tuple[str, Path]]:
    """Parse /proc/PID/mountinfo into hierarchy -> (root path, mount point). The first mount wins."""
    mounts: dict[str, tuple[str, Path]] = {}
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        if kind not in ("cgroup", "cgroup2"):
            continue
        root, point = (
            re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), field) for field in left.split(" ")[3:5]
        )
        for name in [UNIFIED] if kind == "cgroup2" else options.split(","):
            mounts.setdefault(name, (root, Path(point)))
    return mounts


def locate(cgroup: str, mountinfo: str) -> dict[str, Path]:
    """Cgroup directories, from /proc/PID/cgroup and our mountinfo."""
    mounts = parse_mounts(mountinfo)
    found = {}
    for name, path in parse_memberships(cgroup).items():
        root, point = mounts.get(name, ("", None))
        if point is None or ".." in path.split("/"):  # outside our namespace
            continue
        inside = os.path.relpath(path, root)
        if not inside.startswith(".."):
            found[name] = point / inside
    return found


def find_cgroups(pid: int, container: str) -> dict[str, Path] | None:
    """Visible cgroup directories of a container, from its PID 1.

    None if the Engine's PIDs are those of another kernel or namespace: the cgroups must contain the container's id.
    """
    try:
        text = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8")
        if pid <= 0 or container not in text:
            return None
        return locate(text, Path("/proc/self/mountinfo").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def outermost(cgroup: Path) -> Path:
    """The container's outermost cgroup.

    crun puts the processes of `docker-ID.scope` into a child cgroup with the same limits. The kernel counts an
    out-of-memory event at the cgroup that reaches its limit first, and at all its parents.
    """
    parent = cgroup.parent
    return parent if _CONTAINER_ID.search(parent.name) and not _CONTAINER_ID.search(cgroup.name) else cgroup


@cache
def log_hidden_cgroups() -> None:
    """Log, once per process, that the cgroups of the local Engine are hidden."""
    log.warning(
        "the Engine's cgroups are hidden: CPU use of other programs on an agent's cores is unknown, so a delayed agent "
        "loses on time, and freezing is slow; make the host's /sys/fs/cgroup visible to this process (ip netns exec "
        "hides it, nsenter --net does not)"
    )


@dataclass(slots=True)
class Counter:
    """A number of an open cgroup file. It never falls, and stays after the cgroup is removed."""

    fd: int
    key: str = ""
    factor: int = 1
    value: int | None = None
    base: int = 0

    def read(self) -> int | None:
        try:
            text = os.pread(self.fd, 4096, 0)
            if self.key:
                text = re.search(rb"^%b\s*(\d+)$" % self.key.encode(), text, re.MULTILINE)[1]  # type: ignore[index]
            now = int(text) * self.factor - self.base
        except (OSError, TypeError, ValueError):
            return self.value
        self.value = max(now, self.value or 0)
        return self.value


class Pressure:
    """Time for which tasks waited for memory or a disk, by default while no task ran."""

    def __init__(self, files: Iterable[Path], line: str = FULL) -> None:
        self.counters = []
        for path in files:
            with suppress(OSError):
                self.counters.append(Counter(os.open(path, os.O_RDONLY), line, 1000))

    def read(self) -> int | None:
        values = [value for counter in self.counters if (value := counter.read()) is not None]
        return sum(values) if values else None

    def close(self) -> None:
        while self.counters:
            os.close(self.counters.pop().fd)


_CONTAINER_ID = re.compile("[0-9a-f]{64}")
V1_THREADS = "tasks"
"""Version 1. An open file shows the same list for one second."""


class Threads:
    """States of a cgroup's threads. Files stay open, so that a check takes microseconds."""

    def __init__(self, listing: Path) -> None:
        self._listing = os.fspath(listing)
        self._is_kept = listing.name != V1_THREADS
        self._open_listing = -1
        self._states: dict[bytes, int] = {}

    def are_busy(self) -> bool:
        try:
            threads = self._threads()
        except OSError:
            return False
        if len(self._states) > MAX_OPEN_FILES:
            self._close_states()
        return any(self._state(thread) in BUSY_STATES for thread in threads)

    def close(self) -> None:
        self._close_listing()
        self._close_states()

    def _threads(self) -> list[bytes]:
        if self._open_listing < 0:
            self._open_listing = os.open(self._listing, os.O_RDONLY)
        try:
            return os.pread(self._open_listing, MAX_LISTING_BYTES, 0).split()
        finally:
            if not self._is_kept:
                self._close_listing()

    def _close_listing(self) -> None:
        if self._open_listing >= 0:
            os.close(self._open_listing)
            self._open_listing = -1

    def _close_states(self) -> None:
        while self._states:
            os.close(self._states.popitem()[1])

    def _state(self, thread: bytes) -> str:
        for _ in range(2):
            try:
                if thread not in self._states:
                    self._states[thread] = os.open(b"/proc/%b/stat" % thread, os.O_RDONLY)
                text = os.pread(self._states[thread], 4096, 0)
                return chr(text[text.rindex(b")") + 2])
            except (OSError, LookupError, ValueError):  # ended, or an earlier thread with this number
                if (fd := self._states.pop(thread, None)) is not None:
                    os.close(fd)
        return " "


class Place(NamedTuple):
    """Where a counter is: the first of `files` that exists."""

    hierarchy: str
    files: tuple[str, ...]
    key: str = ""
    factor: int = 1


COUNTERS: Mapping[str, Sequence[Place]] = {
    "peak": (Place("memory", ("memory.max_usage_in_bytes",)), Place(UNIFIED, ("memory.peak", "memory.current"))),
    "cap": (Place("memory", ("memory.limit_in_bytes",)), Place(UNIFIED, ("memory.max",))),
    "used": (Place("memory", ("memory.usage_in_bytes",)), Place(UNIFIED, ("memory.current",))),
    "kernel": (
        Place("memory", ("memory.kmem.max_usage_in_bytes",)),
        Place(UNIFIED, ("memory.stat",), "kernel"),  # since Linux 5.18
    ),
    "kills": (Place("memory", ("memory.oom_control",), "oom_kill"), Place(UNIFIED, ("memory.events",), "oom_kill")),
    "cpu": (Place("cpuacct", ("cpuacct.usage",)), Place(UNIFIED, ("cpu.stat",), "usage_usec", 1000)),
    "waited": (Place(UNIFIED, ("cpu.pressure",), FULL, 1000),),
}
"""The first place whose hierarchy a container has."""

PEAKS, LEVELS = ("peak", "kernel"), ("cap", "used")
"""The other counters only grow."""


class CgroupMeter(Meter):
    """Files stay open: a reading takes a few microseconds."""

    def __init__(self, directories: Mapping[str, Path]) -> None:
        super().__init__()
        self._counters: dict[str, Counter] = {}
        for name, places in COUNTERS.items():
            if (place := next((each for each in places if each.hierarchy in directories), None)) is not None:
                self._open(name, directories[place.hierarchy], place)
        unified = directories.get(UNIFIED)
        self._is_v1 = "memory" in directories
        self._memory = directories["memory"] if self._is_v1 else unified or Path()
        if unified and not self._is_v1:
            self._open("ooms", outermost(unified), Place(UNIFIED, ("memory.events",), "oom"))
        pressures = [unified / name for name in ("memory.pressure", "io.pressure")] if unified else []
        listing = unified / "cgroup.threads" if unified else self._memory / V1_THREADS
        self._threads = Threads(listing) if listing.exists() else None
        self._pressure, self._pressure_of_any = Pressure(pressures), Pressure(pressures, SOME)

    def _open(self, name: str, directory: Path, place: Place) -> None:
        for file in place.files:
            with suppress(OSError):
                self._counters[name] = Counter(os.open(directory / file, os.O_RDONLY), place.key, place.factor)
                return

    def restart(self) -> None:
        if self._is_v1:
            (self._memory / "memory.max_usage_in_bytes").write_text("0", encoding="ascii")
            if "kernel" in self._counters:
                (self._memory / "memory.kmem.max_usage_in_bytes").write_text("0", encoding="ascii")
        else:  # one peak per open file, since its last write
            fd = os.open(self._memory / "memory.peak", os.O_RDWR)
            try:
                os.write(fd, b"0")
                os.dup2(fd, self._counters["peak"].fd, inheritable=False)  # it is of the same file
            except OSError as error:
                if error.errno != errno.EINVAL:
                    raise
                raise OSError("with cgroup v2 no kernel before Linux 6.12 can forget a peak of memory") from None
            finally:
                os.close(fd)
        for name in PEAKS:
            if name in self._counters:
                self._counters[name].value = None
        growing = [counter for name, counter in self._counters.items() if name not in PEAKS + LEVELS]
        for counter in (*growing, *self._pressure.counters, *self._pressure_of_any.counters):
            counter.value = None
            counter.base += counter.read() or 0
            counter.value = None

    def memory_bytes(self) -> int | None:
        try:
            return int(os.pread(self._counters["used"].fd, 32, 0))
        except (KeyError, OSError, ValueError):
            return None

    def kernel_bytes(self) -> int | None:
        return self._value("kernel")

    def cpu_ns(self) -> int | None:
        return self._value("cpu")

    def waited_ns(self) -> int | None:
        return self._value("waited")

    def is_busy(self) -> bool | None:
        return self._threads.are_busy() if self._threads else None

    def pressure_ns(self, *, of_any: bool = False) -> int | None:
        return (self._pressure_of_any if of_any else self._pressure).read()

    def _value(self, name: str) -> int | None:
        counter = self._counters.get(name)
        return counter.read() if counter else None

    def _read(self) -> Evidence:
        peak, cap = self._value("peak"), self._value("cap")
        # Version 2 counts this, version 1 has an exact peak.
        reached_cap: bool | None = None
        if "ooms" in self._counters:
            reached_cap = bool(self._value("ooms"))
        elif self._is_v1 and peak is not None and cap is not None:
            reached_cap = peak > cap - NEAR_CAP_BYTES
        return Evidence(
            memory_peak_bytes=peak,
            memory_cap_bytes=cap,
            oom_kills=self._value("kills"),
            cpu_ns=self.cpu_ns(),
            reached_cap=reached_cap,
            kernel_peak_bytes=self.kernel_bytes(),
        )

    def close(self) -> None:
        if self._threads:
            self._threads.close()
        self._pressure.close()
        self._pressure_of_any.close()
        while self._counters:
            os.close(self._counters.popitem()[1].fd)


NEAR_CAP_BYTES = 1 << 20
"""A cgroup this near its limit is full: the kernel charges several pages at once."""


class OomSource:
    """Event source for kills. The meter has their number."""

    def __init__(self, fd: int, events: int, kills: Counter, use: Sequence[Counter] = ()) -> None:
        """`use` is peak and limit, for a source that also receives parents' events."""
        self.fd = fd
        self.events = events
        self.ended = False
        self._kills = kills
        self._use = use
        self._seen = kills.read() or 0

    @classmethod
    def open(cls, directories: Mapping[str, Path]) -> "OomSource | None":
        try:
            if "memory" in directories:
                return cls._of_v1(directories["memory"])
            fd = os.open(directories[UNIFIED] / "memory.events", os.O_RDONLY)
            return cls(fd, select.EPOLLPRI, Counter(fd, "oom_kill"))
        except (OSError, KeyError):
            return None

    @classmethod
    def _of_v1(cls, directory: Path) -> "OomSource":
        with ExitStack() as opened:

            def open_file(name: str) -> int:
                fd = os.open(directory / name, os.O_RDONLY)
                opened.callback(os.close, fd)
                return fd

            control = open_file("memory.oom_control")
            fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
            opened.callback(os.close, fd)
            (directory / "cgroup.event_control").write_text(f"{fd} {control}", encoding="ascii")
            use = [Counter(open_file(name)) for name in ("memory.max_usage_in_bytes", "memory.limit_in_bytes")]
            source = cls(fd, select.EPOLLIN, Counter(control, "oom_kill"), use)
            opened.pop_all()
        return source

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        if self.ended:
            return ()
        if self._is_v1:
            try:
                os.eventfd_read(self.fd)
            except BlockingIOError:
                return ()
            # The event precedes the kill's count. It also comes when the cgroup is removed or a parent is out of
            # memory.
            self.ended = not _is_there(self._kills.fd)
            peak, cap = (counter.read() or 0 for counter in self._use)
            return ((Channel.OOM, b""),) if not self.ended and peak > cap - NEAR_CAP_BYTES else ()
        kills = self._kills.read() or 0  # arms the next event; not all are kills
        grown, self._seen = kills > self._seen, kills
        self.ended = not _is_there(self.fd)
        return ((Channel.OOM, b""),) if grown else ()

    def close(self) -> None:
        self.ended = True
        for fd in {self.fd, self._kills.fd, *(counter.fd for counter in self._use)}:
            os.close(fd)

    @property
    def _is_v1(self) -> bool:
        return self.fd != self._kills.fd


def move_to_cores(directories: Mapping[str, Path], cores: Sequence[int]) -> bool:
    """False without permission; the Engine's `update` is slower."""
    directory = directories.get("cpuset", directories.get(UNIFIED))
    try:
        (directory / "cpuset.cpus").write_text(",".join(map(str, cores)), encoding="ascii")  # type: ignore[operator]
    except (OSError, TypeError):
        return False
    return True


def _is_there(fd: int) -> bool:
    try:
        os.pread(fd, 1, 0)
    except OSError as error:
        return error.errno != errno.ENODEV
    return True
