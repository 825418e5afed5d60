"""What a brain has on its board, and which command leads from there to the position it is to think about."""

from collections.abc import Collection, Sequence
from enum import StrEnum

from judge.games.stones import Placed, Square
from judge.protocols.gomocup_words import board_rows


class Way(StrEnum):
    """How a brain's board becomes the position."""

    THINK = "think"
    """By the question itself: BEGIN, TURN or BOARD."""
    TAKEBACK = "takeback"
    """Its last stone is not in the position: TAKEBACK, and look again."""
    RESTART = "restart"
    """It is another match: RESTART and BOARD (seed 002, BOARD: if there is any open match, RESTART comes before it)."""


class BrainBoard:
    """The stones that a brain knows of, in play order."""

    def __init__(self) -> None:
        self._known: list[Square] = []

    def clear(self) -> None:
        """The brain has begun anew: its board is empty."""
        self._known = []

    def add(self, square: Square) -> None:
        """The brain has placed a stone itself."""
        self._known.append(square)

    def take_back(self) -> None:
        """The brain has removed its last stone."""
        self._known.pop()

    @property
    def last(self) -> Square:
        """The last stone that it knows of."""
        return self._known[-1]

    def way_to(self, stones: Sequence[Placed], own: int) -> Way:
        """How the board becomes `stones`, where the brain is to place the colour `own`."""
        if not self._known or self._is_one_behind(stones, own):
            return Way.THINK
        before = [(x, y) for x, y, _ in stones[:-1]]
        return Way.TAKEBACK if before and self._known[: len(before)] == before else Way.RESTART

    def question(
        self, stones: Sequence[Placed], own: int, opening: int, dead: Collection[Square]
    ) -> list[str]:
        """The lines that make the brain think about `stones`, after which it knows them all.

        `opening` of them are no moves of anybody's: where there are any, both brains receive BOARD.
        """
        if not stones:
            return ["BEGIN"]
        if self._known or (len(stones) == 1 and opening == 0):
            x, y, _ = stones[-1]
            self._known.append((x, y))
            return [f"TURN {x},{y}"]
        self._known = [(x, y) for x, y, _ in stones]
        return ["BOARD", *board_rows(stones, own, dead), "DONE"]

    def _is_one_behind(self, stones: Sequence[Placed], own: int) -> bool:
        """Whether the board lacks one stone of the opponent's, the last: the one before it tells, none else is new."""
        known = len(self._known)
        if len(stones) != known + 1 or stones[-1][2] == own:
            return False
        x, y, _ = stones[known - 1]
        return (x, y) == self._known[-1]
