"""The board of five in a row: squares that are free, taken by a colour or dead, with an edge around them."""

from collections.abc import Sequence

from judge.base.text import sentence
from judge.games.gomoku.requests import COLOURS, Placed, Square, say_square, square_name

EMPTY, EDGE, DEAD = 0, 3, 4
"""Values of a cell without a live stone, whose value is its colour + 1. A dead stone has no owner and blocks."""


class GomokuBoard:
    """The stones in play order and the cells that they stand on.

    A ring of edge around the cells ends every count of a row, so no count asks where the board ends.
    """

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.stride = width + 2
        self.cells = _empty_cells(width, height)
        self.stones: list[Placed] = []
        self.dead: set[Square] = set()

    @property
    def is_full(self) -> bool:
        """Whether no square is free."""
        return len(self.stones) == self.width * self.height

    def index(self, x: int, y: int) -> int:
        """The index of the square x, y in `cells`."""
        return (y + 1) * self.stride + x + 1

    def square(self, at: int) -> Square:
        """The square at an index of `cells`."""
        row, column = divmod(at, self.stride)
        return column - 1, row - 1

    def free(self) -> Sequence[Square]:
        """The squares without a stone, row by row."""
        return [self.square(at) for at, cell in enumerate(self.cells) if cell == EMPTY]

    def objection(self, x: int, y: int) -> str | None:
        """Why no stone may be placed on x, y; None where it may."""
        if not (0 <= x < self.width and 0 <= y < self.height):
            return sentence(f"{say_square(x, y)} is off the {self.width}x{self.height} board")
        if self.cells[self.index(x, y)]:
            number, colour = self._who_took(x, y)
            return sentence(f"{say_square(x, y)} is taken by stone {number} ({COLOURS[colour]})")
        return None

    def place(self, x: int, y: int, colour: int) -> int:
        """Put a stone on a free square; the index of its cell."""
        at = self.index(x, y)
        self.cells[at] = colour + 1
        self.stones.append((x, y, colour))
        return at

    def bury(self, at: int) -> None:
        """Let the stone at an index count no more."""
        self.cells[at] = DEAD
        self.dead.add(self.square(at))

    def say(self, at: int) -> str:
        """The name of the square at an index."""
        return square_name(*self.square(at))

    def _who_took(self, x: int, y: int) -> tuple[int, int]:
        return next((number, stone[2]) for number, stone in enumerate(self.stones, 1) if stone[:2] == (x, y))


def _empty_cells(width: int, height: int) -> bytearray:
    """The board row by row with a ring of edge around it."""
    edge = bytes([EDGE])
    end_row = edge * (width + 2)
    row = edge + bytes([EMPTY]) * width + edge
    return bytearray(end_row + row * height + end_row)
