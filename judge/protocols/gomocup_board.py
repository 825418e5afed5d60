"""What a brain has on its board, and which command leads from there to the position it is to think about."""

from collections.abc import Collection, Sequence
from enum import StrEnum

from judge.games.gomoku.requests import BLACK, Placed, Square
from judge.protocols.gomocup_words import board_rows


class Way(StrEnum):
    """How a brain's board becomes the position."""

    THINK = "think"
    """By the question itself: BEGIN, TURN or BOARD."""
    TAKEBACK = "takeback"
    """Its last stone was taken back in the game that it plays: TAKEBACK, and look again."""
    RESTART = "restart"
    """It is another game: RESTART and BOARD (Gomoku AI protocol, BOARD: if there is any open game, RESTART comes
    before it).

    Also the same stones where a swap has made others of them its own: no other command changes whose a stone is.
    """


class BrainBoard:
    """The stones that a brain knows of, in play order, each with whether it takes it for its own."""

    def __init__(self) -> None:
        self._known: list[Placed] = []
        self._own = BLACK
        """The colour of the stones that it takes for its own."""

    def clear(self) -> None:
        """The brain has started again: its board is empty."""
        self._known = []

    def add(self, square: Square) -> None:
        """The brain has placed a stone itself."""
        self._known.append((*square, self._own))

    def take_back(self) -> None:
        """The brain has removed its last stone."""
        self._known.pop()

    @property
    def last(self) -> Square:
        """The last stone that it knows of."""
        x, y, _ = self._known[-1]
        return x, y

    def way_to(self, stones: Sequence[Placed], own: int, opening: int) -> Way:
        """How the board becomes `stones`, where the brain is to place the colour `own`.

        The first `opening` of them are no moves: a position without a move behind them is a game that begins.
        """
        if not self._known:
            return Way.THINK
        self._play_as(own)
        before = list(stones[:-1])
        is_told_one = bool(stones) and stones[-1][2] != own
        if is_told_one and self._known == before:
            self._known = before  # the same objects as in the game: the next comparison is quick
            return Way.THINK
        is_a_game = is_told_one and len(stones) > max(1, opening)
        return Way.TAKEBACK if is_a_game and self._known[: len(before)] == before else Way.RESTART

    def question(self, stones: Sequence[Placed], own: int, opening: int, dead: Collection[Square]) -> list[str]:
        """The lines that make the brain think about `stones`, after which it knows them all.

        `opening` of them are no moves of anybody's: where there are any, both brains receive BOARD.
        """
        self._play_as(own)
        if not stones:
            return ["BEGIN"]
        if self._known or (len(stones) == 1 and opening == 0):
            x, y, _ = stones[-1]
            self._known.append((x, y, 1 - own))
            return [f"TURN {x},{y}"]
        self._known = list(stones)
        return ["BOARD", *board_rows(stones, own, dead), "DONE"]

    def _play_as(self, own: int) -> None:
        """Its own stones are those of the colour `own` from now on: the brain knows no colours."""
        if own != self._own:
            self._own = own
            self._known = [(x, y, 1 - colour) for x, y, colour in self._known]
