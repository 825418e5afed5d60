"""CPU use of cores by other processes, kernel threads and guests of a hypervisor (steal time)."""

import functools
import gzip
import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from judge.base.procfs import PROC, TICK_NS, children_of, process_ids, program_name, stat_fields, status_field

UNTAKEN_FIELDS = (3, 4, 5, 6)
"""Idle, iowait, irq and softirq in /proc/stat. An agent can cause interrupts (timers)."""

INTERRUPT_FIELDS = (5, 6)

STOLEN_FIELDS = (7,)

KERNEL_FLAG = 0x00200000

OWN_LISTED_S = 1.0

LISTED_S = 60.0


class Use(NamedTuple):
    """Cumulative, summed over a set of processors."""

    busy_ns: int
    stolen_ns: int
    """The process on the core did not run."""
    interrupts_ns: int | None = None
    """Interrupts of any cause, not part of `busy_ns`. None if the kernel does not measure them."""


class CoreUse:
    """Measures the use of a set of processors."""

    def __init__(self, cores: Sequence[int]) -> None:
        self.cores = tuple(cores)
        self._own = OwnTime(self.cores)

    def now(self) -> Use:
        """Use without the judge's own processes, interrupts and softirq threads.

        Computed from idle time, because the kernel samples busy time at its ticks.
        """
        stat = Path("/proc/stat").read_text(encoding="ascii")
        threads = (_run_ns(thread) for thread in _softirq_threads(self.cores))
        busy = time.monotonic_ns() * len(self.cores) - parse_ns(stat, self.cores) - sum(threads) - self._own.ns()
        interrupts = parse_ns(stat, self.cores, INTERRUPT_FIELDS) if counts_interrupts() else None
        return Use(busy, parse_ns(stat, self.cores, STOLEN_FIELDS), interrupts)

    def kernel_threads(self) -> Mapping[int, int]:
        """CPU time in nanoseconds of each kernel thread that may run there, by PID, without softirq threads."""
        return {pid: _run_ns(pid) for pid in _kernel_threads(self.cores, int(time.monotonic() / LISTED_S))}

    def kernel_ns(self, before: Mapping[int, int]) -> int:
        grown = 0
        for pid, then in before.items():
            with suppress(OSError):
                if int(stat_fields(pid)[36]) in self.cores:
                    grown += max(0, _run_ns(pid) - then)
        return grown


class OwnTime:
    """CPU time of the judge's processes (`own_processes`) that may run on a set of processors."""

    def __init__(self, cores: Iterable[int]) -> None:
        self._cores = frozenset(cores)
        self._listed_at = float("-inf")
        self._last: dict[int, int] = {}
        """Kept after a process ends."""

    def ns(self) -> int:
        now = time.monotonic()
        if now - self._listed_at >= OWN_LISTED_S:
            self._listed_at = now
            for pid in own_processes():
                with suppress(OSError):
                    if not self._cores.isdisjoint(os.sched_getaffinity(pid)):
                        self._last.setdefault(pid, 0)
        for pid in self._last:
            with suppress(OSError):
                clock = (~pid << 3) | 2  # the process's CPU clock, as in clock_getcpuclockid
                self._last[pid] = max(self._last[pid], time.clock_gettime_ns(clock))
        return sum(self._last.values())


def own_processes() -> list[int]:
    """This process, its ancestors, and their descendants with the same program."""
    ours = _program_file(os.getpid())
    top = os.getpid()
    while (above := int(status_field(top, "PPid") or 0)) and _program_file(above) == ours:
        top = above
    found = [top]
    for pid in found:  # grows in the loop
        found += [child for child in children_of(pid) if _program_file(child) == ours]
    return found


def _program_file(pid: int) -> str:
    with suppress(OSError):
        return os.readlink(f"{PROC}/{pid}/exe")  # noqa: PTH115 faster
    return ""


@functools.cache
def counts_interrupts() -> bool:
    """Whether the kernel measures interrupts (CONFIG_IRQ_TIME_ACCOUNTING) instead of sampling at ticks."""
    if (PROC / "pressure" / "irq").exists():
        return True
    option = "CONFIG_IRQ_TIME_ACCOUNTING=y"
    with suppress(OSError):
        return option in gzip.decompress((PROC / "config.gz").read_bytes()).decode("ascii", "replace")
    with suppress(OSError):
        return option in Path(f"/boot/config-{platform.release()}").read_text(encoding="utf-8", errors="replace")
    return False


def parse_ns(stat: str, cores: Iterable[int], counted: Sequence[int] = UNTAKEN_FIELDS) -> int:
    """Nanoseconds since boot in the fields `counted` of /proc/stat, summed over the cores.

    The resolution is a tick (usually 10 ms). Missing processors count 0.
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
    names = {f"ksoftirqd/{core}" for core in cores}
    return tuple(pid for pid in process_ids() if program_name(pid) in names)


@functools.lru_cache(maxsize=8)
def _kernel_threads(cores: tuple[int, ...], _when: int) -> tuple[int, ...]:
    found = []
    for pid in process_ids():
        with suppress(OSError):
            if int(stat_fields(pid)[6]) & KERNEL_FLAG and not os.sched_getaffinity(pid).isdisjoint(cores):
                found.append(pid)
    return tuple(pid for pid in found if pid not in _softirq_threads(cores))


def _run_ns(pid: int) -> int:
    try:
        return int((PROC / str(pid) / "schedstat").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):  # without CONFIG_SCHED_INFO
        return 0
