"""Parts of the judge without one defence, for controls."""

import select
from collections.abc import Sequence
from functools import partial

from judge.referee.live_wire import LiveWire
from judge.referee.setup import build_referee
from judge.referee.wire import Happening
from judge.sandbox.box import EventSource


class SpinningWire(LiveWire):
    """Ignores broken pipes, which are reported again at once."""

    def _take(self, ready: Sequence[tuple[int, int]]) -> None:
        super()._take([(fd, mask) for fd, mask in ready if not mask & select.EPOLLERR])


class UnreadWire(LiveWire):
    """Reads nothing before a request, so output is read in the other agent's time."""

    def look(self) -> Sequence[Happening]:
        return ()


class RestlessWire(LiveWire):
    """Reads stderr as fast as an agent prints."""

    def _rest(self, fd: int, source: EventSource) -> None: ...


class UnchargedWire(LiveWire):
    """Records CPU time of stopped boxes without charging it."""

    def stopped_cpu(self, seat: int, asked: int) -> int:
        super().stopped_cpu(seat, asked)
        return 0


class UnwatchedWire(LiveWire):
    """Does not look at the kernel's memory of agents."""

    def _watch_kernel(self, now: int) -> bool:  # noqa: ARG002
        return False


former_referee = partial(build_referee, record_format=2)
"""It answers every suggestion, accepts answers read after their deadline, and closes both seats at once."""
