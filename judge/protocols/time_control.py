"""Time controls of seats, and their notation (docs/organise/time-controls.md)."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

from judge.base.errors import InputError
from judge.base.text import number, quote

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

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises InputError."""
        parser = _Parser(text)
        return cls(**parser.values())

    @property
    def total_ms(self) -> int | None:
        """Time until the flag falls, if none is added."""
        if self.main_ms is None:
            return None
        return self.main_ms + self.delay_ms + self.period_ms * (self.periods or bool(self.period_moves))

    def longest_ms(self, answers: int, tolerance_ms: int = 0) -> int | None:
        turns = None if self.turn_ms is None else (self.turn_ms + tolerance_ms) * answers
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
        return min((ms for ms in (self.turn_ms, self.total_ms) if ms is not None), default=None)

    @property
    def grows(self) -> bool:
        return bool(self.increment_ms or self.delay_ms or self.moves or self.period_ms)

    def with_turn(self, ms: int) -> "TimeControl":
        return replace(self, turn_ms=ms)

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
        if self.turn_ms is not None:
            text += f"@{_seconds(self.turn_ms)}"
        return text

    @property
    def words(self) -> str:
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

    def values(self) -> dict[str, int]:
        if not self._text:
            raise self._refused("it is empty")
        found: dict[str, int] = {}
        rest, has_turn, turn = self._text.partition("@")
        if has_turn:
            found["turn_ms"] = self._time(turn, 'after "@" (limit of an answer)', least=1)
            if not rest:
                return found
        rest, has_overtime, overtime = rest.partition("|")
        if has_overtime:
            found |= self._overtime(overtime)
        rest = self._bonus(rest, found)
        moves, is_period, main = rest.rpartition("/")
        if is_period:
            found["moves"] = self._count(moves, 'before "/" (answers)', MAX_ANSWERS)
        found["main_ms"] = self._time(
            main, "of the game" if not is_period else 'after "/"', least=1 if is_period else 0
        )
        if has_overtime and len(found.keys() & {"moves", "increment_ms", "delay_ms"}):
            raise self._refused("byo-yomi can only follow a time for the game, such as 600|3x30")
        total = TimeControl(**found).total_ms or 0
        if not total:
            raise self._refused("a seat begins without time; write at least 0.001 s")
        if total > MAX_MS:
            raise self._refused(f"a seat begins with more than {MAX_MS // 1000} s")
        return found

    def _overtime(self, text: str) -> dict[str, int]:
        answers, is_canadian, time = text.partition("/")
        if is_canadian:
            count = self._count(answers, 'after "|" (answers in byo-yomi)', MAX_ANSWERS)
            return {"period_moves": count, "period_ms": self._time(time, "of byo-yomi", least=1)}
        periods, is_japanese, time = text.partition("x")
        if not is_japanese:
            raise self._refused('after "|" write periods such as 3x30, or answers and their time such as 20/300')
        count = self._count(periods, 'after "|" (periods)', MAX_PERIODS)
        return {"periods": count, "period_ms": self._time(time, "of a period", least=1)}

    def _bonus(self, text: str, found: dict[str, int]) -> str:
        for sign, key, what in (("+", "increment_ms", "increment"), ("d", "delay_ms", "delay")):
            before, is_there, after = text.partition(sign)
            if is_there:
                found[key] = self._time(after, f'after "{sign}" ({what})', least=0)
                return before
        return text

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
