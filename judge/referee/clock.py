"""One seat's time: which deadline a wait has, what missing it means, and what is charged to the game.

Nothing here reads a clock: every moment is given, in monotonic nanoseconds.
"""

from typing import NamedTuple

from judge.games.types import Verdict
from judge.protocols.types import UNLIMITED_MS, Clock, Wait
from judge.referee.policy import ClockPolicy

MS = 1_000_000
"""Nanoseconds in a millisecond."""

PAID = (Wait.START, Wait.SYNC, Wait.TURN, Wait.ROW)
"""The waits whose time is charged to the game; the others are free."""


class Deadline(NamedTuple):
    """When a wait is over; `missed` is the verdict then, or None if the wait may simply end."""

    ns: int
    missed: Verdict | None
    allowed_ms: int
    """The allowed time in milliseconds, tolerance included."""


class Limit(NamedTuple):
    """How long a wait may last, by how much it may overrun, and the verdict if it takes longer."""

    limit_ns: int
    tolerance_ns: int
    missed: Verdict | None


class SeatClock:
    """The time of one seat in one game."""

    def __init__(self, policy: ClockPolicy) -> None:
        self._told_turn_ms = policy.turn_ms
        self._match_ns = policy.match_ms * MS
        turn = Limit((policy.turn_ms or policy.asap_ms) * MS, policy.tolerance_ms * MS, Verdict.TURN_TIME)
        self._limits = {
            Wait.START: Limit(policy.start_ms * MS, 0, Verdict.START_TIME),
            Wait.SYNC: Limit(policy.sync_ms * MS, 0, Verdict.TURN_TIME),
            Wait.TURN: turn,
            Wait.ROW: turn,
            Wait.PERSON: Limit(policy.person_ms * MS, 0, Verdict.TURN_TIME),
            Wait.COURTESY: Limit(policy.courtesy_ms * MS, 0, None),
            Wait.CLOSE: Limit(policy.close_ms * MS, 0, None),
        }
        self.charged_ns = 0
        """All time charged to the game so far."""

    def left_ns(self) -> int | None:
        """What is left of the game; negative if it is overrun, None if it is unlimited."""
        return self._match_ns - self.charged_ns if self._match_ns else None

    def shown(self, wait: Wait | None = None, elapsed_ns: int = 0) -> Clock:
        """The clock for an agent: what is left, less `elapsed_ns` of the running wait if that wait is charged."""
        left = self.left_ns()
        if left is None:
            return Clock(self._told_turn_ms, UNLIMITED_MS)
        return Clock(self._told_turn_ms, (left - (elapsed_ns if wait in PAID else 0)) // MS)

    def charge(self, wait: Wait, elapsed_ns: int) -> None:
        """Take the time of a wait off the game if that wait is charged."""
        if wait in PAID:
            self.charged_ns += elapsed_ns

    def deadline(self, wait: Wait, now_ns: int) -> Deadline:
        """The absolute deadline of a wait that begins now."""
        limit_ns, tolerance_ns, missed = self._limits[wait]
        if self._match_ns and wait in PAID:
            left = self._match_ns - self.charged_ns
            if left < limit_ns:
                limit_ns, missed = left, Verdict.MATCH_TIME
        # A game overrun within the tolerance leaves less of the tolerance for the next turn, and at last nothing.
        allowed_ns = max(0, limit_ns + tolerance_ns)
        return Deadline(now_ns + allowed_ns, missed, allowed_ns // MS)
