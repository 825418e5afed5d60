"""How busy processors are, and with whose work: processes, the kernel's own threads, or a hypervisor's others."""

import functools
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from judge.sandbox.procfs import PROC, process_ids, program_name, stat_fields

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")

UNTAKEN_FIELDS = (3, 4, 5, 6)
"""Of a line of /proc/stat: idle and iowait, in which nothing ran; irq and softirq, whose cause is not known (an agent
with a storm of timers causes them too)."""

STOLEN_FIELDS = (7,)
"""What a hypervisor gave to others while a process wanted to run."""

KERNEL_FLAG = 0x00200000
"""Of a process that is a thread of the kernel (PF_KTHREAD); among the fields of /proc/PID/stat."""

LISTED_S = 60.0
"""How long a list of the kernel's threads is used: it makes new ones now and then, and a list takes milliseconds."""


class Use(NamedTuple):
    """How some processors were used since a fixed moment, in nanoseconds, of all of them together."""

    busy_ns: int
    """By processes, or by a hypervisor that stole them."""
    stolen_ns: int
    """By the hypervisor alone: the processes that had the core then did not run."""


class CoreUse:
    """How some processors are used."""

    def __init__(self, cores: Sequence[int]) -> None:
        self.cores = tuple(cores)

    def now(self) -> Use:
        """What they were used for so far.

        Busy is what is not idle, for the kernel measures idle time. Busy time it samples at its ticks: a process that
        runs at those moments only would seem to use a whole core, and not to be the one who does. Nor does it count
        what the kernel does for nobody in particular: interrupts, and what they leave to a thread of each core (an
        agent's storm of forks keeps that thread busy for a twentieth of the time).
        """
        stat = Path("/proc/stat").read_text(encoding="ascii")
        threads = (_run_ns(thread) for thread in _softirq_threads(self.cores))
        busy = time.monotonic_ns() * len(self.cores) - parse_ns(stat, self.cores) - sum(threads)
        return Use(busy, parse_ns(stat, self.cores, STOLEN_FIELDS))

    def kernel_threads(self) -> Mapping[int, int]:
        """The processor time so far of each thread of the kernel that may run there, by its number.

        Without those of interrupts, which `now` leaves out. It reads a file for each, 2 us or so.
        """
        return {pid: _run_ns(pid) for pid in _kernel_threads(self.cores, int(time.monotonic() / LISTED_S))}

    def kernel_ns(self, before: Mapping[int, int]) -> int:
        """By how much the time of those threads has grown that run on these processors now."""
        grown = 0
        for pid, then in before.items():
            with suppress(OSError):
                if int(stat_fields(pid)[36]) in self.cores:
                    grown += max(0, _run_ns(pid) - then)
        return grown


def parse_ns(stat: str, cores: Iterable[int], counted: Sequence[int] = UNTAKEN_FIELDS) -> int:
    """The time of some processors since boot in the fields `counted`, from the text of a /proc/stat.

    In nanoseconds, but counted in ticks (10 ms as a rule). A processor that is not there counts nothing.
    """
    names = {f"cpu{core}" for core in cores}
    ticks = 0
    for line in stat.splitlines():
        name, *fields = line.split()
        if name in names:
            ticks += sum(int(fields[index]) for index in counted)
    return ticks * TICK_NS


@functools.cache
def _softirq_threads(cores: tuple[int, ...]) -> tuple[int, ...]:
    """The threads to which the kernel leaves interrupts' work; none where they are hidden."""
    names = {f"ksoftirqd/{core}" for core in cores}
    return tuple(pid for pid in process_ids() if program_name(pid) in names)


@functools.lru_cache(maxsize=8)
def _kernel_threads(cores: tuple[int, ...], _when: int) -> tuple[int, ...]:
    """The kernel's other threads that may run on these processors; none where they are hidden."""
    found = []
    for pid in process_ids():
        with suppress(OSError):
            if int(stat_fields(pid)[6]) & KERNEL_FLAG and not os.sched_getaffinity(pid).isdisjoint(cores):
                found.append(pid)
    return tuple(pid for pid in found if pid not in _softirq_threads(cores))


def _run_ns(pid: int) -> int:
    """The processor time of a process's first thread."""
    try:
        return int((PROC / str(pid) / "schedstat").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):  # a kernel without CONFIG_SCHED_INFO
        return 0
