"""Detects pauses of the judge: its process was stopped (Ctrl-Z, a suspended job or machine, a frozen unit).

A thread that only sleeps wakes up late after a pause. Agents cannot delay it: other threads release the interpreter
while they wait for an agent, and processor time of this process does not count.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from typing import NamedTuple

PERIOD_NS = 50_000_000

PAUSE_NS = 250_000_000
"""Minimum of a pause; interrupts and kernel work take less."""

_PATIENCE_S, _NAP_S = 0.2, 0.0005
"""Patience for an overdue beat: after a pause any thread may run first."""

_KEPT = 256


class Pause(NamedTuple):
    """An overlong interval between two beats, in monotonic nanoseconds."""

    began_ns: int
    ended_ns: int
    worked_ns: int
    waited_ns: int


class _Beat(NamedTuple):
    ns: int
    cpu_ns: int
    waited_ns: int
    suspended_ns: int


class Pulse:
    """Beats in a separate thread until closed."""

    def __init__(self) -> None:
        self._pauses: deque[Pause] = deque(maxlen=_KEPT)
        self._last = _Beat(time.monotonic_ns(), time.process_time_ns(), 0, _suspended_ns())
        self.suspended_ns = 0
        """The monotonic clock excludes it."""
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pulse", daemon=True)
        self._thread.start()

    def pauses_since(self, ns: int) -> Sequence[Pause]:
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic_ns() - self._last.ns >= PERIOD_NS + PAUSE_NS and time.monotonic() < until:
            time.sleep(_NAP_S)
        return [pause for pause in list(self._pauses) if pause.ended_ns > ns]

    def close(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        schedstat = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            while not self._is_over.wait(PERIOD_NS / 1e9):
                fields: Sequence[bytes] = ()
                with suppress(OSError):  # the kernel has no memory to answer
                    fields = os.pread(schedstat, 128, 0).split()
                self._beat(int(fields[1]) if len(fields) > 1 else self._last.waited_ns)
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
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pulse: Pulse | None = None
        self._users = self._process = 0

    def __enter__(self) -> Pulse:
        with self._lock:
            if self._pulse is None or self._process != os.getpid():
                self._pulse, self._users, self._process = Pulse(), 0, os.getpid()
            self._users += 1
            return self._pulse

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._pulse is not None:
                self._pulse.close()
                self._pulse = None


_SHARED = _Shared()


def pulse() -> AbstractContextManager[Pulse]:
    """The pulse of this process, shared by its games."""
    return _SHARED


def _suspended_ns() -> int:
    """Includes a small value that grows with each call."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
