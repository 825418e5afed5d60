"""Does what agents do, beside them, and says for how long the kernel stalled it: the program of a process of its own.

While an agent is waited for, it takes some memory, starts a thread, and reads a block of each disk that agents' files
are on. That takes microseconds, or, on a disk, milliseconds; then it sleeps for some. What takes longer by
`STALL_NS` is a stall, less

- the time in which this process could run and had no core (by its schedstat), and what a hypervisor took of its cores
  (by /proc/stat): a busy core is no stall;
- of a read what the transfers that the disk finished meanwhile account for, whoever wanted them: an agent can keep a
  disk busy, but it cannot make it do little.

It imports nothing but the standard library, so that it starts in some 20 ms.
"""

import _thread
import mmap
import os
import select
import struct
import sys
import time
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from typing import NamedTuple

STALL_NS = 50_000_000
"""What is done here takes less, also on a host with much to do."""

PAUSE_NS, LONGEST_PAUSE_NS = 20_000_000, 200_000_000
"""Between two rounds; and for so long an agent is waited for before the first one, so that quick games cost nothing."""
PAUSES = 50
"""After so many pauses they become longer: the longer an agent is waited for, the less a short stall counts."""

TRANSFER_NS = 20_000_000
"""How long a disk may take for a transfer: a disk that is only busy does at least 50 a second,"""
SECTOR_NS = 25_600
"""and how much longer for each of its sectors of 512 bytes: 20 MB a second."""

PAGES = 128
"""How many pages are taken: more than the kernel charges to a cgroup in advance."""
PAGE = mmap.PAGESIZE

_LENGTH = struct.Struct("=I")
_WANTED, _TAKEN, _SEQUENCE, _STALLED, _BEGAN, _WAITED, _SPENT = range(7)
_TRIES = 100


class Doing(NamedTuple):
    """What the probe says of itself, in nanoseconds."""

    stalled_ns: int
    """Its stalls so far."""
    began_ns: int = 0
    """When that began which it does now, or when it will wake up; 0: it has not begun."""
    waited_ns: int = 0
    """For how long it had wanted a core in vain by then."""
    disk: int = 0
    """The disk that it reads, counted from 1; 0: none."""
    spent_ns: int = 0
    """What that disk had spent by then, see `Disk`."""

    def total_ns(self, now: int, waited_ns: int, spent_ns: int) -> int:
        """The stalls, with the one of what is being done at `now`."""
        if not self.began_ns or now - self.began_ns < STALL_NS:
            return self.stalled_ns
        span = now - self.began_ns - (waited_ns - self.waited_ns) - (spent_ns - self.spent_ns)
        return self.stalled_ns + (span if span >= STALL_NS else 0)


class SharedPage:
    """Memory that judge and probe share: since when an agent is waited for, and what the probe is doing."""

    SIZE = PAGE

    def __init__(self, fd: int) -> None:
        self._memory = mmap.mmap(fd, self.SIZE)
        self._numbers = memoryview(self._memory).cast("Q")

    def wanted_since(self) -> int:
        """The moment since which an agent is waited for; 0: none is."""
        return self._numbers[_WANTED]

    def want(self, since: int) -> None:
        """Say so; only the judge does."""
        self._numbers[_WANTED] = since

    def lists_taken(self) -> int:
        """How many lists of files the probe has taken."""
        return self._numbers[_TAKEN]

    def take_list(self) -> None:
        """Say that one more is taken; only the probe does."""
        self._numbers[_TAKEN] += 1

    def tell(self, doing: Doing) -> None:
        """Say what is being done; only the probe does. The sequence is odd meanwhile."""
        self._numbers[_SEQUENCE] += 1
        for index, number in enumerate(doing):
            self._numbers[_STALLED + index] = number
        self._numbers[_SEQUENCE] += 1

    def doing(self) -> Doing:
        """What the probe told last."""
        for _ in range(_TRIES):
            before = self._numbers[_SEQUENCE]
            doing = Doing(*self._numbers[_STALLED : _STALLED + len(Doing._fields)])
            if not before % 2 and before == self._numbers[_SEQUENCE]:
                break
        return doing

    def close(self) -> None:
        """Give the memory back."""
        self._numbers.release()
        self._memory.close()


class Disk:
    """The disk of a file, or all disks of the host where the file system does not say which is its own."""

    def __init__(self, path: str) -> None:
        """Raises OSError where there is no such file."""
        self.path = path
        self._block = mmap.mmap(-1, PAGE)
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        device = os.fstat(fd).st_dev
        os.close(fd)
        try:
            own = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat"
            self._statistics, self._first = os.open(own, os.O_RDONLY | os.O_CLOEXEC), 0
        except FileNotFoundError:  # an overlay, for example
            self._statistics, self._first = os.open("/proc/diskstats", os.O_RDONLY | os.O_CLOEXEC), 3

    def spent_ns(self) -> int:
        """What all transfers of the disk so far may have taken, see `TRANSFER_NS`."""
        lines = os.pread(self._statistics, 1 << 16, 0).decode("ascii").splitlines()
        return sum(spent_ns(line.split()[self._first :]) for line in lines)

    def close(self) -> None:
        """Close its statistics."""
        os.close(self._statistics)

    def read(self) -> None:
        """Read the first block of the file from the disk, not from memory; OSError where that cannot be."""
        fd = os.open(self.path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            os.preadv(fd, [self._block], 0)
        finally:
            os.close(fd)


def spent_ns(statistics: Sequence[str]) -> int:
    """What the transfers may have taken that a line of the kernel's statistics of disks counts."""
    reads, _, sectors_read, _, writes, _, sectors_written = map(int, statistics[:7])
    return (reads + writes) * TRANSFER_NS + (sectors_read + sectors_written) * SECTOR_NS


TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
STEAL = 8
"""The field of a line of /proc/stat with what a hypervisor took, the name being the first."""


def stolen_ns(stat: str, cores: Container[int]) -> int:
    """What a hypervisor took of some cores, from the text of a /proc/stat."""
    lines = (line.split() for line in stat.splitlines() if line.startswith("cpu"))
    ours = (fields for fields in lines if fields[0][3:].isdigit() and int(fields[0][3:]) in cores)
    return sum(int(fields[STEAL]) for fields in ours) * TICK_NS


def waited_ns(schedstat: int) -> int:
    """For how long the process of an open /proc/PID/schedstat wanted a core in vain. OSError if it is gone."""
    return int(os.pread(schedstat, 128, 0).split()[1])


def _start_thread() -> None:
    _thread.start_new_thread(int, ())


def list_of(paths: Sequence[str]) -> bytes:
    """A list of files as it goes through the pipe."""
    data = "\0".join(paths).encode("utf-8", "surrogateescape")
    return _LENGTH.pack(len(data)) + data


def read_list(pipe: int) -> list[str] | None:
    """The files of the next list; None at the end of the pipe."""
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
    """Reads lists of files from a pipe and works beside those of the last one, until the judge closes its end."""

    def __init__(self, page: SharedPage) -> None:
        self._page = page
        self._schedstat = os.open("/proc/self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        self._stat = os.open("/proc/stat", os.O_RDONLY | os.O_CLOEXEC)
        self._cores = os.sched_getaffinity(0)
        self._stolen_ns = 0
        self._stalled_ns = 0
        self._disks: list[Disk] = []
        # One mapping for all rounds: where there is no memory a new one is refused, and the fault in an old one waits.
        self._memory = mmap.mmap(-1, PAGES * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

    def run(self, pipe: int) -> None:
        """Do a round whenever an agent is waited for."""
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        pause = PAUSE_NS
        while True:
            told: list[object] = []
            self._look_at_hypervisor()
            self._time(lambda: told.extend(poll.poll(pause / 1e6)), sleep_ns=pause)  # noqa: B023 called at once
            if told and not self._take_list(pipe):
                return
            since = self._page.wanted_since()
            span = time.monotonic_ns() - since if since else 0
            pause = min(max(PAUSE_NS, span // PAUSES), LONGEST_PAUSE_NS)
            if span >= PAUSE_NS:
                self._time(self._take_memory)
                self._time(_start_thread)
                for number, disk in enumerate(self._disks, 1):
                    self._time(disk.read, number)

    def _take_list(self, pipe: int) -> bool:
        """Work beside the files of the next list; False if there is none any more."""
        paths = read_list(pipe)
        if paths is None:
            return False
        for disk in self._disks:
            disk.close()
        self._disks = [Disk(path) for path in paths]
        self._page.take_list()
        return True

    def _take_memory(self) -> None:
        self._memory[::PAGE] = bytes(PAGES)
        self._memory.madvise(mmap.MADV_DONTNEED)

    def _time(self, thing: Callable[[], None], disk: int = 0, sleep_ns: int = 0) -> None:
        """Do a thing that sleeps for `sleep_ns` by its own will; what takes longer is a stall, from the last one on."""
        spent = self._disks[disk - 1].spent_ns if disk else int
        began = time.monotonic_ns() + sleep_ns
        doing = Doing(self._stalled_ns, began, waited_ns(self._schedstat), disk, spent())
        self._page.tell(doing)
        with suppress(OSError, RuntimeError):  # the file is gone, or a limit reached: that says nothing of the kernel
            thing()
        now = time.monotonic_ns()
        if now - began >= STALL_NS:
            lost = waited_ns(self._schedstat) + self._look_at_hypervisor()
            self._stalled_ns = doing.total_ns(now, lost, spent())

    def _look_at_hypervisor(self) -> int:
        """What it took since the last look."""
        stat, before = os.pread(self._stat, 1 << 16, 0).decode("ascii"), self._stolen_ns
        self._stolen_ns = stolen_ns(stat, self._cores)
        return self._stolen_ns - before


if __name__ == "__main__":
    _memory, _pipe = sys.argv[1:]
    Probe(SharedPage(int(_memory))).run(int(_pipe))
