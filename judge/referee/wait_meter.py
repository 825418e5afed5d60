"""What happened on a slot's cores while a seat was waited for: the readings behind blame for a late turn.

A turn can be late though its agent did nothing wrong: others used the cores, or the kernel stalled who wanted memory
or a disk. The meter reads counters when a wait begins, more of them when it becomes long, and all again when a verdict
needs them, and gives their growth as shares of the time between. Times are in nanoseconds, shares between 0 and 1;
None: it could not be counted.
"""

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from judge.sandbox.box import Box
from judge.sandbox.host_activity.core_use import CoreUse
from judge.sandbox.host_activity.stall_probe import STALL_NS
from judge.sandbox.host_activity.stalls import StallWatch

_SNAPSHOT_NS = 20_000_000
"""How old the last reading of the cores' busy time may be when a wait begins; a reading costs about 30 us."""

_CLOSER_PART = 16
"""Which part of the time until its deadline a wait takes before the meter looks closer: at more than most waits need,
and so that nobody waits for the judge. What others take until then is less than makes a turn void."""


class Shares(NamedTuple):
    """What of a wait, and of all waits of a game, went where; see `judge.referee.blame.Evidence`."""

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
    """What was counted of the slot at one moment, in nanoseconds since fixed ones."""

    ns: int
    others_ns: int | None = None
    """Time of the slot's cores that neither agent used; None where the time of one is not known, which may be all."""
    stolen_ns: int = 0
    cpu_ns: tuple[int | None, int | None] = (None, None)
    """The CPU time of each seat."""
    stalled_ns: int | None = None
    """For how long the kernel stalled a process of the judge's own."""
    interrupts_ns: int | None = None
    """Time of the slot's cores that interrupts took."""


class _CloserLook(NamedTuple):
    """What was counted besides of the seat that is asked, and of what it may cause though its box does not use it."""

    look: _Look
    waited_ns: int | None
    """For how long it waited for a core."""
    pressure_ns: int | None
    """For how long it waited for memory or a disk."""
    any_pressure_ns: int
    """For how long anything in its box did."""
    host_pressure_ns: int | None
    threads: Mapping[int, int]
    """The processor time of each of the kernel's own threads, by its number."""


class _FormerWaits:
    """All the time for which a seat was waited for in this game, but the present wait."""

    def __init__(self) -> None:
        self.ns = 0
        self.stalled_ns = 0


class WaitMeter:
    """Measures the waits for two boxes that share a slot, one wait at a time."""

    def __init__(self, boxes: Sequence[Box], use: CoreUse | None, cores: int, stalls: StallWatch | None) -> None:
        """`boxes` are those of the wire, also after it replaces one. For the others see `LiveWire`."""
        self._boxes = boxes
        self._use = use
        self._cores = max(1, cores)
        self._stalls = stalls
        self._asked = -1
        self._snapshot = _Look(0)
        self._former = (_FormerWaits(), _FormerWaits())
        self._since = 0
        """Since when the seat that is asked is waited for; 0: it is not."""
        self._closer: _CloserLook | None = None

    def look(self) -> None:
        """Read the counters from which the next wait is measured."""
        self._snapshot = self._look_around(is_first=True)

    def is_old(self, now: int) -> bool:
        """Whether the last reading is too old for a wait that begins now."""
        return now - self._snapshot.ns > _SNAPSHOT_NS

    def begin(self, seat: int, now: int) -> None:
        """A seat is waited for from now on."""
        self._asked, self._since, self._closer = seat, now, None
        if self._stalls is not None:
            self._stalls.want(now, self)

    def end(self) -> None:
        """Note for how long the seat that is asked was waited for, and for how much of that the host stalled."""
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
        """Read all counters from which the wait is measured if it is late, once, when it is time for that.

        Returns when it will be, the deadline if not any more: a judge that did not run then learns too little by it.
        """
        if self._closer is not None or not self._since or (self._use is None and self._stalls is None):
            return deadline
        part = (deadline - self._since) // _CLOSER_PART
        if now < self._since + part:
            return self._since + part
        if now < self._since + 2 * part:
            self._closer = self._look_closer(self._asked, self._use.kernel_threads() if self._use else {})
        return deadline

    def shares(self, seat: int) -> Shares:
        """Of the time since the last readings, and of all waits for the seat."""
        then, now = self._closer if seat == self._asked else None, self._look_closer(seat, {})
        first, look = self._snapshot, now.look
        if then is None:  # no wait that is long, or the judge did not run
            others = self._others_share(first, look, 0)
            waited = slept = pressure = host_pressure = None
        else:
            span = look.ns - then.look.ns
            others = self._others_share(then.look, look, self._caused_ns(then, now))
            # Of what a hypervisor steals the guest says that the agent has it.
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
        """What others seem to have used for the agent: the kernel's own threads, and a hypervisor that works for its
        disks."""
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
        known = [used for used in cpu if used is not None]
        others = None if busy is None or len(known) < len(cpu) else busy - sum(known)
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
        """The share of a time in which a seat neither ran nor wanted a core, or waited for memory or a disk: what
        frees memory for itself runs meanwhile."""
        ran = _share_of(then.look.cpu_ns[seat], now.look.cpu_ns[seat], span * self._cores)
        if ran is None:
            return None
        waited = _share_of(then.waited_ns or 0, now.waited_ns, span) or 0.0
        pressed = _share_of(then.pressure_ns or 0, now.pressure_ns, span) or 0.0
        return max(0.0, 1 - ran - waited, pressed)


_FROM_THE_START = _CloserLook(_Look(0, cpu_ns=(0, 0)), 0, 0, 0, 0, {})
"""Before anything was counted."""


def _share_of(before: int | None, after: int | None, whole: int, more: int = 0) -> float | None:
    """The share that the growth of a counter, and as much `more`, has of the whole; None if it was not counted."""
    if before is None or after is None:
        return None
    return max(0.0, min(1.0, (after - before + more) / whole)) if whole > 0 else 0.0
