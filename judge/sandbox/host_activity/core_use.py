"""How busy processors are, and with whose work: processes, the kernel's own threads, or a hypervisor's others.

The judge's own processes are never counted as others.
"""

import functools
import gzip
import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from judge.sandbox.machine.procfs import PROC, children_of, process_ids, program_name, stat_fields, status_field

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")

UNTAKEN_FIELDS = (3, 4, 5, 6)
"""Of a line of /proc/stat: idle and iowait, in which nothing ran; irq and softirq, whose cause is not known (an agent
with a storm of timers causes them too)."""

INTERRUPT_FIELDS = (5, 6)
"""Interrupts, and the work that they leave behind (softirq)."""

STOLEN_FIELDS = (7,)
"""What a hypervisor gave to others while a process wanted to run."""

KERNEL_FLAG = 0x00200000
"""Of a process that is a thread of the kernel (PF_KTHREAD); among the fields of /proc/PID/stat."""

OWN_LISTED_S = 1.0
"""How long a list of the judge's own processes is used."""

LISTED_S = 60.0
"""How long a list of the kernel's threads is used: it makes new ones now and then, and a list takes milliseconds."""


class Use(NamedTuple):
    """How some processors were used since a fixed moment, in nanoseconds, of all of them together."""

    busy_ns: int
    """By processes, or by a hypervisor that stole them."""
    stolen_ns: int
    """By the hypervisor alone: the processes that had the core then did not run."""
    interrupts_ns: int | None = None
    """By interrupts, whoever caused them; not part of the busy time. None if the kernel does not count them."""


class CoreUse:
    """How some processors are used."""

    def __init__(self, cores: Sequence[int]) -> None:
        self.cores = tuple(cores)
        self._own = OwnTime(self.cores)

    def now(self) -> Use:
        """What they were used for so far, but for the judge's own processes.

        Busy is what is not idle, for the kernel measures idle time. Busy time it samples at its ticks: a process that
        runs at those moments only would seem to use a whole core, and not to be the one who does. Nor does it count
        what the kernel does for nobody in particular: interrupts, and what they leave to a thread of each core (an
        agent's storm of forks keeps that thread busy for a twentieth of the time).
        """
        stat = Path("/proc/stat").read_text(encoding="ascii")
        threads = (_run_ns(thread) for thread in _softirq_threads(self.cores))
        busy = time.monotonic_ns() * len(self.cores) - parse_ns(stat, self.cores) - sum(threads) - self._own.ns()
        interrupts = parse_ns(stat, self.cores, INTERRUPT_FIELDS) if counts_interrupts() else None
        return Use(busy, parse_ns(stat, self.cores, STOLEN_FIELDS), interrupts)

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


class OwnTime:
    """CPU time of the judge's own processes that may run on some processors, see `own_processes`."""

    def __init__(self, cores: Iterable[int]) -> None:
        self._cores = frozenset(cores)
        self._listed_at = float("-inf")
        self._last: dict[int, int] = {}
        """The CPU time of each process when it was read last: what has ended keeps its time."""

    def ns(self) -> int:
        """So far, in nanoseconds."""
        now = time.monotonic()
        if now - self._listed_at >= OWN_LISTED_S:
            self._listed_at = now
            for pid in own_processes():
                with suppress(OSError):
                    if not self._cores.isdisjoint(os.sched_getaffinity(pid)):
                        self._last.setdefault(pid, 0)
        for pid in self._last:
            with suppress(OSError):
                clock = (~pid << 3) | 2  # the CPU clock of the whole process, as clock_getcpuclockid computes it
                self._last[pid] = max(self._last[pid], time.clock_gettime_ns(clock))
        return sum(self._last.values())


def own_processes() -> list[int]:
    """This process, those above it, and their descendants, as far as the same program is run: workers of a contest, the
    process that shows a game, the probe for stalls. Agents in containers are children of the Engine's."""
    ours = _program_file(os.getpid())
    top = os.getpid()
    while (above := int(status_field(top, "PPid") or 0)) and _program_file(above) == ours:
        top = above
    found = [top]
    for pid in found:  # it grows in the loop
        found += [child for child in children_of(pid) if _program_file(child) == ours]
    return found


def _program_file(pid: int) -> str:
    """The file of the program that a process runs; empty if this user may not know it."""
    with suppress(OSError):
        return os.readlink(f"{PROC}/{pid}/exe")  # noqa: PTH115 faster
    return ""


@functools.cache
def counts_interrupts() -> bool:
    """Whether the kernel measures the time of interrupts (CONFIG_IRQ_TIME_ACCOUNTING); without it, /proc/stat has the
    few that its ticks hit."""
    if (PROC / "pressure" / "irq").exists():
        return True
    option = "CONFIG_IRQ_TIME_ACCOUNTING=y"
    with suppress(OSError):
        return option in gzip.decompress((PROC / "config.gz").read_bytes()).decode("ascii", "replace")
    with suppress(OSError):
        return option in Path(f"/boot/config-{platform.release()}").read_text(encoding="utf-8", errors="replace")
    return False


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
