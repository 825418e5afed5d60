"""Tracks a brain's board and chooses commands."""

from collections.abc import Collection, Sequence
from enum import StrEnum

from judge.games.gomoku.requests import BLACK, Placed, Square


class Way(StrEnum):
    """Ways to the requested position."""

    THINK = "think"
    TAKEBACK = "takeback"
    RESTART = "restart"
    """RESTART and BOARD (Gomoku AI protocol, BOARD: an open game is ended first). Also after a swap: no other command
    changes owners.
    """


class BrainBoard:
    """Stones in play order, with owners as the brain has them."""

    def __init__(self) -> None:
        self._known: list[Placed] = []
        self._colour = BLACK

    def clear(self) -> None:
        self._known = []

    def add(self, square: Square) -> None:
        self._known.append((*square, self._colour))

    def take_back(self) -> None:
        self._known.pop()

    @property
    def last(self) -> Square:
        x, y, _ = self._known[-1]
        return x, y

    def way_to(self, stones: Sequence[Placed], colour: int, opening: int) -> Way:
        """How the board becomes `stones` for a brain that plays `colour`; a new game without moves after the first
        `opening` stones.
        """
        if not self._known:
            return Way.THINK
        self._play_as(colour)
        before = [*stones]
        is_told_one = bool(before) and before.pop()[2] != colour
        if is_told_one and self._known == before:
            self._known = before
            return Way.THINK
        is_a_game = is_told_one and len(stones) > max(1, opening)
        return Way.TAKEBACK if is_a_game and self._known[: len(before)] == before else Way.RESTART

    def question(self, stones: Sequence[Placed], colour: int, opening: int, dead: Collection[Square]) -> list[str]:
        """If `opening` stones are no moves, both brains get BOARD."""
        self._play_as(colour)
        if not stones:
            return ["BEGIN"]
        if self._known or (len(stones) == 1 and opening == 0):
            x, y, _ = stones[-1]
            self._known.append((x, y, 1 - colour))
            return [f"TURN {x},{y}"]
        self._known = list(stones)
        # 1 own, 2 opponent, 3 dead.
        rows = [f"{x},{y},{3 if (x, y) in dead else 1 if owner == colour else 2}" for x, y, owner in stones]
        return ["BOARD", *rows, "DONE"]

    def _play_as(self, colour: int) -> None:
        if colour != self._colour:
            self._colour = colour
            self._known = [(x, y, 1 - owner) for x, y, owner in self._known]
