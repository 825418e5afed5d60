"""Renju's fouls: black may not make a double three, a double four or an overline, unless the stone makes five.

Sources: the international rules of renju, 9.2 and 9.3, read as Gomocup's managers apply them (INFO rule 4).

How it works. A stone changes the four lines through it, and what it changes lies within five squares either side. So a
line is a text of eleven squares with the new stone in the middle (`X` black, `_` free, `#` anything else). Few lines
have three black stones, and what such a text holds is found once, by comparing it with a handful of shapes, and kept:

- a *four* is one stone short of an exact five: `_XXXX`, `XX_XX`, ... `_XXXX_` is one four; `X_XXX_X`, `XX_XX_XX` and
  `XXX_X_XXX` are two;
- a *three* is one stone short of a straight four, which is `_XXXX_` with an exact five at either end. The square of
  that stone is a *key* of the three; a three has one key or two.

A black stone that adjoins a shape spoils it, for the five would be an overline. An exact five on any line settles the
enquiry: the stone wins. Two fours, on two lines or on one, are a double four. Threes count only where they are *real*:
black may place the next stone on a key, and that stone neither makes a five nor is a foul. So the rule asks itself, one
stone further on, and it does so only where two lines hold threes, which is rare.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Literal

from judge.base.text import sentence

_REACH = 5
"""Squares either side that matter on a line: four may join the stone in a five, the next may adjoin that five."""

_LOOKS = 200
"""Squares that one enquiry looks at before it takes the threes that are left for real.

Boards found by a search for the hardest ones of 15x15 take about 30, the positions of the tests no more than 12. But
on a large board two agents could hang three on three for hundreds of stones, and nothing else would bound the work.
"""

_BLACK, _FREE, _BLOCKED = b"X", b"_", b"#"
_AS_TEXT = (_FREE + _BLACK).ljust(256, _BLOCKED)

_FIVE = "XXXXX"
_FOURS = ("_XXXX", "X_XXX", "XX_XX", "XXX_X", "XXXX_")
_THREES = {"__XXX_": 1, "_X_XX_": 2, "_XX_X_": 3, "_XXX__": 4}
"""Every three that one key makes a straight four, and where that key is."""


class Foul(StrEnum):
    """Why a square is forbidden to black, in the words of a verdict."""

    DOUBLE_THREE = sentence("double three")
    DOUBLE_FOUR = sentence("double four")
    OVERLINE = sentence("overline")


def foul(cells: bytes | bytearray, stride: int, at: int) -> Foul | None:
    """The foul that a black stone on the free square at index `at` would be; None where black may place it.

    `cells` holds the board row by row with a ring of edge around it, `stride` cells a row; 0 is free, 1 is black and
    anything else blocks. An exact five is never a foul. A stone that makes several fouls is a double four rather than
    a double three, and either rather than an overline. ValueError where the square is not free.
    """
    if cells[at]:
        raise ValueError(f"the square at index {at} is not free")
    # No text may run off either end of the cells; what lies beyond the ring of edge is never part of a shape.
    margin = _BLOCKED * (_REACH * (stride + 1))
    board = bytearray(margin + cells.translate(_AS_TEXT) + margin)
    found = _Enquiry(board, stride).look(at + len(margin))
    return found if isinstance(found, Foul) else None


class _Enquiry:
    """One question and those that follow from it, on a copy of the board that is its own to place stones on."""

    def __init__(self, board: bytearray, stride: int) -> None:
        self._board = board
        self._steps = (1, stride, stride + 1, stride - 1)
        self._looks = _LOOKS

    def look(self, at: int) -> Foul | Literal["five"] | None:
        """What a black stone on a free square is; the board is left as it was."""
        if not self._looks:
            return None
        self._looks -= 1
        self._board[at] = ord(_BLACK)
        lines = self._lines(at)
        found: Foul | Literal["five"] | None = None
        if any(line.five for _, line in lines):
            found = "five"
        elif sum(line.fours for _, line in lines) >= 2:
            found = Foul.DOUBLE_FOUR
        elif self._are_two_real([_keys(at, step, line) for step, line in lines if line.keys]):
            found = Foul.DOUBLE_THREE
        elif any(line.overline for _, line in lines):
            found = Foul.OVERLINE
        self._board[at] = ord(_FREE)
        return found

    def _lines(self, at: int) -> list[tuple[int, "_Line"]]:
        """The lines through `at` that can hold a shape, each with its step from square to square."""
        lines = []
        for step in self._steps:
            text = self._board[at - _REACH * step : at + _REACH * step + 1 : step]
            if text.count(_BLACK) >= 3:
                lines.append((step, _read(bytes(text))))
        return lines

    def _are_two_real(self, threes: list[list[int]]) -> bool:
        """Whether two of the threes, given by their keys, are real; looks no further than it takes to know."""
        real, left = 0, len(threes)
        while real < 2 <= real + left:
            left -= 1
            real += None in map(self.look, threes[left])
        return real == 2


@dataclass(frozen=True, slots=True)
class _Line:
    """What a new stone makes on one line; `keys` are those of its three, in squares from the stone."""

    five: bool
    fours: int
    keys: tuple[int, ...]
    overline: bool


@cache  # no more than the 3 ** 10 texts that there are
def _read(text: bytes) -> _Line:
    """What a line holds whose middle is the new stone."""
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
    """Where `shape` begins in a line, adjoined by no black stone; wherever it fits, it takes in the middle."""
    size = len(shape)
    return [
        first
        for first in range(1, len(line) - size)
        if line[first : first + size] == shape and "X" not in (line[first - 1], line[first + size])
    ]
