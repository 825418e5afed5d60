"""PID 1 of a container: on this kernel, or as the Engine reports it."""

import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from judge.sandbox.box import Channel
from judge.sandbox.docker.engine import Engine, EngineRefusalError
from judge.sandbox.machine.pipes import await_readable

POLL_INTERVAL_S = 0.05


class ContainerProcess(Protocol):
    """PID 1 of a container."""

    def is_running(self) -> bool: ...

    def await_end(self, span_s: float) -> None: ...

    def kill(self) -> bool:
        """False without permission, True also if it has ended."""

    def close(self) -> None: ...


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


class EngineProcess:
    """PID 1 of a container, as the Engine reports it."""

    def __init__(self, engine: Engine, container: str) -> None:
        self._engine = engine
        self._container = container

    def is_running(self) -> bool:
        try:
            return bool(self._engine.state(self._container)["Running"])
        except EngineRefusalError:
            return False

    def await_end(self, span_s: float) -> None:
        deadline = time.monotonic() + span_s
        while self.is_running() and time.monotonic() < deadline:
            time.sleep(POLL_INTERVAL_S)

    def kill(self) -> bool:
        """False: only the Engine can."""
        return False

    def close(self) -> None: ...
