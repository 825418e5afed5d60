"""Which processors belong to the judge and which to each slot, and how busy processors are."""

import functools
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.errors import InputError

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")

UNTAKEN_FIELDS = (3, 4, 5, 6)
"""Of a line of /proc/stat: idle and iowait, which nobody had; irq and softirq, for which nobody can be named (an agent
with a storm of timers causes them too)."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Who runs where. A slot's cores belong to nobody else, unless `shared`."""

    judge: tuple[int, ...]
    slots: tuple[tuple[int, ...], ...]

    @property
    def shared(self) -> bool:
        """Whether the judge runs on a core of a slot: figures and clocks are coarser then."""
        return any(set(self.judge) & set(slot) for slot in self.slots)


def place(available: Iterable[int], slots: int = 1, cores_per_slot: int = 1) -> Placement:
    """Give the judge the lowest core and the slots the highest ones, the first slot the topmost.

    The judge shares its core only where there is none to spare. Raises InputError for more slots than cores.
    """
    cores = sorted(set(available))
    wanted = slots * cores_per_slot
    if not 0 < wanted <= len(cores):
        raise InputError(
            f"{slots} slots of {cores_per_slot} cores do not fit on {len(cores)} cores: ask for fewer"
        )
    down = cores[::-1]
    each = [down[start : start + cores_per_slot] for start in range(0, wanted, cores_per_slot)]
    return Placement((cores[0],), tuple(tuple(sorted(slot)) for slot in each))


def available() -> frozenset[int]:
    """The cores that this process may use."""
    return frozenset(os.sched_getaffinity(0))


def parse_untaken_ns(stat: str, cores: Iterable[int]) -> int:
    """The time that no process had of some processors since boot, from the text of a /proc/stat.

    In nanoseconds, but counted in ticks (10 ms as a rule). A processor that is not there counts nothing.
    """
    names = {f"cpu{core}" for core in cores}
    ticks = 0
    for line in stat.splitlines():
        name, *fields = line.split()
        if name in names:
            ticks += sum(int(fields[index]) for index in UNTAKEN_FIELDS)
    return ticks * TICK_NS


def busy_ns(cores: Sequence[int]) -> int:
    """The time that processes had of these processors, or a hypervisor stole, since a fixed moment; in nanoseconds.

    It is what is not idle, for the kernel measures idle time. Busy time it samples at its ticks: a process that runs at
    those moments only would seem to use a whole core, and not to be the one who does. Nor does it count what the kernel
    does for nobody in particular: interrupts, and what they leave to a thread of each core (an agent's storm of forks
    keeps that thread busy for a twentieth of the time).
    """
    untaken = parse_untaken_ns(Path("/proc/stat").read_text(encoding="ascii"), cores)
    threads = (_run_ns(thread) for thread in _softirq_threads(tuple(cores)))
    return time.monotonic_ns() * len(cores) - untaken - sum(threads)


@functools.cache
def _softirq_threads(cores: tuple[int, ...]) -> tuple[Path, ...]:
    """The /proc directories of the threads to which the kernel leaves interrupts' work; none where they are hidden."""
    names = {f"ksoftirqd/{core}" for core in cores}
    return tuple(path for path in Path("/proc").glob("[0-9]*") if _name(path) in names)


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _run_ns(process: Path) -> int:
    """The processor time of a process's first thread."""
    try:
        return int((process / "schedstat").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):  # a kernel without CONFIG_SCHED_INFO
        return 0
