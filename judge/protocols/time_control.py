"""Time controls of seats, and their notation (docs/organise/time-controls.md)."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from judge.base.errors import InputError
from judge.base.text import number, quote

UNLIMITED_MS = 2147483647
"""No limit (Gomoku AI protocol, INFO time_left)."""
ASAP_MS = 1000
"""Limit of an answer as fast as possible."""

MAX_MS = 2_000_000_000
MAX_ANSWERS = 100_000
MAX_PERIODS = 1000
MAX_TEXT = 100

FORMS = "60, 60+0.6, 60d2, 40/300, 40/300+2, 40/600:20, 600|3x30, 600|20/300, 600@30 or @5"

_SECONDS = re.compile(r"(\d{1,7})(?:\.(\d{1,3}))?", re.ASCII)
_COUNT = re.compile(r"\d{1,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Period:
    """Time for a number of answers. Unused time is kept."""

    time_ms: int
    """Added when the period begins."""
    answers: int = 0
    """Answers before the next period. 0: the rest of the game."""
    increment_ms: int = 0
    delay_ms: int = 0
    """Uncharged time of each answer."""

    def __str__(self) -> str:
        text = (f"{self.answers}/" if self.answers else "") + _seconds(self.time_ms)
        text += f"+{_seconds(self.increment_ms)}" if self.increment_ms else ""
        return text + (f"d{_seconds(self.delay_ms)}" if self.delay_ms else "")

    def words(self, scope: str) -> str:
        found = [f"{_seconds(self.time_ms)} s {scope}"]
        if self.increment_ms:
            found.append(f"{_seconds(self.increment_ms)} s more after each answer")
        if self.delay_ms:
            found.append(f"the first {_seconds(self.delay_ms)} s of each answer are free")
        return ", ".join(found)


@dataclass(frozen=True, slots=True)
class ByoYomi:
    """Overtime after the main time. Unused time is lost."""

    time_ms: int
    periods: int = 0
    """Japanese: periods of `time_ms`; an answer that takes less keeps its period."""
    answers: int = 0
    """Canadian: answers in each `time_ms`."""

    @property
    def total_ms(self) -> int:
        """At its beginning."""
        return self.time_ms * (self.periods or 1)

    def longest_ms(self, answers: int) -> int:
        rounds = -(-answers // self.answers) if self.answers else self.periods - 1 + answers
        return self.time_ms * rounds

    def __str__(self) -> str:
        return (
            f"{self.answers}/{_seconds(self.time_ms)}" if self.answers else f"{self.periods}x{_seconds(self.time_ms)}"
        )

    @property
    def words(self) -> str:
        if self.answers:
            return f"then {_seconds(self.time_ms)} s for each {self.answers} answers"
        return f"then {self.periods} x {_seconds(self.time_ms)} s byo-yomi"


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The time control of one seat."""

    periods: tuple[Period, ...] = ()
    """All but the last have a number of answers. A last one with a number repeats. Empty: no limit of the game."""
    byo_yomi: ByoYomi | None = None
    """After the time of the last period, which has neither answers nor a bonus."""
    turn_ms: int | None = None
    """As announced; None: unlimited. 0: as fast as possible, which has no notation."""
    charges_start: bool = False
    """Start-up is charged to the game, as in Gomocup. It has no notation."""

    @classmethod
    def parse(cls, text: str) -> "TimeControl":
        """Raises InputError."""
        return _Parser(text).control()

    @classmethod
    def of_game(cls, ms: int | None, turn_ms: int | None, *, charges_start: bool = False) -> "TimeControl":
        """At most `ms` a game, and nothing added."""
        return cls((Period(ms),) if ms is not None else (), None, turn_ms, charges_start)

    @property
    def announced_turn_ms(self) -> int:
        """0: as fast as possible."""
        return UNLIMITED_MS if self.turn_ms is None else self.turn_ms

    @property
    def turn_limit_ms(self) -> int | None:
        """The limit of an answer that applies."""
        return ASAP_MS if self.turn_ms == 0 else self.turn_ms

    @property
    def main_ms(self) -> int | None:
        """Of the first period. None: no limit of the game."""
        return self.periods[0].time_ms if self.periods else None

    def overtime(self, at: int) -> ByoYomi | None:
        """Byo-yomi that follows the time of the period `at`."""
        return self.byo_yomi if at == len(self.periods) - 1 else None

    @property
    def total_ms(self) -> int | None:
        """Time until the flag falls, if none is added. None: no limit of the game."""
        if not self.periods:
            return None
        overtime = self.overtime(0)
        return self.periods[0].time_ms + self.periods[0].delay_ms + (overtime.total_ms if overtime else 0)

    def longest_ms(self, answers: int, tolerance_ms: int = 0) -> int | None:
        """Maximum time of a number of answers. None: unlimited."""
        turns = None if self.turn_limit_ms is None else (self.turn_limit_ms + tolerance_ms) * answers
        if not self.periods:
            return turns
        main = tolerance_ms
        for at, period in enumerate(self.periods):
            is_last = at == len(self.periods) - 1
            count = min(answers, period.answers) if period.answers and not is_last else answers
            answers -= count
            times = -(-count // period.answers) if period.answers else 1
            main += period.time_ms * max(1, times) + period.delay_ms * count
            main += period.increment_ms * max(0, count if answers else count - 1)
            if is_last and self.byo_yomi is not None:
                main += self.byo_yomi.longest_ms(count)
            if not answers:
                break
        return main if turns is None else min(main, turns)

    @property
    def answer_ms(self) -> int | None:
        """Maximum of a first answer."""
        return min((ms for ms in (self.turn_limit_ms, self.total_ms) if ms is not None), default=None)

    @property
    def grows(self) -> bool:
        """Whether time is added in a game."""
        return self.byo_yomi is not None or any(
            each.answers or each.increment_ms or each.delay_ms for each in self.periods
        )

    def with_turn(self, ms: int) -> "TimeControl":
        return replace(self, turn_ms=ms)

    def with_game(self, ms: int) -> "TimeControl":
        """At most `ms` a game, and nothing added."""
        return TimeControl.of_game(ms, self.turn_ms, charges_start=self.charges_start)

    def per_answer(self) -> "TimeControl":
        """With a limit of an answer only, unless start-up is charged."""
        return self if self.charges_start else TimeControl(turn_ms=self.answer_ms)

    def __str__(self) -> str:
        periods = self.periods[:-1] if self._ends_in_byo_yomi else self.periods
        text = ":".join(map(str, periods))
        if self.byo_yomi is not None:
            text += f"|{self.byo_yomi}"
        if self.turn_limit_ms is not None:
            text += f"@{_seconds(self.turn_limit_ms)}"
        return text

    @property
    def _ends_in_byo_yomi(self) -> bool:
        """Whether byo-yomi follows a period's answers at once."""
        return self.byo_yomi is not None and len(self.periods) > 1 and self.periods[-1] == _NO_MORE

    @property
    def words(self) -> str:
        if self.charges_start:
            turn = f"{self.turn_ms} ms a turn" if self.turn_ms else "as fast as possible"
            return f"{turn}, {self.main_ms} ms a game" if self.main_ms else f"{turn}, no limit of a game"
        found = []
        for at, period in enumerate(self.periods):
            is_last = at == len(self.periods) - 1
            if is_last and self._ends_in_byo_yomi:
                break
            scope = f"for {period.answers} answers" if period.answers else "for the rest" if at else "a game"
            found.append(period.words(f"{scope}, repeating" if period.answers and is_last else scope))
        text = "; then ".join(found)
        if self.byo_yomi is not None:
            text += f", {self.byo_yomi.words}"
        if self.turn_ms is not None:
            text += f"{', ' * bool(text)}at most {_seconds(self.turn_ms)} s an answer"
        return text

    @property
    def summary(self) -> str:
        """The notation, if there is one, and words."""
        return self.words if self.charges_start else f"{self} ({self.words})"


_NO_MORE = Period(0)
NO_LIMIT = TimeControl()


@lru_cache(maxsize=256)
def parse_controls(text: str) -> tuple[TimeControl, TimeControl]:
    """Parse the notation of both seats. Raises InputError."""
    if len(text) > MAX_TEXT:
        raise InputError(f"{quote(text)}: the time control has more than {MAX_TEXT} characters; write {FORMS}")
    parts = text.split(",")
    if len(parts) > len(("seat 0", "seat 1")):
        raise InputError(f"{quote(text)}: write one time control, or two with a comma between them: 300,240")
    first, *second = map(TimeControl.parse, parts)
    return first, second[0] if second else first


def controls_text(controls: tuple[TimeControl, TimeControl]) -> str:
    """The notation of both seats."""
    first, second = controls
    return str(first) if first == second else f"{first},{second}"


def _seconds(ms: int) -> str:
    whole, rest = divmod(ms, 1000)
    return f"{whole}.{rest:03}".rstrip("0") if rest else str(whole)


class _Parser:
    def __init__(self, text: str) -> None:
        self._whole = text
        self._text = text.strip()

    def control(self) -> TimeControl:
        if not self._text:
            raise self._refused("it is empty")
        rest, has_turn, turn = self._text.partition("@")
        turn_ms = self._time(turn, 'after "@" (limit of an answer)', least=1) if has_turn else None
        if has_turn and not rest:
            return TimeControl(turn_ms=turn_ms)
        rest, has_overtime, overtime = rest.partition("|")
        byo_yomi = self._byo_yomi(overtime) if has_overtime else None
        periods = [self._period(each, at) for at, each in enumerate(rest.split(":"))]
        last = periods[-1]
        if not all(each.answers for each in periods[:-1]):
            raise self._refused('a period before ":" needs its number of answers, such as 40/600:20; times are seconds')
        if byo_yomi is not None and last.answers:
            periods.append(_NO_MORE)
        elif byo_yomi is not None and (last.increment_ms or last.delay_ms):
            raise self._refused("byo-yomi cannot follow an increment or a delay; write 600|3x30")
        elif byo_yomi is None and last == _NO_MORE and len(periods) > 1:
            raise self._refused("the last period adds no time; write at least 0.001 s")
        control = TimeControl(tuple(periods), byo_yomi, turn_ms)
        if not control.total_ms:
            raise self._refused("a seat begins without time; write at least 0.001 s")
        if control.total_ms > MAX_MS:
            raise self._refused(f"a seat begins with more than {MAX_MS // 1000} s")
        if byo_yomi is not None and byo_yomi.total_ms > MAX_MS:
            raise self._refused(f"byo-yomi has more than {MAX_MS // 1000} s")
        return control

    def _byo_yomi(self, text: str) -> ByoYomi:
        answers, is_canadian, time = text.partition("/")
        if is_canadian:
            count = self._count(answers, 'after "|" (answers in byo-yomi)', MAX_ANSWERS)
            return ByoYomi(self._time(time, "of byo-yomi", least=1), answers=count)
        periods, is_japanese, time = text.partition("x")
        if not is_japanese:
            raise self._refused('after "|" write periods such as 3x30, or answers and their time such as 20/300')
        count = self._count(periods, 'after "|" (periods)', MAX_PERIODS)
        return ByoYomi(self._time(time, "of a period", least=1), periods=count)

    def _period(self, text: str, at: int) -> Period:
        rest, increment_ms, delay_ms = self._bonus(text)
        answers, has_answers, time = rest.rpartition("/")
        if has_answers:
            count = self._count(answers, 'before "/" (answers)', MAX_ANSWERS)
            return Period(self._time(time, 'after "/"', least=1), count, increment_ms, delay_ms)
        return Period(self._time(time, 'after ":"' if at else "of the game", least=0), 0, increment_ms, delay_ms)

    def _bonus(self, text: str) -> tuple[str, int, int]:
        """The text before it, the increment and the delay."""
        before, has_increment, after = text.partition("+")
        if has_increment:
            return before, self._time(after, 'after "+" (increment)', least=0), 0
        before, has_delay, after = text.partition("d")
        if has_delay:
            return before, 0, self._time(after, 'after "d" (delay)', least=0)
        return text, 0, 0

    def _time(self, text: str, where: str, least: int) -> int:
        match = _SECONDS.fullmatch(text)
        if match is None:
            raise self._refused(
                f"the time {where} is missing"
                if not text
                else f"the time {where} is {quote(text, 20)}; write seconds such as 60 or 0.6"
            )
        ms = int(match[1]) * 1000 + int((match[2] or "").ljust(3, "0"))
        if ms < least:
            raise self._refused(f"the time {where} is 0; write at least 0.001")
        if ms > MAX_MS:
            raise self._refused(f"the time {where} is more than {MAX_MS // 1000} s")
        return ms

    def _count(self, text: str, where: str, most: int) -> int:
        if not _COUNT.fullmatch(text) or not 1 <= int(text) <= most:
            raise self._refused(f"the number {where} is {quote(text, 20)}; write 1 to {number(most, 0)}")
        return int(text)

    def _refused(self, why: str) -> InputError:
        return InputError(f"{quote(self._whole)}: {why}; time controls are {FORMS}")
