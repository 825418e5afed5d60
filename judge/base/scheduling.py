"""Which of our threads gets a core first: one that has an agent's clock in its hand before one that makes pages."""

import ctypes
import os
import platform
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SHORT_SLICE_NS = 100_000
"""The shortest that Linux grants."""

SERVICE_NICENESS = 5
"""The nice value of what others wait for meanwhile: where all cores are busy it gets a third of what a game gets."""

_SYS_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}.get(platform.machine())
_SCHED_ATTR = struct.Struct("=IIQiIQQQ")
"""Size, policy, flags, nice value, priority, runtime, deadline and period: sched_setattr(2)."""


@contextmanager
def woken_at_once() -> Iterator[None]:
    """In the block the calling thread runs as soon as it wakes, also where another one has its core.

    Linux 6.12 and later grant that to threads that ask for short slices; elsewhere it changes nothing.
    """
    asked = os.sched_getscheduler(0) == os.SCHED_OTHER and _ask_for_slices(SHORT_SLICE_NS)
    try:
        yield
    finally:
        if asked:
            _ask_for_slices(0)


def go_behind_games() -> None:
    """Let games and their judges go before the calling thread, and before the threads that it starts from here on."""
    thread = threading.get_native_id()
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, thread, max(SERVICE_NICENESS, os.getpriority(os.PRIO_PROCESS, thread)))


def set_scheduling(pid: int, policy: int) -> None:
    """Say how all threads of a process get their time; where we may not, they get it as before."""
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setscheduler(int(thread.name), policy, os.sched_param(0))


def _ask_for_slices(slice_ns: int) -> bool:
    """Ask for slices of a length for the calling thread, the usual one for 0; whether that was understood."""
    if _SYS_SCHED_SETATTR is None:
        return False
    nice = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    attr = _SCHED_ATTR.pack(_SCHED_ATTR.size, os.SCHED_OTHER, 0, nice, 0, slice_ns, 0, 0)
    return bool(ctypes.CDLL(None).syscall(_SYS_SCHED_SETATTR, 0, attr, 0) == 0)
