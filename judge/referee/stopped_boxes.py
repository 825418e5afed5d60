"""Stops the boxes of two seats between their turns, verifies that they are stopped, and measures what they use then."""

import os
import time
from collections.abc import Callable, Iterator, MutableSequence

from judge.referee.transcript import EntryKind, Transcript
from judge.referee.wire import RanOn, StoppedCpu
from judge.sandbox.box import NO_FREEZER, Box

_AT_ONCE_NS = 1_000_000
"""A box that is frozen within this time is frozen at once: an honest one takes some microseconds."""

_SPIN_NS = 60_000
"""How long a judge with a core of its own checks a box without a pause: enough where the box's core has nothing else to
do."""

_SHORT_NAP_S, _NAP_S = 0.00005, 0.0005
"""How long the first pause is between two checks of a box, and how long the longest; each is twice the one before."""

_REST_NS = 20_000_000
"""How long an agent may take to rest after its answer, such as on a core that others use too."""

_REST_CPU_NS = 2_000_000
"""How much processor time it may use for that, which nobody is charged for."""

_STOP_CPU_NS = 1_000_000
"""How much CPU time the kernel may add to a box after it reports it as stopped. Stopping takes microseconds, and is
counted late."""

_REPLACED_NS = 1_000_000_000
"""How long the judge waits for the box of a replaced process to be gone before it makes the new one."""


class StoppedBoxes:
    """Which boxes of two seats must be stopped now. Times are in nanoseconds."""

    def __init__(self, boxes: MutableSequence[Box], transcript: Transcript, *, may_spin: bool) -> None:
        """`boxes` are those of the wire. `may_spin`: the judge has a core of its own."""
        self._boxes = boxes
        self._transcript = transcript
        self._may_spin = may_spin
        self._is_stopped: list[Callable[[], bool] | None] = [None, None]
        """Per seat: how to verify that it was frozen, was killed or has ended. None while it may run."""
        self._replaced: tuple[list[Box], list[Box]] = ([], [])
        """Boxes that were replaced and are not closed yet."""
        self._cpu_then: list[int | None] = [None, None]
        """Per seat: its CPU time when it was seen stopped, or at the last growth. None while it may run."""

    def all_of(self, seat: int) -> tuple[Box, ...]:
        """The seat's box and those that it replaced and that are not closed yet."""
        return (self._boxes[seat], *self._replaced[seat])

    def may_run(self, seat: int) -> None:
        """Before the seat is thawed, or when its box is new."""
        self._is_stopped[seat] = self._cpu_then[seat] = None

    def freeze(self, seat: int) -> None:
        """Freeze the seat's box."""
        self._boxes[seat].freeze()
        self._is_stopped[seat] = self._boxes[seat].is_frozen

    def ends(self, seat: int) -> None:
        """After the seat was killed, or reported that it has ended."""
        self._is_stopped[seat] = self._boxes[seat].is_gone

    def let_rest(self, seat: int) -> bool:
        """Let an agent end what it does after its answer, if that is little; whether the judge waited for that.

        One that was stopped before would go on with it in its next turn, when the next request is there already:
        some brains end a search by reading what is there, and a part of the request would be gone.
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
        """Check until the seat is stopped: at first without a pause, which is enough for an honest one.

        What it did meanwhile, if it was not stopped at once.
        """
        if self._is_stopped[seat] is None and not self._replaced[seat]:
            return None
        naps = _naps(_SPIN_NS if self._may_spin else 0)
        if self._stops_within(seat, min(_AT_ONCE_NS, bound_ns), lambda: next(naps)):
            self._note_stopped(seat)
            return None
        began, cpu = time.monotonic_ns(), self._cpu(seat)
        self._stops_within(seat, bound_ns, lambda: time.sleep(_NAP_S))
        now = time.monotonic_ns()
        used = None if cpu is None else max(0, (self._cpu(seat) or 0) - cpu)
        self._note_stopped(seat)
        ran = RanOn(now - began, used)
        self._transcript.add(now, seat, EntryKind.RAN_ON, ran.encode())
        return ran

    def used_cpu(self, seat: int, asked: int) -> int:
        """CPU time that a seat used while it was stopped; recorded if there is any. `asked` is as in `StoppedCpu`."""
        before = self._cpu_then[seat]
        now = None if before is None else self._boxes[seat].meter.cpu_ns()
        if before is None or now is None or now - before <= _STOP_CPU_NS:
            return 0
        self._cpu_then[seat] = now
        used = StoppedCpu(now - before, asked)
        self._transcript.add(time.monotonic_ns(), seat, EntryKind.STOPPED_CPU, used.encode())
        return used.ns

    def replace(self, seat: int, new_box: Callable[[int], Box]) -> None:
        """Kill the seat's box, and put a new one in its place when the old one is gone."""
        self._boxes[seat].kill()
        self._replaced[seat].append(self._boxes[seat])
        _wait_for(lambda: self._are_gone(seat), _REPLACED_NS, lambda: time.sleep(_NAP_S))
        self._boxes[seat] = new_box(seat)

    def _note_stopped(self, seat: int) -> None:
        """What the seat uses from here on is charged to it, whether it is stopped or not."""
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
        """Whether all replaced boxes of a seat are gone."""
        dying = self._replaced[seat]
        while dying and dying[0].is_gone():
            dying.pop(0).close()
        return not dying

    def _cpu(self, seat: int) -> int | None:
        """CPU time of a seat that is not stopped, even if the Engine takes long to answer."""
        used = [box.meter.readings().cpu_ns for box in self.all_of(seat)]
        return None if None in used else sum(filter(None, used))


def _wait_for(condition: Callable[[], bool], span_ns: int, pause: Callable[[], None]) -> bool:
    """Whether a condition is true now, or within the span."""
    until = time.monotonic_ns() + span_ns
    while not condition():
        if time.monotonic_ns() >= until:
            return False
        pause()
    return True


def _naps(spin_ns: int = 0) -> Iterator[None]:
    """Each step is a pause between two checks: for `spin_ns` just long enough to let others run, then longer ones."""
    spin_until = time.monotonic_ns() + spin_ns
    while time.monotonic_ns() < spin_until:
        os.sched_yield()
        yield
    nap_s = _SHORT_NAP_S
    while True:
        time.sleep(nap_s)
        nap_s = min(2 * nap_s, _NAP_S)
        yield
