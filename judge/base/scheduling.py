"""Thread priorities: threads that time an agent run before threads that render pages."""

import ctypes
import os
import platform
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SHORT_SLICE_NS = 100_000

SERVICE_NICENESS = 5
"""For work with lower priority than games. If all cores are busy, it gets a third of a game's share."""

_SYS_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}.get(platform.machine())
_SCHED_ATTR = struct.Struct("=IIQiIQQQ")
"""sched_attr of sched_setattr(2)."""


@contextmanager
def woken_at_once() -> Iterator[None]:
    """The calling thread runs as soon as it wakes, even on a busy core.

    Requests short slices, which has this effect since Linux 6.12.
    """
    asked = os.sched_getscheduler(0) == os.SCHED_OTHER and _ask_for_slices(SHORT_SLICE_NS)
    try:
        yield
    finally:
        if asked:
            _ask_for_slices(0)


def lower_priority() -> None:
    """Applies to the calling thread, and threads that it starts later."""
    thread = threading.get_native_id()
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, thread, max(SERVICE_NICENESS, os.getpriority(os.PRIO_PROCESS, thread)))


def set_scheduling(pid: int, policy: int) -> None:
    """Applies to all threads of a process, if permitted."""
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setscheduler(int(thread.name), policy, os.sched_param(0))


def _ask_for_slices(slice_ns: int) -> bool:
    if _SYS_SCHED_SETATTR is None:
        return False
    nice = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    attr = _SCHED_ATTR.pack(_SCHED_ATTR.size, os.SCHED_OTHER, 0, nice, 0, slice_ns, 0, 0)
    return bool(ctypes.CDLL(None).syscall(_SYS_SCHED_SETATTR, 0, attr, 0) == 0)
