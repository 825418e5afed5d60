"""Counters of an agent without a container, from /proc."""

import resource
from collections.abc import Iterator
from contextlib import suppress

from judge.sandbox.box import Meter, Readings
from judge.sandbox.machine.procfs import BUSY_STATES, TICK_NS, children_of, memory_bytes, stat_fields


class IdleMeter(Meter):
    """Counters of a box without a process."""

    def cpu_ns(self) -> int:
        return 0


class ProcessMeter(Meter):
    """Memory of the first process; CPU time without orphans, in ticks until the process ends."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._pid = pid
        self._usage: resource.struct_rusage | None = None
        self._peak_bytes = 0

    def end(self, usage: resource.struct_rusage) -> None:
        self._usage = usage

    def note_peak(self) -> None:
        if not self._usage:
            self._peak_bytes = max(self._peak_bytes, memory_bytes(self._pid))

    def _read(self) -> Readings:
        self.note_peak()
        peak = self._peak_bytes
        if self._usage and self._usage.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
            # Ignore less: a child starts with the judge's peak.
            peak = max(peak, self._usage.ru_maxrss * 1024)
        return Readings(memory_peak_bytes=peak or None, cpu_ns=self.cpu_ns())

    def memory_bytes(self) -> int | None:
        return memory_bytes(self._pid, "VmRSS") or None

    def cpu_ns(self) -> int:
        if self._usage:
            return round((self._usage.ru_utime + self._usage.ru_stime) * 1e9)
        return sum(sum(map(int, fields[11:15])) for fields in self.family()) * TICK_NS

    def is_busy(self) -> bool:
        return any(fields[0] in BUSY_STATES for fields in self.family())

    def family(self) -> Iterator[list[str]]:
        """Fields of /proc/PID/stat, from the state on, for the process and its descendants."""
        pids = [self._pid]
        while pids:
            pid = pids.pop()
            with suppress(OSError):
                yield stat_fields(pid)
                pids += children_of(pid)
