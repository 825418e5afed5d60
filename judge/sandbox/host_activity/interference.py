"""Signs that somebody else stops or ends a container. No agent can cause them.

The Engine may go while the container lives: its stream ends, but PID 1 runs on, and so does the game. Somebody may hold
a container still that the judge has let go: then time that passes is not the agent's.
"""

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
"""For each hierarchy the files, and their lines, that say that it or one above it was ordered to freeze."""


class FirstProcess:
    """A container's PID 1 as a source that ends when it does; `on_end` says what to make of that.

    It is watched by a handle, so a number that is given to another process later does not mislead.
    """

    events = select.EPOLLIN

    def __init__(self, pid: int, on_end: Callable[[], Sequence[tuple[Channel, bytes]]]) -> None:
        """Raises OSError where there is no such process."""
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
        """Kill it, and with it the container; False where this user may not, True also if it has ended."""
        with suppress(ProcessLookupError):
            try:
                signal.pidfd_send_signal(self.fd, signal.SIGKILL)
            except PermissionError:
                return False
        return True

    def spread(self) -> None:
        """Let it use every core that its container has, where this user may say so.

        An Engine that is pinned hands its own cores down, and newer kernels (6.2) remember them: of several cores the
        container would have those alone that the Engine has, too.
        """
        with suppress(OSError):
            os.sched_setaffinity(self.pid, range(os.sysconf("SC_NPROCESSORS_CONF")))

    def close(self) -> None:
        os.close(self.fd)


def is_ordered_frozen(groups: Mapping[str, Path]) -> bool:
    """Whether any program ordered the kernel to freeze these cgroups; False if they are gone."""
    return any(
        _says(groups[hierarchy] / name, sign)
        for hierarchy, files in ORDERS.items()
        if hierarchy in groups
        for name, sign in files
    )


def release(groups: Mapping[str, Path]) -> None:
    """Thaw these cgroups, even if another program froze them: a frozen process cannot end."""
    for hierarchy, (name, word) in {UNIFIED: ("cgroup.freeze", "0"), "freezer": ("freezer.state", "THAWED")}.items():
        if hierarchy in groups:
            with suppress(OSError):
                (groups[hierarchy] / name).write_text(word, encoding="ascii")


def _says(path: Path, sign: str) -> bool:
    with suppress(OSError):
        return sign in path.read_text(encoding="ascii").splitlines()
    return False
