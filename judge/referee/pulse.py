"""Pauses of the judge: intervals in which its process did not run though it wanted to.

A process that is stopped (Ctrl-Z, a suspended batch job), frozen with its unit, or on a machine that is suspended reads
no pipe and looks at no clock. A thread that does nothing but sleep notices: it wakes up too late. Nothing that an agent
does delays it. It touches no object of an agent's, the other threads release the interpreter while they wait for one,
and what they do for an agent is processor time of this process, which is no pause.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

PERIOD_NS = 50_000_000
"""Between two beats."""

PAUSE_NS = 250_000_000
"""The shortest pause that counts. Interrupts, and what other processes make the kernel do on this core, take less."""

_PATIENCE_S, _NAP_S = 0.2, 0.0005
"""How long to wait for an overdue beat, and how often to look: after a pause any thread may run first."""

_KEPT = 256
"""Number of pauses that are remembered: more than end while an agent is waited for."""


class Pause(NamedTuple):
    """An interval between two beats that lasted too long, in nanoseconds of the monotonic clock."""

    began_ns: int
    ended_ns: int
    worked_ns: int
    """Processor time that the process used in it."""
    waited_ns: int
    """For how long the thread could run and had no core."""


class _Beat(NamedTuple):
    ns: int
    cpu_ns: int
    waited_ns: int
    suspended_ns: int


class Pulse:
    """Beats in a thread of its own until it is closed."""

    def __init__(self) -> None:
        self._pauses: deque[Pause] = deque(maxlen=_KEPT)
        self._last = _Beat(time.monotonic_ns(), time.process_time_ns(), 0, _suspended_ns())
        self.suspended_ns = 0
        """For how long this machine was suspended so far. The monotonic clock stands still meanwhile."""
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pulse", daemon=True)
        self._thread.start()

    def pauses_since(self, ns: int) -> Sequence[Pause]:
        """The pauses that ended after a moment, the oldest first."""
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic_ns() - self._last.ns >= PERIOD_NS + PAUSE_NS and time.monotonic() < until:
            time.sleep(_NAP_S)
        return [pause for pause in list(self._pauses) if pause.ended_ns > ns]

    def close(self) -> None:
        """End the thread."""
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        schedstat = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            while not self._is_over.wait(PERIOD_NS / 1e9):
                fields = os.pread(schedstat, 128, 0).split()
                # For how long this thread has waited for a core; 0 where the kernel does not count it.
                self._beat(int(fields[1]) if len(fields) > 1 else 0)
        finally:
            os.close(schedstat)

    def _beat(self, waited_ns: int) -> None:
        last, now = self._last, _Beat(time.monotonic_ns(), time.process_time_ns(), waited_ns, _suspended_ns())
        if now.suspended_ns - last.suspended_ns >= PAUSE_NS:
            self.suspended_ns += now.suspended_ns - last.suspended_ns
        if now.ns - last.ns >= PERIOD_NS + PAUSE_NS:
            self._pauses.append(Pause(last.ns, now.ns, now.cpu_ns - last.cpu_ns, now.waited_ns - last.waited_ns))
        self._last = now


class _Shared:
    """The pulse of this process while any of its games needs it; a fork has none of its parent's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pulse: Pulse | None = None
        self._users = self._process = 0

    def take(self) -> Pulse:
        with self._lock:
            if self._pulse is None or self._process != os.getpid():
                self._pulse, self._users, self._process = Pulse(), 0, os.getpid()
            self._users += 1
            return self._pulse

    def put(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._pulse is not None:
                self._pulse.close()
                self._pulse = None


_SHARED = _Shared()


@contextmanager
def pulse() -> Iterator[Pulse]:
    """The pulse of this process, which beats while any game is in such a block."""
    taken = _SHARED.take()
    try:
        yield taken
    finally:
        _SHARED.put()


def _suspended_ns() -> int:
    """For how long the machine was suspended since it started, and a little that grows with each call."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
