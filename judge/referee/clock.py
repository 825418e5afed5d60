"""One seat's time: which deadline a wait has, what missing it means, and what is charged to the match.

Nothing here reads a clock: every moment is given, in monotonic nanoseconds.
"""

from typing import NamedTuple

from judge.games.types import Verdict
from judge.protocols.types import UNLIMITED_MS, Clock, Wait
from judge.referee.policy import ClockPolicy

MS = 1_000_000
"""Nanoseconds in a millisecond."""

PAID = (Wait.START, Wait.TURN, Wait.ROW)
"""The waits whose time is charged to the match; the others are the judge's own courtesy."""


class Deadline(NamedTuple):
    """When a wait is over; `missed` is the verdict then, or None where the wait may simply end."""

    ns: int
    missed: Verdict | None
    allowed_ms: int
    """What the agent was allowed, the tolerance included, in milliseconds."""


class SeatClock:
    """The time of one seat in one game."""

    def __init__(self, policy: ClockPolicy) -> None:
        self._policy = policy
        self.charged_ns = 0
        """All time charged to the match so far."""

    @property
    def turn_ms(self) -> int:
        """The limit of a turn as the policy has it; 0 means as fast as possible."""
        return self._policy.turn_ms

    def left_ns(self) -> int | None:
        """What is left of the match, negative when overrun; None when it is unlimited."""
        if self._policy.match_ms == 0:
            return None
        return self._policy.match_ms * MS - self.charged_ns

    def shown(self) -> Clock:
        """What an agent is told before a request."""
        left = self.left_ns()
        return Clock(self.turn_ms, UNLIMITED_MS if left is None else left // MS)

    def charge(self, wait: Wait, elapsed_ns: int) -> None:
        """Take the time of a wait off the match, if that wait is paid for."""
        if wait in PAID:
            self.charged_ns += elapsed_ns

    def deadline(self, wait: Wait, now_ns: int) -> Deadline:
        """The absolute deadline of a wait that begins now."""
        match wait:
            case Wait.COURTESY:
                return Deadline(
                    now_ns + self._policy.courtesy_ms * MS, None, self._policy.courtesy_ms
                )
            case Wait.CLOSE:
                return Deadline(now_ns + self._policy.close_ms * MS, None, self._policy.close_ms)
            case Wait.START:
                return self._within_match(now_ns, self._policy.start_ms, 0, Verdict.START_TIME)
            case Wait.TURN | Wait.ROW:
                limit_ms = self._policy.turn_ms or self._policy.asap_ms
                tolerance = self._policy.tolerance_ms
                return self._within_match(now_ns, limit_ms, tolerance, Verdict.TURN_TIME)

    def _within_match(
        self, now_ns: int, limit_ms: int, tolerance_ms: int, missed: Verdict
    ) -> Deadline:
        left = self.left_ns()
        limit_ns = limit_ms * MS
        if left is not None and left < limit_ns:
            limit_ns, missed = left, Verdict.MATCH_TIME
        # A match overrun within the tolerance leaves less of the tolerance for the next turn, and at last nothing.
        allowed_ns = max(0, limit_ns + tolerance_ms * MS)
        return Deadline(now_ns + allowed_ns, missed, allowed_ns // MS)
