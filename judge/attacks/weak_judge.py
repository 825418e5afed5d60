"""A judge with one of its own defences off, for controls: they show what an attack does then."""

import select
from collections.abc import Sequence
from functools import partial

from judge.referee.live_wire import LiveWire
from judge.referee.setup import build_referee
from judge.referee.wire import Happening


class SpinningWire(LiveWire):
    """Takes no notice of a pipe that is reported as broken, so it is reported again at once."""

    def _take(self, ready: Sequence[tuple[int, int]]) -> None:
        super()._take([(fd, mask) for fd, mask in ready if not mask & select.EPOLLERR])


class UnreadWire(LiveWire):
    """Reads nothing before a request, so what agents wrote is read in the time of the one that is asked."""

    def look(self) -> Sequence[Happening]:
        """Report nothing."""
        return ()


class UnchargedWire(LiveWire):
    """Records what a box uses while it is stopped, and charges nobody."""

    def stopped_cpu(self, seat: int, asked: int) -> int:
        """Always 0."""
        super().stopped_cpu(seat, asked)
        return 0


former_referee = partial(build_referee, record_format=2)
"""Acts as the judges did that wrote records of format 2: it answers every suggestion, takes answers that it
reads after their deadline, and says goodbye to both seats at once."""
