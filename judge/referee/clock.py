"""The clock of one seat: deadlines and charged time. All times are arguments, in monotonic nanoseconds.

TimeControl   the time of a seat, from the keys of the policy
SeatClock     what is left of it
Clock         what an agent is shown of it
Deadline      the end of one wait
ClockRecord   the clock at the end of a game, in its record

bank    time until the flag falls, after the last answer: main time + delay + byo-yomi
left    bank - time charged since
"""

from dataclasses import replace
from typing import NamedTuple

from judge.games.types import Verdict
from judge.protocols.time_control import UNLIMITED_MS, ByoYomi, Period
from judge.protocols.types import Clock, Wait
from judge.record.policy import ClockPolicy

MS = 1_000_000

_MOST_MS = UNLIMITED_MS - 1

SYNC_MS = 10_000
"""Limit of the answer to a ready check before a request (AGI: ISREADY); charged to the turn and to the game."""
COURTESY_MS = 1000
"""Limit of an optional answer (ABOUT); not charged."""
PERSON_MS = 86_400_000
"""Limit of a human player's answer without a clock: one day."""

PAID = (Wait.TURN, Wait.START, Wait.SYNC, Wait.ROW)


class Deadline(NamedTuple):
    """End of a wait; `missed` is the cause if it passes, None if that is allowed."""

    ns: int
    missed: Verdict | None
    allowed_ms: int
    """Including the tolerance."""


class SeatClock:
    """The clock of one seat."""

    def __init__(self, policy: ClockPolicy, seat: int = 0) -> None:
        self.control = control = policy.controls[seat]
        self._turn_ms = control.announced_turn_ms
        self._at = 0
        """Number of the current period."""
        self._period = Period(0)
        self._byo_yomi: ByoYomi | None = None
        self._main_ns = 0
        self._answers = 0
        """Before the next period. 0: the rest of the game."""
        self._periods = 0
        """Of Japanese byo-yomi."""
        self._period_left_ns = 0
        self._period_answers = 0
        """Of Canadian byo-yomi."""
        if control.periods:
            self._begin(0)
        self._turn_ns = 0
        self._sync_ns = 0
        """Of the current turn."""
        self._shown: Clock | None = None
        turn_ms = UNLIMITED_MS if control.turn_limit_ms is None else control.turn_limit_ms
        self._tolerance_ns = policy.tolerance_ms * MS
        turn = (turn_ms * MS, self._tolerance_ns, Verdict.TURN_TIME)
        self._limits: dict[Wait, tuple[int, int, Verdict | None]] = {
            Wait.START: (policy.start_ms * MS, 0, Verdict.START_TIME),
            Wait.SYNC: (SYNC_MS * MS, 0, Verdict.TURN_TIME),
            Wait.TURN: turn,
            Wait.ROW: turn,
            Wait.PERSON: (PERSON_MS * MS, 0, Verdict.TURN_TIME),
            Wait.COURTESY: (COURTESY_MS * MS, 0, None),
            Wait.CLOSE: (policy.close_ms * MS, 0, None),
        }
        """Limit, tolerance (ns), and the cause if both are exceeded."""
        self.charged_ns = 0
        self.added_ns = 0
        self.answers = 0

    def _begin(self, at: int) -> None:
        self._at, self._period = at, self.control.periods[at]
        self._main_ns += self._period.time_ms * MS
        self._answers = self._period.answers
        byo_yomi = self._byo_yomi = self.control.overtime(at)
        if byo_yomi is not None:
            self._periods, self._period_answers = byo_yomi.periods, byo_yomi.answers
            self._period_left_ns = byo_yomi.time_ms * MS

    @property
    def _bank_ns(self) -> int:
        bank_ns = self._main_ns + self._period.delay_ms * MS
        return bank_ns + self._period_left_ns * (self._periods or bool(self._period_answers))

    def left_ns(self) -> int | None:
        """Negative if overrun, None if unlimited."""
        return self._bank_ns - self._turn_ns if self.control.periods else None

    def _is_paid(self, wait: Wait | None) -> bool:
        return wait in PAID and (wait is not Wait.START or self.control.charges_start or self.answers > 0)

    def shown(self, wait: Wait | None = None, elapsed_ns: int = 0) -> Clock:
        """The clock to send to an agent, less `elapsed_ns` if `wait` is charged."""
        if elapsed_ns and self._is_paid(wait):
            clock = self._show(elapsed_ns)
        else:
            self._shown = clock = self._shown or self._show(0)
        synced_ns = self._sync_ns + (elapsed_ns if wait is Wait.SYNC else 0)
        if synced_ns and 0 < self._turn_ms < UNLIMITED_MS:
            return replace(clock, turn_ms=max(1, self._turn_ms - synced_ns // MS))
        return clock

    def _show(self, elapsed_ns: int) -> Clock:
        if not self.control.periods:
            return Clock(self._turn_ms, UNLIMITED_MS)
        period, byo_yomi, used = self._period, self._byo_yomi, self._turn_ns + elapsed_ns
        main = self._main_ns - max(0, used - period.delay_ms * MS)
        is_over = byo_yomi is not None and main <= 0
        of_period = self._period_left_ns + min(0, main) if self._period_answers else self._period_left_ns
        return Clock(
            self._turn_ms,
            min(_MOST_MS, (self._bank_ns - used) // MS),
            main_ms=0 if is_over else min(_MOST_MS, main // MS),
            increment_ms=period.increment_ms,
            delay_ms=period.delay_ms,
            moves_to_go=(self._period_answers if is_over else self._answers) or None,
            periods_left=self._periods,
            period_ms=of_period // MS,
        )

    def words(self) -> str:
        if self.control.charges_start:
            return ""
        shown = self.shown()
        state = f", {shown.moves_to_go} answers to go" if shown.moves_to_go else ""
        if (byo_yomi := self._byo_yomi) is not None and byo_yomi.periods and not shown.main_ms:
            state += f", period {1 + byo_yomi.periods - shown.periods_left} of {byo_yomi.periods}"
        return f"{self.control}{state}"

    def charge(self, wait: Wait, elapsed_ns: int) -> None:
        if wait is Wait.SYNC:
            self._sync_ns += elapsed_ns
        if self._is_paid(wait):
            self.charged_ns += elapsed_ns
            self._turn_ns += elapsed_ns
            self._shown = None

    def answered(self) -> None:
        """Add the time that an answer earns. Later charges are of the next answer."""
        self.answers += 1
        self._sync_ns = 0
        if not self.control.periods:
            return
        self._shown = None
        before, period = self._bank_ns - self._turn_ns, self._period
        was_in_byo_yomi = self._main_ns <= 0
        self._main_ns -= max(0, self._turn_ns - period.delay_ms * MS)
        if self._byo_yomi is not None:
            self._settle_byo_yomi(self._byo_yomi, was_in_byo_yomi=was_in_byo_yomi)
        self._main_ns += period.increment_ms * MS
        if self._answers:
            self._answers -= 1
            if not self._answers:
                self._begin(min(self._at + 1, len(self.control.periods) - 1))
        self._turn_ns = 0
        self.added_ns += self._bank_ns - before

    def _settle_byo_yomi(self, byo_yomi: ByoYomi, *, was_in_byo_yomi: bool) -> None:
        over = max(0, -self._main_ns)
        self._main_ns = max(0, self._main_ns)
        if byo_yomi.answers:
            self._period_left_ns -= over
            if over or was_in_byo_yomi:
                self._period_answers -= 1
            if not self._period_answers:
                self._period_answers = byo_yomi.answers
                self._period_left_ns = byo_yomi.time_ms * MS + min(0, self._period_left_ns)
        elif over:
            lost = min((over - 1) // self._period_left_ns, self._periods - 1)
            self._periods -= lost
            self._main_ns = -max(0, over - (lost + 1) * self._period_left_ns)

    def deadline(self, wait: Wait, now_ns: int) -> Deadline:
        limit_ns, tolerance_ns, missed = self._limits[wait]
        if self._sync_ns and wait in (Wait.TURN, Wait.ROW):
            limit_ns -= self._sync_ns
        elif wait is Wait.SYNC:
            turn_ns, turn_tolerance_ns, _ = self._limits[Wait.TURN]
            limit_ns = min(limit_ns, turn_ns + turn_tolerance_ns - self._sync_ns)
        allowed_ns, left = limit_ns + tolerance_ns, self.left_ns()
        if left is not None and self._is_paid(wait):
            # An overrun of the game time reduces the tolerance of later turns.
            game_ns = left + (0 if wait is Wait.START and not self.answers else self._tolerance_ns)
            if game_ns < allowed_ns:
                allowed_ns, missed = game_ns, Verdict.MATCH_TIME
        allowed_ns = max(0, allowed_ns)
        return Deadline(now_ns + allowed_ns, missed, allowed_ns // MS)
