"""How much of this host others took while it was measured: much of it, and the figures mean little."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from judge.base.procfs import program_name, started_ticks, stat_fields, status_field
from scripts.benchmarks.measuring import Figure

ENGINE = frozenset({"dockerd", "containerd"})

_Process = tuple[int, int]
"""Its number, and when it started, in ticks since boot: the number alone may be given again."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What had been used of the host by a moment, in ticks."""

    host: tuple[int, ...]
    """The first line of /proc/stat, up to steal."""
    processes: dict[_Process, int]
    """The CPU time of each process that is none of ours and none of the Engine's, threads of the kernel included."""

    @classmethod
    def so_far(cls) -> Self:
        """What was used until now."""
        line = Path("/proc/stat").read_text(encoding="ascii").split()[1:9]
        return cls(tuple(map(int, line)), dict(_others()))

    def figures(self) -> Iterator[Figure]:
        """What was taken since: by a hypervisor, and by processes that were there before and still are."""
        now = Taken.so_far()
        spent = [after - before for before, after in zip(self.host, now.host, strict=True)]
        whole = max(1, sum(spent))
        yield Figure("time that a hypervisor took from this host", 100 * spent[7] / whole, "%")
        others = sum(now.processes[each] - used for each, used in self.processes.items() if each in now.processes)
        yield Figure("time that processes of others took", 100 * others / whole, "%")


def _others() -> Iterator[tuple[_Process, int]]:
    own_pids = set(_own_pids())
    for pid in (int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()):
        if pid in own_pids or program_name(pid) in ENGINE:
            continue
        with suppress(OSError):
            started, fields = started_ticks(pid), stat_fields(pid)
            if started is not None:
                yield (pid, started), int(fields[11]) + int(fields[12])


def _own_pids() -> Iterator[int]:
    """This process and those that it is a descendant of, but for the first of the host."""
    pid = os.getpid()
    while pid > 1:
        yield pid
        pid = int(status_field(pid, "PPid") or 0)
