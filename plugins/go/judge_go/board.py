"""A Go board: stones, captures, repetition and the area of each side.

Points are (x, y) from the top left, from 0. Their names have a column letter without I and a row from the bottom: in
19x19 (3, 3) is D16.
"""

import re
from collections.abc import Sequence
from typing import Self

from judge.base.errors import InputError
from judge.base.text import quote

Point = tuple[int, int]

BLACK, WHITE = 0, 1
COLOURS = ("black", "white")
LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
MAX_SIZE = len(LETTERS)

_EMPTY, _BORDER = 2, 3
_VERTEX = re.compile(r"([A-HJ-Z])([1-9][0-9]?)", re.ASCII)


def vertex(point: Point | None, size: int) -> str:
    """Return the name of a point; None: `pass`."""
    return "pass" if point is None else f"{LETTERS[point[0]]}{size - point[1]}"


def read_vertex(text: str, size: int) -> Point | None:
    """Return the point of `D4` or `pass`, perhaps off the board. Raises ValueError for other text."""
    if text.lower() == "pass":
        return None
    match = _VERTEX.fullmatch(text.upper())
    if match is None:
        raise ValueError(f"{quote(text, 20)} is no point")
    return LETTERS.index(match[1]), size - int(match[2])


class Board:
    """Stones on a square board."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._stride = size + 1
        line = bytes([_EMPTY]) * size + bytes([_BORDER])
        self._cells = bytearray(bytes([_BORDER]) * (size + 1) + line * size + bytes([_BORDER]) * (size + 1))

    def copy(self) -> Self:
        """Return an independent copy."""
        other = type(self)(self.size)
        other._cells[:] = self._cells
        return other

    @property
    def position(self) -> bytes:
        """Return the stones; equal for equal positions of boards of one size."""
        return bytes(self._cells)

    def stones(self) -> dict[Point, int]:
        """Return the colour of each stone."""
        found = {}
        for y in range(self.size):
            for x in range(self.size):
                if (colour := self._cells[self._at((x, y))]) < _EMPTY:
                    found[x, y] = colour
        return found

    def is_on_board(self, point: Point) -> bool:
        """Whether the point exists."""
        return all(0 <= value < self.size for value in point)

    def is_empty(self, point: Point) -> bool:
        """Whether the point has no stone."""
        return self._cells[self._at(point)] == _EMPTY

    def play(self, point: Point, colour: int) -> int:
        """Place a stone on an empty point and remove what it captures. Return the number of captured stones.

        A group without liberties that captures nothing is removed; its number is negative.
        """
        at = self._at(point)
        self._cells[at] = colour
        captured = 0
        for near in self._near(at):
            if self._cells[near] == 1 - colour:
                captured += self._remove_without_liberties(near)
        return captured or -self._remove_without_liberties(at)

    def liberties(self, point: Point) -> int:
        """Return the number of liberties of the group at `point`."""
        group = self._region(self._at(point))[0]
        return len({near for at in group for near in self._near(at) if self._cells[near] == _EMPTY})

    def area(self) -> tuple[int, int]:
        """Return the area of black and white: their stones, and the empty regions that touch one colour only."""
        counts = [0, 0]
        seen: set[int] = set()
        for y in range(self.size):
            for x in range(self.size):
                at = self._at((x, y))
                if (colour := self._cells[at]) < _EMPTY:
                    counts[colour] += 1
                elif at not in seen:
                    region, borders = self._region(at)
                    seen |= region
                    if len(borders) == 1:
                        counts[borders.pop()] += len(region)
        return counts[BLACK], counts[WHITE]

    def _at(self, point: Point) -> int:
        return (point[1] + 1) * self._stride + point[0]

    def _near(self, at: int) -> tuple[int, int, int, int]:
        return at - 1, at + 1, at - self._stride, at + self._stride

    def _region(self, start: int) -> tuple[set[int], set[int]]:
        """Connected points of one content, and the colours next to them."""
        kind = self._cells[start]
        region, borders, todo = {start}, set(), [start]
        while todo:
            for near in self._near(todo.pop()):
                cell = self._cells[near]
                if cell != kind:
                    borders.add(cell)
                elif near not in region:
                    region.add(near)
                    todo.append(near)
        borders.discard(_BORDER)
        return region, borders

    def _remove_without_liberties(self, start: int) -> int:
        group, borders = self._region(start)
        if _EMPTY in borders:
            return 0
        for at in group:
            self._cells[at] = _EMPTY
        return len(group)


_STARS = {2: "ab", 3: "abc", 4: "abcd", 5: "abcde", 6: "abcdfg", 7: "abcdefg", 8: "abcdfghi", 9: "abcdefghi"}
"""Handicap points in the order of GTP 2, section 4.1.1: corners, centre, sides."""


def handicap_points(count: int, size: int) -> Sequence[Point]:
    """Return the fixed handicap points of GTP 2. Raises InputError with the possible numbers."""
    most = 0 if size < 7 else 4 if size % 2 == 0 or size == 7 else 9
    if count not in range(2, most + 1):
        raise InputError(f"handicap: {count} stones on {size}x{size}; write 0 or a number from 2 to {most}")
    low = 2 if size < 13 else 3
    high, middle = size - 1 - low, size // 2
    points = {
        "a": (low, high),
        "b": (high, low),
        "c": (low, low),
        "d": (high, high),
        "e": (middle, middle),
        "f": (low, middle),
        "g": (high, middle),
        "h": (middle, high),
        "i": (middle, low),
    }
    return [points[name] for name in _STARS[count]]
