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

FORMS = "60, 60+0.6, 60d2, 40/300, 40/300+2, 600|3x30, 600|20/300, 600@30 or @5"

_SECONDS = re.compile(r"(\d{1,7})(?:\.(\d{1,3}))?", re.ASCII)
_COUNT = re.compile(r"\d{1,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The time control of one seat. None: unlimited."""

    main_ms: int | None = None
    """For the game, or for each `moves` answers."""
    moves: int = 0
    increment_ms: int = 0
    delay_ms: int = 0
    """Uncharged time of each answer."""
    periods: int = 0
    period_ms: int = 0
    period_moves: int = 0
    turn_ms: int | None = None
    """As announced. 0: as fast as possible, which has no notation."""
    charges_start: bool = False
    """Start-up is charged to `main_ms`, as in Gomocup. It has no notation."""

    @classmethod
    def parse(cls, text: str) -> "TimeControl":
        """Raises InputError."""
        return _Parser(text).control()

    @property
    def announced_turn_ms(self) -> int:
        """0: as fast as possible."""
        return UNLIMITED_MS if self.turn_ms is None else self.turn_ms

    @property
    def turn_limit_ms(self) -> int | None:
        """The limit of an answer that applies."""
        return ASAP_MS if self.turn_ms == 0 else self.turn_ms

    @property
    def total_ms(self) -> int | None:
        """Time until the flag falls, if none is added."""
        if self.main_ms is None:
            return None
        return self.main_ms + self.delay_ms + self.period_ms * (self.periods or bool(self.period_moves))

    def longest_ms(self, answers: int, tolerance_ms: int = 0) -> int | None:
        turns = None if self.turn_limit_ms is None else (self.turn_limit_ms + tolerance_ms) * answers
        if self.main_ms is None:
            return turns
        main = self.main_ms + tolerance_ms + self.delay_ms * answers + self.increment_ms * max(0, answers - 1)
        if self.moves:
            main += self.main_ms * (max(0, answers - 1) // self.moves)
        if self.period_moves:
            main += self.period_ms * -(-answers // self.period_moves)
        elif self.periods:
            main += self.period_ms * (self.periods - 1 + answers)
        return main if turns is None else min(main, turns)

    @property
    def answer_ms(self) -> int | None:
        """Maximum of a first answer."""
        return min((ms for ms in (self.turn_limit_ms, self.total_ms) if ms is not None), default=None)

    @property
    def grows(self) -> bool:
        return bool(self.increment_ms or self.delay_ms or self.moves or self.period_ms)

    def with_turn(self, ms: int) -> "TimeControl":
        return replace(self, turn_ms=ms)

    def with_game(self, ms: int) -> "TimeControl":
        """At most `ms` a game, and nothing added."""
        return TimeControl(ms, turn_ms=self.turn_ms, charges_start=self.charges_start)

    def per_answer(self) -> "TimeControl":
        """With a limit of an answer only, unless start-up is charged."""
        return self if self.charges_start else TimeControl(turn_ms=self.answer_ms)

    def __str__(self) -> str:
        text = ""
        if self.main_ms is not None:
            text = (f"{self.moves}/" if self.moves else "") + _seconds(self.main_ms)
        if self.increment_ms:
            text += f"+{_seconds(self.increment_ms)}"
        if self.delay_ms:
            text += f"d{_seconds(self.delay_ms)}"
        if self.period_moves:
            text += f"|{self.period_moves}/{_seconds(self.period_ms)}"
        elif self.periods:
            text += f"|{self.periods}x{_seconds(self.period_ms)}"
        if self.turn_limit_ms is not None:
            text += f"@{_seconds(self.turn_limit_ms)}"
        return text

    @property
    def words(self) -> str:
        if self.charges_start:
            turn = f"{self.turn_ms} ms a turn" if self.turn_ms else "as fast as possible"
            return f"{turn}, {self.main_ms} ms a game" if self.main_ms else f"{turn}, no limit of a game"
        found = []
        if self.main_ms is not None:
            what = f"{self.moves} answers, repeating" if self.moves else "game"
            found.append(f"{_seconds(self.main_ms)} s {'for' if self.moves else 'a'} {what}")
        if self.increment_ms:
            found.append(f"{_seconds(self.increment_ms)} s more after each answer")
        if self.delay_ms:
            found.append(f"the first {_seconds(self.delay_ms)} s of each answer are free")
        if self.period_moves:
            found.append(f"then {_seconds(self.period_ms)} s for each {self.period_moves} answers")
        elif self.periods:
            found.append(f"then {self.periods} x {_seconds(self.period_ms)} s byo-yomi")
        if self.turn_ms is not None:
            found.append(f"at most {_seconds(self.turn_ms)} s an answer")
        return ", ".join(found)

    @property
    def summary(self) -> str:
        """The notation, if there is one, and words."""
        return self.words if self.charges_start else f"{self} ({self.words})"


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
        periods, period_moves, period_ms = self._overtime(overtime) if has_overtime else (0, 0, 0)
        rest, increment_ms, delay_ms = self._bonus(rest)
        answers, is_period, main = rest.rpartition("/")
        moves = self._count(answers, 'before "/" (answers)', MAX_ANSWERS) if is_period else 0
        main_ms = self._time(main, "of the game" if not is_period else 'after "/"', least=1 if is_period else 0)
        if has_overtime and (is_period or (increment_ms, delay_ms) != (None, None)):
            raise self._refused("byo-yomi can only follow a time for the game, such as 600|3x30")
        control = TimeControl(
            main_ms, moves, increment_ms or 0, delay_ms or 0, periods, period_ms, period_moves, turn_ms
        )
        if not control.total_ms:
            raise self._refused("a seat begins without time; write at least 0.001 s")
        if control.total_ms > MAX_MS:
            raise self._refused(f"a seat begins with more than {MAX_MS // 1000} s")
        return control

    def _overtime(self, text: str) -> tuple[int, int, int]:
        """Periods, answers of a period and time of a period."""
        answers, is_canadian, time = text.partition("/")
        if is_canadian:
            count = self._count(answers, 'after "|" (answers in byo-yomi)', MAX_ANSWERS)
            return 0, count, self._time(time, "of byo-yomi", least=1)
        periods, is_japanese, time = text.partition("x")
        if not is_japanese:
            raise self._refused('after "|" write periods such as 3x30, or answers and their time such as 20/300')
        count = self._count(periods, 'after "|" (periods)', MAX_PERIODS)
        return count, 0, self._time(time, "of a period", least=1)

    def _bonus(self, text: str) -> tuple[str, int | None, int | None]:
        """The text before it, the increment and the delay."""
        before, has_increment, after = text.partition("+")
        if has_increment:
            return before, self._time(after, 'after "+" (increment)', least=0), None
        before, has_delay, after = text.partition("d")
        if has_delay:
            return before, None, self._time(after, 'after "d" (delay)', least=0)
        return text, None, None

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
