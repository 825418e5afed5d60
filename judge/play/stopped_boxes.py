"""Stops boxes between turns, verifies it, and measures their CPU time while stopped."""

import os
import time
from collections.abc import Callable, Iterator, MutableSequence, Sequence

from judge.record.transcript import EntryKind, Transcript
from judge.referee.requests import RanOn, StoppedCpu
from judge.sandbox.box import NO_FREEZER, Box

_AT_ONCE_NS = 1_000_000

_SPIN_NS = 60_000

_SHORT_NAP_S, _NAP_S = 0.00005, 0.0005
"""First and longest pause between checks; each is twice the previous one."""

_REST_NS = 20_000_000
"""For an agent to become idle after its answer."""

_REST_CPU_NS = 2_000_000
"""Maximum for that; it is not charged."""

_STOP_CPU_NS = 1_000_000
"""The kernel may count this late after it stopped a box."""

_REPLACED_NS = 1_000_000_000


class StoppedBoxes:
    """Tracks which boxes must be stopped. Times are in nanoseconds."""

    def __init__(self, boxes: MutableSequence[Box], transcript: Transcript, *, may_spin: bool) -> None:
        self._boxes = boxes
        self._transcript = transcript
        self._spin_ns = _SPIN_NS if may_spin else 0
        self._is_stopped: list[Callable[[], bool] | None] = [None, None]
        """How to verify that it is stopped (frozen, killed or exited). None while it may run."""
        self._replaced: tuple[list[Box], list[Box]] = ([], [])
        self._cpu_then: list[int | None] = [None, None]

    def all_of(self, seat: int) -> tuple[Box, ...]:
        return (self._boxes[seat], *self._replaced[seat])

    def may_run(self, seat: int) -> None:
        """Call before a thaw or for a new box."""
        self._is_stopped[seat] = self._cpu_then[seat] = None

    def freeze(self, seat: int) -> None:
        self._boxes[seat].freeze()
        self._is_stopped[seat] = self._boxes[seat].is_frozen

    def ends(self, seat: int) -> None:
        self._is_stopped[seat] = self._boxes[seat].is_gone

    def let_rest(self, seat: int) -> bool:
        """Let an agent become idle after its answer; returns whether the judge waited.

        Some agents would otherwise read part of the next request while they end a search.
        """
        box = self._boxes[seat]
        if box.freezer == NO_FREEZER or not box.meter.is_busy():
            return False
        until, cpu, naps = time.monotonic_ns() + _REST_NS, self._cpu(seat), _naps()
        while time.monotonic_ns() < until and (cpu is None or (self._cpu(seat) or 0) - cpu < _REST_CPU_NS):
            next(naps)
            if not box.meter.is_busy():
                break
        return True

    def await_stopped(self, seat: int, bound_ns: int) -> RanOn | None:
        """The seat's activity, if it was not stopped at once."""
        if self._is_stopped[seat] is None and not self._replaced[seat]:
            return None
        at_once_ns = min(_AT_ONCE_NS, bound_ns)
        if self._is_stopped_now(seat) or self._stops_within(seat, at_once_ns, _naps(self._spin_ns).__next__):
            self._note_stopped(seat)
            return None
        began, use = time.monotonic_ns(), _CpuUse(self.all_of(seat))

        def nap() -> None:
            time.sleep(_NAP_S)
            use.read(self.all_of(seat))

        self._stops_within(seat, bound_ns, nap)
        now = time.monotonic_ns()
        used = use.end(self.all_of(seat))
        self._note_stopped(seat)
        ran = RanOn(now - began, used)
        self._transcript.add(now, seat, EntryKind.RAN_ON, ran.encode())
        return ran

    def used_cpu(self, seat: int, asked: int) -> int:
        before = self._cpu_then[seat]
        now = None if before is None else self._boxes[seat].meter.cpu_ns()
        if before is None or now is None or now - before <= _STOP_CPU_NS:
            return 0
        self._cpu_then[seat] = now
        used = StoppedCpu(now - before, asked)
        self._transcript.add(time.monotonic_ns(), seat, EntryKind.STOPPED_CPU, used.encode())
        return used.ns

    def replace(self, seat: int, new_box: Callable[[int], Box]) -> None:
        """Kill the seat's box; the new one is created when it is gone."""
        self._boxes[seat].kill()
        self._replaced[seat].append(self._boxes[seat])
        _wait_for(lambda: self._are_gone(seat), _REPLACED_NS, lambda: time.sleep(_NAP_S))
        self._boxes[seat] = new_box(seat)

    def _note_stopped(self, seat: int) -> None:
        box = self._boxes[seat]
        self._cpu_then[seat] = None if box.freezer == NO_FREEZER else box.meter.cpu_ns()

    def _stops_within(self, seat: int, span_ns: int, pause: Callable[[], None]) -> bool:
        return _wait_for(lambda: self._is_stopped_now(seat), span_ns, pause)

    def _is_stopped_now(self, seat: int) -> bool:
        is_stopped = self._is_stopped[seat]
        if is_stopped is not None and not is_stopped():
            return False
        self._is_stopped[seat] = None
        return self._are_gone(seat)

    def _are_gone(self, seat: int) -> bool:
        dying = self._replaced[seat]
        while dying and dying[0].is_gone():
            dying.pop(0).close()
        return not dying

    def _cpu(self, seat: int) -> int | None:
        used = [box.meter.cpu_ns() for box in self.all_of(seat)]
        return None if None in used else sum(filter(None, used))


class _CpuUse:
    """CPU time of boxes that may be gone at the end."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        self._first = {box: box.meter.readings().cpu_ns for box in boxes}
        self._last = dict(self._first)

    def read(self, boxes: Sequence[Box]) -> None:
        for box in boxes:
            self._note(box, box.meter.cpu_ns())

    def end(self, boxes: Sequence[Box]) -> int | None:
        for box in boxes:
            self._note(box, box.meter.readings().cpu_ns)
        used = [None if first is None else (self._last[box] or 0) - first for box, first in self._first.items()]
        return None if None in used else max(0, sum(filter(None, used)))

    def _note(self, box: Box, cpu_ns: int | None) -> None:
        if cpu_ns is not None:
            self._last[box] = max(cpu_ns, self._last.get(box) or 0)


def _wait_for(condition: Callable[[], bool], span_ns: int, pause: Callable[[], None]) -> bool:
    until = time.monotonic_ns() + span_ns
    while not condition():
        if time.monotonic_ns() >= until:
            return False
        pause()
    return True


def _naps(spin_ns: int = 0) -> Iterator[None]:
    spin_until = time.monotonic_ns() + spin_ns
    while time.monotonic_ns() < spin_until:
        os.sched_yield()
        yield
    nap_s = _SHORT_NAP_S
    while True:
        time.sleep(nap_s)
        nap_s = min(2 * nap_s, _NAP_S)
        yield
