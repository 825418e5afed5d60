"""Watches the kernel's memory for both agents, also within a turn, and kills for memory that no event reports."""

import time
from collections.abc import Iterator, Sequence

from judge.games.types import SEATS
from judge.sandbox.box import Box

INTERVAL_NS = 20_000_000
"""Between two readings. In this time an agent can make some 20 MB of objects on a core. A reading takes 1.5 us with
cgroup v1. With v2 it takes longer, because the kernel sums up all counters of the cgroup, so it is not for each turn.
"""


class KernelWatch:
    """Reports each seat at most once. `boxes` may change."""

    def __init__(self, boxes: Sequence[Box], most_bytes: int) -> None:
        self._boxes = boxes
        self._most_bytes = most_bytes
        self._waiting = list(SEATS)
        self._kills = [0, 0]
        self.due_ns = 0
        """When `read` is to be called next."""

    def read(self) -> Iterator[tuple[int, int]]:
        """The seats above the limit, with their bytes."""
        for seat in tuple(self._waiting):
            used = self._boxes[seat].meter.kernel_bytes()
            if used is not None and used > self._most_bytes:
                self._waiting.remove(seat)
                yield seat, used
        self.due_ns = time.monotonic_ns() + INTERVAL_NS

    def read_kills(self) -> Iterator[int]:
        """The seats with a new kill, for each kill or several."""
        for seat in SEATS:
            kills, self._kills[seat] = self._kills[seat], self._boxes[seat].unreported_kills()
            if self._kills[seat] > kills:
                yield seat

    def forget_kills(self, seat: int) -> None:
        """Call for a new box."""
        self._kills[seat] = 0
