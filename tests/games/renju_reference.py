"""Renju's fouls once more, slowly: the federation's definitions word by word, to test the fast ones against.

Nothing here knows a line or a shape. Stones are sets of squares; what a stone could make is found out by placing it.

The federation excuses a double three in two clauses: when all but one of the threes cannot be made straight fours
without (a) an overline or a double four, or (b) a forbidden double three. Managers and programs fold them into one, and
so does this: a three is real if one stone makes it a straight four and is neither a foul nor a five. The two readings
part only where some threes fall to (a) alone and others to (b) alone. Nor has the federation a name for a stone that
makes several fouls: here the double four comes first, then the double three, then the overline, as in Gomocup's judge.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.games.gomoku.renju import Foul
from judge.games.gomoku.requests import Square

Row = frozenset[Square]

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "renju_vectors.json").read_text())
"""Positions with every square that is forbidden to black, on which three other judges agreed."""


@dataclass(frozen=True)
class Position:
    """Black's stones and white's on a board."""

    width: int
    height: int
    black: frozenset[Square]
    white: frozenset[Square]

    def is_free(self, square: Square) -> bool:
        x, y = square
        on_board = 0 <= x < self.width and 0 <= y < self.height
        return on_board and square not in self.black and square not in self.white

    def place(self, square: Square) -> "Position":
        return replace(self, black=self.black | {square})

    def unbroken_row(self, square: Square, direction: Square) -> Row:
        """All black stones that stand with the one on `square` without a gap."""
        (x, y), (dx, dy) = square, direction
        row = {square}
        for sign in (1, -1):
            distance = sign
            while (x + distance * dx, y + distance * dy) in self.black:
                row.add((x + distance * dx, y + distance * dy))
                distance += sign
        return frozenset(row)

    def free_near(self, square: Square, direction: Square) -> Iterator[Square]:
        """The free squares of a line, as far as a stone there can share a five with `square`."""
        (x, y), (dx, dy) = square, direction
        for distance in range(-4, 5):
            near = (x + distance * dx, y + distance * dy)
            if self.is_free(near):
                yield near


def textbook_foul(before: Position, square: Square) -> Foul | None:
    """What black's stone on a free square would be; None for what is allowed, fives among it."""
    position = before.place(square)
    if makes_five(position, square):
        return None
    if sum(len(fours(position, square, direction)) for direction in DIRECTIONS) >= 2:
        return Foul.DOUBLE_FOUR
    if sum(len(real_threes(position, square, direction)) for direction in DIRECTIONS) >= 2:
        return Foul.DOUBLE_THREE
    if any(len(position.unbroken_row(square, direction)) >= 6 for direction in DIRECTIONS):
        return Foul.OVERLINE
    return None


def makes_five(position: Position, square: Square) -> bool:
    """Five in a row: an unbroken row of exactly five."""
    return any(len(position.unbroken_row(square, direction)) == 5 for direction in DIRECTIONS)


def fours(position: Position, square: Square, direction: Square) -> set[Row]:
    """A row of four stones, `square` among them, to which one stone can be added to make five in a row."""
    found = set()
    for added in position.free_near(square, direction):
        row = position.place(added).unbroken_row(added, direction)
        if len(row) == 5 and square in row:
            found.add(row - {added})
    return found


def is_straight_four(position: Position, row: Row, direction: Square) -> bool:
    """An unbroken row of four to which a stone can be added in two different ways to make five in a row."""
    if len(row) != 4:
        return False
    ways = 0
    for added in position.free_near(next(iter(row)), direction):
        ways += position.place(added).unbroken_row(added, direction) == row | {added}
    return ways == 2


def real_threes(position: Position, square: Square, direction: Square) -> set[Row]:
    """Three stones, `square` among them, that one permitted stone makes a straight four without making a five."""
    found = set()
    for added in position.free_near(square, direction):
        after = position.place(added)
        row = after.unbroken_row(added, direction)
        if square not in row or not is_straight_four(after, row, direction):
            continue
        if not makes_five(after, added) and textbook_foul(position, added) is None:
            found.add(row - {added})
    return found
