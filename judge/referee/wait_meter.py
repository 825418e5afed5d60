"""Measures a slot's cores during a wait for a seat: the readings to judge a late turn.

Counters are read when a wait begins, when it becomes long, and for a verdict; their growth is reported as shares (0 to
1) of the elapsed time. Times are in nanoseconds; None: not counted.
"""

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from judge.games.types import SEATS
from judge.sandbox.box import Box
from judge.sandbox.host_activity.core_use import CoreUse
from judge.sandbox.host_activity.stall_probe import STALL_NS
from judge.sandbox.host_activity.stalls import StallWatch

_SNAPSHOT_NS = 20_000_000
"""Maximum age of the last reading when a wait begins; a reading costs about 30 us."""

_CLOSER_PART = 16
"""The second reading is taken after 1/16 of the time to the deadline: later than most waits end, and
before others could take enough time for a void.
"""


class Shares(NamedTuple):
    """Shares of one wait and of all waits; see `judge.referee.blame.Evidence`."""

    others_share: float | None = None
    waited_share: float | None = None
    stalled_share: float | None = None
    slept_share: float | None = None
    game_stalled_share: float | None = None
    game_slept_share: float | None = None
    pressure_share: float | None = None
    host_pressure_share: float | None = None
    interrupt_share: float | None = None


class _Look(NamedTuple):
    ns: int
    others_ns: int | None = None
    """Neither agent used it; None if an agent's time is unknown."""
    stolen_ns: int = 0
    cpu_ns: tuple[int | None, int | None] = (None, None)
    stalled_ns: int | None = None
    interrupts_ns: int | None = None


class _CloserLook(NamedTuple):
    look: _Look
    waited_ns: int | None
    pressure_ns: int | None
    """The whole box waited for memory or a disk."""
    any_pressure_ns: int
    host_pressure_ns: int | None
    threads: Mapping[int, int]


class _FormerWaits:
    def __init__(self) -> None:
        self.ns = 0
        self.stalled_ns = 0


class WaitMeter:
    """Measures the waits for two boxes of a slot, one at a time."""

    def __init__(
        self,
        boxes: Sequence[Box],
        use: CoreUse | None,
        cores: int,
        stalls: StallWatch | None,
        seats: Sequence[int] = SEATS,
    ) -> None:
        """`seats` are those that run on the cores."""
        self._boxes = boxes
        self._seats = seats
        self._use = use
        self._cores = max(1, cores)
        self._stalls = stalls
        self._asked = -1
        self._snapshot = _Look(0)
        self._former = (_FormerWaits(), _FormerWaits())
        self._since = 0
        self._closer: _CloserLook | None = None

    def look(self) -> None:
        self._snapshot = self._look_around(is_first=True)

    def is_old(self, now: int) -> bool:
        return now - self._snapshot.ns > _SNAPSHOT_NS

    def begin(self, seat: int, now: int) -> None:
        self._asked, self._since, self._closer = seat, now, None
        if self._stalls is not None:
            self._stalls.want(now, self)

    def end(self) -> None:
        since, self._since = self._since, 0
        if self._stalls is None or not since:
            return
        self._stalls.want(0, self)
        former, span = self._former[self._asked], time.monotonic_ns() - since
        former.ns += span
        if span >= STALL_NS:
            before, after = self._snapshot.stalled_ns, self._stalls.stalled_ns()
            former.stalled_ns += max(0, min(span, (after or 0) - (before or 0)))

    def look_closer(self, now: int, deadline: int) -> int:
        """Read all counters for a possible verdict, once. Returns when to call again, or the deadline for never."""
        if self._closer is not None or not self._since or (self._use is None and self._stalls is None):
            return deadline
        part = (deadline - self._since) // _CLOSER_PART
        if now < self._since + part:
            return self._since + part
        if now < self._since + 2 * part:
            self._closer = self._look_closer(self._asked, self._use.kernel_threads() if self._use else {})
        return deadline

    def shares(self, seat: int) -> Shares:
        then, now = self._closer if seat == self._asked else None, self._look_closer(seat, {})
        first, look = self._snapshot, now.look
        if then is None:  # the wait was short, or the judge did not run
            others = self._others_share(first, look, 0)
            waited = slept = pressure = host_pressure = None
        else:
            span = look.ns - then.look.ns
            others = self._others_share(then.look, look, self._caused_ns(then, now))
            # The guest counts steal time as CPU time of the agent.
            stolen = (look.stolen_ns - then.look.stolen_ns) // self._cores
            waited = _share_of(then.waited_ns, now.waited_ns, span, stolen) if self._use else None
            slept = self._slept_share(seat, then, now, span)
            pressure = _share_of(then.pressure_ns, now.pressure_ns, span)
            host_pressure = _share_of(then.host_pressure_ns, now.host_pressure_ns, span)
        interrupts = _share_of(first.interrupts_ns, look.interrupts_ns, (look.ns - first.ns) * self._cores)
        if self._stalls is None:
            return Shares(others, waited, interrupt_share=interrupts)
        former, span = self._former[seat], look.ns - first.ns
        return Shares(
            others_share=others,
            waited_share=waited,
            stalled_share=_share_of(first.stalled_ns, look.stalled_ns, span),
            slept_share=slept,
            game_stalled_share=_share_of(first.stalled_ns, look.stalled_ns, former.ns + span, former.stalled_ns),
            game_slept_share=self._slept_share(seat, _FROM_THE_START, now, former.ns + span),
            pressure_share=pressure,
            host_pressure_share=host_pressure,
            interrupt_share=interrupts,
        )

    def _others_share(self, then: _Look, now: _Look, caused_ns: int) -> float | None:
        return _share_of(then.others_ns, now.others_ns, (now.ns - then.ns) * self._cores, -caused_ns)

    def _caused_ns(self, then: _CloserLook, now: _CloserLook) -> int:
        """Possible work for the agent: kernel threads, and steal time for its disks."""
        stolen = now.look.stolen_ns - then.look.stolen_ns
        return min(stolen, now.any_pressure_ns - then.any_pressure_ns) + (
            self._use.kernel_ns(then.threads) if self._use else 0
        )

    def _look_around(self, *, is_first: bool = False) -> _Look:
        now = time.monotonic_ns()
        if self._use is None and self._stalls is None:
            return _Look(now)
        busy, stolen, interrupts = self._use.now() if self._use else (None, 0, None)
        cpu = self._boxes[0].meter.cpu_ns(), self._boxes[1].meter.cpu_ns()
        known = [used for seat in self._seats if (used := cpu[seat]) is not None]
        others = None if busy is None or len(known) < len(self._seats) else busy - sum(known)
        stalled = self._stalls.stalled_ns(most=is_first) if self._stalls else None
        return _Look(now, others, stolen, cpu, stalled, interrupts)

    def _look_closer(self, seat: int, threads: Mapping[int, int]) -> _CloserLook:
        meter, look = self._boxes[seat].meter, self._look_around()
        return _CloserLook(
            look,
            meter.waited_ns(),
            meter.pressure_ns(),
            meter.pressure_ns(of_any=True) or 0,
            self._stalls.pressure_ns() if self._stalls else None,
            threads,
        )

    def _slept_share(self, seat: int, then: _CloserLook, now: _CloserLook, span: int) -> float | None:
        """Memory reclaim runs while the box waits for memory or a disk."""
        ran = _share_of(then.look.cpu_ns[seat], now.look.cpu_ns[seat], span * self._cores)
        if ran is None:
            return None
        waited = _share_of(then.waited_ns or 0, now.waited_ns, span) or 0.0
        pressed = _share_of(then.pressure_ns or 0, now.pressure_ns, span) or 0.0
        return max(0.0, 1 - ran - waited, pressed)


_FROM_THE_START = _CloserLook(_Look(0, cpu_ns=(0, 0)), 0, 0, 0, 0, {})


def _share_of(before: int | None, after: int | None, whole: int, more: int = 0) -> float | None:
    if before is None or after is None:
        return None
    return max(0.0, min(1.0, (after - before + more) / whole)) if whole > 0 else 0.0
