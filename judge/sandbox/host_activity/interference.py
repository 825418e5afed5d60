"""Detects other programs that freeze or end a container, which an agent cannot do."""

import os
import select
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from judge.sandbox.box import Channel
from judge.sandbox.machine.cgroup import UNIFIED
from judge.sandbox.machine.pipes import await_readable

ORDERS = {
    UNIFIED: (("cgroup.freeze", "1"), ("cgroup.events", "frozen 1")),
    "freezer": (("freezer.self_freezing", "1"), ("freezer.parent_freezing", "1")),
}
"""Lines that mean that this cgroup or a parent was ordered to freeze."""


class FirstProcess:
    """Event source that ends with the container's PID 1; `on_end` returns its last events.

    It uses a pidfd, so a reused PID cannot confuse it. Raises OSError without the process.
    """

    events = select.EPOLLIN

    def __init__(self, pid: int, on_end: Callable[[], Sequence[tuple[Channel, bytes]]]) -> None:
        self.fd = os.pidfd_open(pid)
        self.pid = pid
        self.ended = False
        self.on_end = on_end

    def is_running(self) -> bool:
        return not await_readable(self.fd, 0)

    def await_end(self, span_s: float) -> None:
        await_readable(self.fd, span_s)

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        if self.ended or self.is_running():
            return ()
        self.ended = True
        return self.on_end()

    def kill(self) -> bool:
        """False without permission, True also if it has ended."""
        with suppress(ProcessLookupError):
            try:
                signal.pidfd_send_signal(self.fd, signal.SIGKILL)
            except PermissionError:
                return False
        return True

    def spread(self) -> None:
        """Allow every core of its container, if permitted.

        Processes inherit the CPU affinity of a pinned Engine, and Linux 6.2 and later keep it.
        """
        with suppress(OSError):
            os.sched_setaffinity(self.pid, range(os.sysconf("SC_NPROCESSORS_CONF")))

    def close(self) -> None:
        os.close(self.fd)


def is_ordered_frozen(groups: Mapping[str, Path]) -> bool:
    """Whether any program ordered to freeze these cgroups. False if they are gone."""
    return any(
        _says(groups[hierarchy] / name, sign)
        for hierarchy, files in ORDERS.items()
        if hierarchy in groups
        for name, sign in files
    )


def release(groups: Mapping[str, Path]) -> None:
    """Thaw these cgroups, because a frozen process cannot end."""
    for hierarchy, (name, word) in {UNIFIED: ("cgroup.freeze", "0"), "freezer": ("freezer.state", "THAWED")}.items():
        if hierarchy in groups:
            with suppress(OSError):
                (groups[hierarchy] / name).write_text(word, encoding="ascii")


def _says(path: Path, sign: str) -> bool:
    with suppress(OSError):
        return sign in path.read_text(encoding="ascii").splitlines()
    return False
