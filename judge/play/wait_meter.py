"""Measures a slot's cores during a wait for a seat: the readings to judge a late turn.

Counters are read when a wait begins, when it becomes long, and for a verdict; their growth is reported as shares (0 to
1) of the elapsed time. Times are in nanoseconds; None: not counted.
"""

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
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

_SHORT_NS = 2_000_000
"""A wait for events can take 1 ms longer than asked for: the second reading of a shorter 1/16 is taken at once."""


class _Counters(NamedTuple):
    ns: int
    others_ns: int | None = None
    """Neither agent used it; None if an agent's time is unknown."""
    stolen_ns: int = 0
    cpu_ns: tuple[int | None, int | None] = (None, None)
    stalled_ns: int | None = None
    interrupts_ns: int | None = None
    # Only for a possible verdict:
    waited_ns: int | None = None
    pressure_ns: int | None = None
    """The whole box waited for memory or a disk."""
    any_pressure_ns: int = 0
    host_pressure_ns: int | None = None
    threads: Mapping[int, int] = MappingProxyType({})


_ZERO = _Counters(0, cpu_ns=(0, 0), waited_ns=0, pressure_ns=0)


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
        self._snapshot = _Counters(0)
        self._former_ns, self._former_stalled_ns = [0, 0], [0, 0]
        """Of all former waits for a seat."""
        self._since = 0
        self._closer: _Counters | None = None
        self._missed_ns = 0
        """Time before the second reading in which the judge did not run, beyond another 1/16."""
        self._due = 0
        """When the judge ran last or was to run for the second reading. The deadline can change in between."""

    def take_snapshot(self) -> None:
        self._snapshot = self._read(is_first=True)

    def is_old(self, now: int) -> bool:
        return now - self._snapshot.ns > _SNAPSHOT_NS

    def begin(self, seat: int, now: int) -> None:
        self._asked, self._since, self._closer, self._missed_ns = seat, now, None, 0
        self._due = now
        if self._stalls is not None:
            self._stalls.want(now, self)

    def end(self) -> None:
        since, self._since = self._since, 0
        if self._stalls is None or not since:
            return
        self._stalls.want(0, self)
        span = time.monotonic_ns() - since
        self._former_ns[self._asked] += span
        if span >= STALL_NS:
            before, after = self._snapshot.stalled_ns, self._stalls.stalled_ns()
            self._former_stalled_ns[self._asked] += max(0, min(span, after - (before or 0)))

    def read_for_verdict(self, now: int, deadline: int) -> int:
        """Read all counters for a possible verdict, once. Returns when to call again, or the deadline for never."""
        if self._closer is not None or not self._since or (self._use is None and self._stalls is None):
            return deadline
        part = (deadline - self._since) // _CLOSER_PART
        if now < self._since + part and part >= _SHORT_NS:
            self._due = max(now, self._since + part)
            return self._due
        closer = self._read_closer(self._asked, self._use.kernel_threads() if self._use else {})
        self._closer, self._missed_ns = closer, max(0, now - self._due - max(part, _SHORT_NS))
        return deadline

    def shares(self, seat: int) -> dict[str, float | None]:
        """Shares for `Evidence` by field: those of this wait, and of all waits in the game."""
        then, now = self._closer if seat == self._asked else None, self._read_closer(seat, {})
        first, cores = self._snapshot, self._cores
        whole = now.ns - first.ns
        waited = slept = pressure = host_pressure = None
        if then is None:  # no verdict on time
            others = _share_of(first.others_ns, now.others_ns, whole * cores)
        else:
            # In a time without readings the agent may have waited for a core, or slept.
            missed = self._missed_ns
            span = now.ns - then.ns + missed
            since, time_ns = (first, whole) if missed else (then, span)
            others = _share_of(since.others_ns, now.others_ns, time_ns * cores, -self._caused_ns(then, now))
            # The guest counts steal time as CPU time of the agent.
            stolen = (now.stolen_ns - then.stolen_ns) // cores
            waited = _share_of(then.waited_ns, now.waited_ns, span, stolen + missed) if self._use else None
            slept = self._slept_share(seat, then, now, span)
            pressure = _share_of(then.pressure_ns, now.pressure_ns, span)
            host_pressure = _share_of(then.host_pressure_ns, now.host_pressure_ns, span)
        shares = {
            "others_share": others,
            "waited_share": waited,
            "interrupt_share": _share_of(first.interrupts_ns, now.interrupts_ns, whole * cores),
        }
        if self._stalls is None:
            return shares
        game = self._former_ns[seat] + whole
        return shares | {
            "stalled_share": _share_of(first.stalled_ns, now.stalled_ns, whole),
            "slept_share": slept,
            "game_stalled_share": _share_of(first.stalled_ns, now.stalled_ns, game, self._former_stalled_ns[seat]),
            "game_slept_share": self._slept_share(seat, _ZERO, now, game),
            "pressure_share": pressure,
            "host_pressure_share": host_pressure,
        }

    def _caused_ns(self, then: _Counters, now: _Counters) -> int:
        """Possible work for the agent: kernel threads, and steal time for its disks."""
        stolen, pressed = now.stolen_ns - then.stolen_ns, now.any_pressure_ns - then.any_pressure_ns
        return min(stolen, pressed) + (self._use.kernel_ns(then.threads) if self._use else 0)

    def _read(self, *, is_first: bool = False) -> _Counters:
        now = time.monotonic_ns()
        if self._use is None and self._stalls is None:
            return _Counters(now)
        busy, stolen, interrupts = self._use.now() if self._use else (None, 0, None)
        cpu = self._boxes[0].meter.cpu_ns(), self._boxes[1].meter.cpu_ns()
        known = [used for seat in self._seats if (used := cpu[seat]) is not None]
        others = None if busy is None or len(known) < len(self._seats) else busy - sum(known)
        stalled = self._stalls.stalled_ns(most=is_first) if self._stalls else None
        return _Counters(now, others, stolen, cpu, stalled, interrupts)

    def _read_closer(self, seat: int, threads: Mapping[int, int]) -> _Counters:
        counters, meter = self._read(), self._boxes[seat].meter
        return counters._replace(
            waited_ns=meter.waited_ns(),
            pressure_ns=meter.pressure_ns(),
            any_pressure_ns=meter.pressure_ns(of_any=True) or 0,
            host_pressure_ns=self._stalls.pressure_ns() if self._stalls else None,
            threads=threads,
        )

    def _slept_share(self, seat: int, then: _Counters, now: _Counters, span: int) -> float | None:
        """Memory reclaim runs while the box waits for memory or a disk."""
        ran = _share_of(then.cpu_ns[seat], now.cpu_ns[seat], span * self._cores)
        if ran is None:
            return None
        waited = _share_of(then.waited_ns or 0, now.waited_ns, span) or 0.0
        pressed = _share_of(then.pressure_ns or 0, now.pressure_ns, span) or 0.0
        return max(0.0, 1 - ran - waited, pressed)


def _share_of(before: int | None, after: int | None, whole: int, more: int = 0) -> float | None:
    if before is None or after is None:
        return None
    return max(0.0, min(1.0, (after - before + more) / whole)) if whole > 0 else 0.0
