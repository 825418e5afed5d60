"""Renju's fouls: black may not make a double three, a double four or an overline, unless the stone makes five.

Sources: the international rules of renju, 9.2 and 9.3, as Gomocup's managers apply them (INFO rule 4).

Each of the four lines through a stone is a text of eleven squares with the new stone in the middle (`X` black, `_`
free, `#` anything else), compared with these shapes:

- a *four* is one stone short of an exact five: `_XXXX`, `XX_XX`, ... `_XXXX_` is one four; `X_XXX_X`, `XX_XX_XX` and
  `XXX_X_XXX` are two;
- a *three* is one stone short of a straight four, which is `_XXXX_` with an exact five at either end. The square of
  that stone is a *key*; a three has one or two.

A black stone adjoining a shape invalidates it: the five would be an overline. An exact five on any line wins. Two
fours, on two lines or on one, are a double four. Threes count only if *real*: black may place the next stone on a key
without making a five or a foul.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Literal

from judge.base.text import sentence

_REACH = 5
"""On each side: a five, and the square next to it."""

MAX_EXAMINED_SQUARES = 2000
"""Per call; further threes count as real. Hill climbing found boards that need 113 (15x15) and 135 (20x20)."""

MAX_DEPTH = 200
"""Of squares that depend on each other. Recursion in Python is bounded."""

_BLACK, _FREE, _BLOCKED = b"X", b"_", b"#"
_AS_TEXT = (_FREE + _BLACK).ljust(256, _BLOCKED)

_FIVE = "XXXXX"
_FOURS = ("_XXXX", "X_XXX", "XX_XX", "XXX_X", "XXXX_")
_THREES = {"__XXX_": 1, "_X_XX_": 2, "_XX_X_": 3, "_XXX__": 4}


class Foul(StrEnum):
    """Why a square is forbidden to black."""

    DOUBLE_THREE = sentence("double three")
    DOUBLE_FOUR = sentence("double four")
    OVERLINE = sentence("overline")


def foul(cells: bytes | bytearray, stride: int, at: int) -> Foul | None:
    """Foul of a black stone on the free square `at`; None if allowed.

    `cells` has the board row by row with a ring of edge, `stride` cells per row; 0 is free, 1 black, others block.
    Precedence: double four, double three, overline. Raises ValueError for an occupied square.
    """
    if cells[at]:
        raise ValueError(f"the square at index {at} is not free")
    # Keeps the texts inside the array.
    margin = _BLOCKED * (_REACH * (stride + 1))
    board = bytearray(margin + cells.translate(_AS_TEXT) + margin)
    found = _Enquiry(board, stride).examine(at + len(margin))
    return found if isinstance(found, Foul) else None


class _Enquiry:
    def __init__(self, board: bytearray, stride: int) -> None:
        self._board = board
        self._steps = (1, stride, stride + 1, stride - 1)
        self._left = MAX_EXAMINED_SQUARES

    def examine(self, at: int, depth: int = 0) -> Foul | Literal["five"] | None:
        if not self._left or depth == MAX_DEPTH:
            return None
        self._left -= 1
        self._board[at] = ord(_BLACK)
        lines = self._lines(at)
        found: Foul | Literal["five"] | None = None
        if any(line.five for _, line in lines):
            found = "five"
        elif sum(line.fours for _, line in lines) >= 2:
            found = Foul.DOUBLE_FOUR
        elif self._are_two_real([_keys(at, step, line) for step, line in lines if line.keys], depth + 1):
            found = Foul.DOUBLE_THREE
        elif any(line.overline for _, line in lines):
            found = Foul.OVERLINE
        self._board[at] = ord(_FREE)
        return found

    def _lines(self, at: int) -> list[tuple[int, "_Line"]]:
        lines = []
        for step in self._steps:
            text = self._board[at - _REACH * step : at + _REACH * step + 1 : step]
            if text.count(_BLACK) >= 3:
                lines.append((step, _read(bytes(text))))
        return lines

    def _are_two_real(self, threes: list[list[int]], depth: int) -> bool:
        real, left = 0, len(threes)
        while real < 2 <= real + left:
            left -= 1
            real += None in (self.examine(key, depth) for key in threes[left])
        return real == 2


@dataclass(frozen=True, slots=True)
class _Line:
    five: bool
    fours: int
    keys: tuple[int, ...]
    overline: bool


@cache
def _read(text: bytes) -> _Line:
    line = text.decode()
    fours = {
        frozenset(first + place for place, square in enumerate(shape) if square == "X")
        for shape in _FOURS
        for first in _places(shape, line)
    }
    keys = (first + key - _REACH for shape, key in _THREES.items() for first in _places(shape, line))
    return _Line(bool(_places(_FIVE, line)), len(fours), tuple(keys), _FIVE + "X" in line)


def _keys(at: int, step: int, line: _Line) -> list[int]:
    return [at + key * step for key in line.keys]


def _places(shape: str, line: str) -> list[int]:
    size = len(shape)
    return [
        first
        for first in range(1, len(line) - size)
        if line[first : first + size] == shape and "X" not in (line[first - 1], line[first + size])
    ]
