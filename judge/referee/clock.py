"""The clock of one seat: deadlines and charged time. All times are arguments, in monotonic nanoseconds."""

from typing import NamedTuple

from judge.games.types import Verdict
from judge.protocols.types import UNLIMITED_MS, Clock, Wait
from judge.referee.policy import ClockPolicy

MS = 1_000_000

PAID = (Wait.START, Wait.SYNC, Wait.TURN, Wait.ROW)
"""Waits that are charged to the game."""


class Deadline(NamedTuple):
    """End of a wait; `missed` is the cause if it passes, or None if that is allowed."""

    ns: int
    missed: Verdict | None
    allowed_ms: int
    """Including the tolerance."""


class Limit(NamedTuple):
    """Limit and tolerance of a wait, and the cause if it is exceeded."""

    limit_ns: int
    tolerance_ns: int
    missed: Verdict | None


class SeatClock:
    """The clock of one seat."""

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

    def left_ns(self) -> int | None:
        """Game time left; negative if overrun, None if unlimited."""
        return self._match_ns - self.charged_ns if self._match_ns else None

    def shown(self, wait: Wait | None = None, elapsed_ns: int = 0) -> Clock:
        """Return the clock to send to an agent, less `elapsed_ns` if `wait` is charged."""
        left = self.left_ns()
        if left is None:
            return Clock(self._told_turn_ms, UNLIMITED_MS)
        return Clock(self._told_turn_ms, (left - (elapsed_ns if wait in PAID else 0)) // MS)

    def charge(self, wait: Wait, elapsed_ns: int) -> None:
        """Charge a wait to the game if its kind is charged."""
        if wait in PAID:
            self.charged_ns += elapsed_ns

    def deadline(self, wait: Wait, now_ns: int) -> Deadline:
        """Return the deadline of a wait that begins now."""
        limit_ns, tolerance_ns, missed = self._limits[wait]
        if self._match_ns and wait in PAID:
            left = self._match_ns - self.charged_ns
            if left < limit_ns:
                limit_ns, missed = left, Verdict.MATCH_TIME
        # An overrun of the game time reduces the tolerance of later turns.
        allowed_ns = max(0, limit_ns + tolerance_ns)
        return Deadline(now_ns + allowed_ns, missed, allowed_ns // MS)
