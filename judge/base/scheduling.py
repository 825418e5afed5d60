"""Priorities: what times an agent runs before what renders pages."""

import os
import threading
from contextlib import suppress
from pathlib import Path

SERVICE_NICENESS = 5
"""For work with lower priority than games. If all cores are busy, it gets a third of a game's share."""


def lower_priority() -> None:
    """Applies to the calling thread, and threads that it starts later."""
    thread = threading.get_native_id()
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, thread, max(SERVICE_NICENESS, os.getpriority(os.PRIO_PROCESS, thread)))


def raise_oom_score() -> None:
    """If memory runs out, the kernel ends this process before others, and the boxes of agents before this process.

    Also applies to its later children.
    """
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


def set_scheduling(pid: int, policy: int) -> None:
    """Applies to all threads of a process, if permitted."""
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setscheduler(int(thread.name), policy, os.sched_param(0))
