"""Probe process: measures how long the kernel stalls ordinary operations next to the agents.

While an agent is being waited for, each round allocates memory, starts a thread and reads a block from each disk with
agents' files. Time above `STALL_NS` is a stall, minus:

- time without a core (schedstat) and steal time (/proc/stat): a busy core is no stall;
- for a read, the time that the disk's finished transfers explain: an agent can keep a disk busy, but it cannot make
  the disk do little.

Where memory is missing, a page fault waits, but the kernel refuses a reading of its statistics. The probe repeats such
a reading until it succeeds. The time until then is also a stall.

It imports only the standard library, so that it starts in about 20 ms.
"""

import _thread
import errno
import mmap
import os
import select
import struct
import sys
import time
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple, TypeVar

STALL_NS = 50_000_000
"""Each operation here takes less, even on a busy host."""

PAUSE_NS, LONGEST_PAUSE_NS = 20_000_000, 200_000_000
"""The first round starts after the minimum, so that quick games cost nothing."""
SHORT_PAUSES = 50
"""Short pauses before they become longer."""

TRANSFER_NS = 20_000_000
"""Allowed per transfer: a busy disk completes at least 50 per second."""
SECTOR_NS = 25_600
"""Allowed per sector of 512 bytes (20 MB/s)."""

PROBE_PAGES = 128
"""More than the kernel charges to a cgroup in advance."""
PAGE_BYTES = mmap.PAGESIZE

REFUSED_S = 0.001
"""Pause before a refused reading is repeated."""

Found = TypeVar("Found")

_LENGTH = struct.Struct("=I")
_WANTED, _TAKEN, _SEQUENCE, _STALLED, _BEGAN, _WAITED, _SPENT = range(7)
_TRIES = 100


class Doing(NamedTuple):
    """Times in nanoseconds."""

    stalled_ns: int
    began_ns: int = 0
    """Start of the current operation, or the planned wake-up time; 0 if not started."""
    waited_ns: int = 0
    disk: int = 0
    """Number of the disk being read, from 1; 0 if none."""
    spent_ns: int = 0

    def total_ns(self, now: int, waited_ns: int, spent_ns: int) -> int:
        if not self.began_ns or now - self.began_ns < STALL_NS:
            return self.stalled_ns
        span = now - self.began_ns - (waited_ns - self.waited_ns) - (spent_ns - self.spent_ns)
        return self.stalled_ns + (span if span >= STALL_NS else 0)


class SharedPage:
    """Shared memory: the start of the wait for an agent, and the probe's state."""

    SIZE = PAGE_BYTES

    def __init__(self, fd: int) -> None:
        self._memory = mmap.mmap(fd, self.SIZE)
        self._numbers = memoryview(self._memory).cast("Q")

    def wanted_since(self) -> int:
        return self._numbers[_WANTED]

    def want(self, since: int) -> None:
        """Only called by the judge."""
        self._numbers[_WANTED] = since

    def lists_taken(self) -> int:
        return self._numbers[_TAKEN]

    def take_list(self) -> None:
        self._numbers[_TAKEN] += 1

    def tell(self, doing: Doing) -> None:
        """Only called by the probe. The sequence number is odd while the state is written."""
        self._numbers[_SEQUENCE] += 1
        for index, number in enumerate(doing):
            self._numbers[_STALLED + index] = number
        self._numbers[_SEQUENCE] += 1

    def doing(self) -> Doing:
        for _ in range(_TRIES):
            before = self._numbers[_SEQUENCE]
            doing = Doing(*self._numbers[_STALLED : _STALLED + len(Doing._fields)])
            if not before % 2 and before == self._numbers[_SEQUENCE]:
                break
        return doing

    def close(self) -> None:
        self._numbers.release()
        self._memory.close()


class Disk:
    """Disk of a file; all disks if the file system hides it. Raises OSError without the file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._block = mmap.mmap(-1, PAGE_BYTES)
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        device = os.fstat(fd).st_dev
        os.close(fd)
        try:
            statistics_path = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat"
            self._statistics, self._first = os.open(statistics_path, os.O_RDONLY | os.O_CLOEXEC), 0
        except FileNotFoundError:
            self._statistics, self._first = os.open("/proc/diskstats", os.O_RDONLY | os.O_CLOEXEC), 3

    def spent_ns(self) -> int:
        lines = os.pread(self._statistics, 1 << 16, 0).decode("ascii").splitlines()
        return sum(spent_ns(line.split()[self._first :]) for line in lines)

    def close(self) -> None:
        os.close(self._statistics)

    def read(self) -> None:
        """Read the file's first block, bypassing the page cache. Raises OSError."""
        fd = os.open(self.path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            os.preadv(fd, [self._block], 0)
        finally:
            os.close(fd)


def _disk_of(path: str) -> Disk:
    """The root's disk if the file is gone: the numbers of the others stay, and reads of a directory fail: no stall."""
    try:
        return Disk(path)
    except OSError as error:
        if error.errno == errno.ENOMEM:
            raise
        return Disk("/")


def _when_possible(read: Callable[[], Found]) -> Found:
    """Repeat a reading that is refused because memory is missing. Raises OSError for other reasons."""
    while True:
        try:
            return read()
        except MemoryError:
            pass
        except OSError as error:
            if error.errno != errno.ENOMEM:
                raise
        time.sleep(REFUSED_S)


def spent_ns(statistics: Sequence[str]) -> int:
    """Time that the transfers in a line of the kernel's disk statistics may have taken."""
    reads, _, sectors_read, _, writes, _, sectors_written = map(int, statistics[:7])
    return (reads + writes) * TRANSFER_NS + (sectors_read + sectors_written) * SECTOR_NS


STEAL = 8


def stolen_ns(stat: str, cores: Container[int]) -> int:
    """Steal time of some cores, from /proc/stat."""
    lines = (line.split() for line in stat.splitlines() if line.startswith("cpu"))
    ours = (fields for fields in lines if fields[0][3:].isdigit() and int(fields[0][3:]) in cores)
    return sum(int(fields[STEAL]) for fields in ours) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def waited_ns(schedstat: int) -> int:
    """Time without a core, from an open /proc/PID/schedstat. Raises OSError without the process."""
    return int(os.pread(schedstat, 128, 0).split()[1])


def list_of(paths: Sequence[str]) -> bytes:
    """Encode a list of files for the pipe."""
    data = "\0".join(paths).encode("utf-8", "surrogateescape")
    return _LENGTH.pack(len(data)) + data


def read_list(pipe: int) -> list[str] | None:
    """None at the end of the pipe."""
    head = _read(pipe, _LENGTH.size)
    if not head:
        return None
    (length,) = _LENGTH.unpack(head)
    return [path for path in _read(pipe, length).decode("utf-8", "surrogateescape").split("\0") if path]


def _read(pipe: int, size: int) -> bytes:
    data = b""
    while len(data) < size and (part := os.read(pipe, size - len(data))):
        data += part
    return data


class Probe:
    """Uses the last list of files from a pipe, until the judge closes it."""

    def __init__(self, page: SharedPage) -> None:
        self._page = page
        self._schedstat = os.open("/proc/self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        self._stat = os.open("/proc/stat", os.O_RDONLY | os.O_CLOEXEC)
        self._cores = os.sched_getaffinity(0)
        self._stolen_ns = 0
        self._stalled_ns = 0
        self._disks: list[Disk] = []
        # Without free memory a new mapping fails, but a page fault in an old one waits.
        self._memory = mmap.mmap(-1, PROBE_PAGES * PAGE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

    def run(self, pipe: int) -> None:
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        pause = PAUSE_NS
        while True:
            events: list[object] = []
            self._time(self._look_at_hypervisor)
            self._time(lambda: events.extend(poll.poll(pause / 1e6)), sleep_ns=pause)  # noqa: B023 called at once
            if events and not self._take_list(pipe):
                return
            since = self._page.wanted_since()
            span = time.monotonic_ns() - since if since else 0
            pause = min(max(PAUSE_NS, span // SHORT_PAUSES), LONGEST_PAUSE_NS)
            if span >= PAUSE_NS:
                self._time(self._take_memory)
                self._time(lambda: _thread.start_new_thread(int, ()))
                for number, disk in enumerate(self._disks, 1):
                    self._time(disk.read, number)

    def _take_list(self, pipe: int) -> bool:
        paths = read_list(pipe)
        if paths is None:
            return False
        for disk in self._disks:
            disk.close()
        self._disks = [_when_possible(partial(_disk_of, path)) for path in paths]
        self._page.take_list()
        return True

    def _take_memory(self) -> None:
        self._memory[::PAGE_BYTES] = bytes(PROBE_PAGES)
        self._memory.madvise(mmap.MADV_DONTNEED)

    def _time(self, thing: Callable[[], object], disk: int = 0, sleep_ns: int = 0) -> None:
        spent = partial(_when_possible, self._disks[disk - 1].spent_ns) if disk else int
        began = time.monotonic_ns() + sleep_ns
        doing = Doing(self._stalled_ns, began, self._waited_ns(), disk, spent())
        self._page.tell(doing)
        with suppress(OSError, RuntimeError, MemoryError):  # A missing file or a limit is no stall.
            thing()
        if time.monotonic_ns() - began >= STALL_NS:
            lost, spent_ns = self._waited_ns() + self._look_at_hypervisor(), spent()
            self._stalled_ns = doing.total_ns(time.monotonic_ns(), lost, spent_ns)

    def _waited_ns(self) -> int:
        return _when_possible(partial(waited_ns, self._schedstat))

    def _look_at_hypervisor(self) -> int:
        before = self._stolen_ns
        self._stolen_ns = _when_possible(self._read_stolen_ns)
        return self._stolen_ns - before

    def _read_stolen_ns(self) -> int:
        return stolen_ns(os.pread(self._stat, 1 << 16, 0).decode("ascii"), self._cores)


if __name__ == "__main__":
    _memory, _pipe = sys.argv[1:]
    Probe(SharedPage(int(_memory))).run(int(_pipe))
