"""The board of five in a row."""

from collections.abc import Sequence

from judge.base.text import sentence
from judge.games.gomoku.requests import COLOURS, Placed, Square, say_square, square_name

EMPTY, EDGE, DEAD = 0, 3, 4
"""A live stone has its colour + 1. A dead stone blocks."""


class GomokuBoard:
    """Stones in play order, and cells within a ring of edge cells."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.stride = width + 2
        edge, end_row = bytes([EDGE]), bytes([EDGE]) * self.stride
        row = edge + bytes([EMPTY]) * width + edge
        self.cells = bytearray(end_row + row * height + end_row)
        self.stones: list[Placed] = []
        self.dead: set[Square] = set()

    @property
    def is_full(self) -> bool:
        return len(self.stones) == self.width * self.height

    def index(self, x: int, y: int) -> int:
        return (y + 1) * self.stride + x + 1

    def square(self, at: int) -> Square:
        row, column = divmod(at, self.stride)
        return column - 1, row - 1

    def free(self) -> Sequence[Square]:
        return [self.square(at) for at, cell in enumerate(self.cells) if cell == EMPTY]

    def objection(self, x: int, y: int) -> str | None:
        if not (0 <= x < self.width and 0 <= y < self.height):
            return sentence(f"{say_square(x, y)} is off the {self.width}x{self.height} board")
        if self.cells[self.index(x, y)]:
            stones = enumerate(self.stones, 1)
            number, colour = next((number, stone[2]) for number, stone in stones if stone[:2] == (x, y))
            return sentence(f"{say_square(x, y)} is taken by stone {number} ({COLOURS[colour]})")
        return None

    def place(self, x: int, y: int, colour: int) -> int:
        """The square must be free. Returns its index."""
        at = self.index(x, y)
        self.cells[at] = colour + 1
        self.stones.append((x, y, colour))
        return at

    def mark_dead(self, at: int) -> None:
        self.cells[at] = DEAD
        self.dead.add(self.square(at))

    def say(self, at: int) -> str:
        return square_name(*self.square(at))
