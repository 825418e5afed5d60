"""Texts and input of a human player (`GameRules.person`)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from judge.games.types import Event, Game, Reply, ReplyKind, Request

RESIGN = "resign"


class UnclearError(ValueError):
    """The text describes valid lines."""


class PersonWords(ABC):
    """Texts of one game, each on one line. The caller escapes agents' text.

    Optional methods are for the board's cursor, and for groups of requests, such as a set-up's rows.
    """

    speaks: frozenset[type[Request] | type[Event]]

    @abstractmethod
    def question(self, request: Request, typed: int = 0) -> str:
        """`typed`: the group's answers so far."""

    @abstractmethod
    def tips(self, request: Request) -> Sequence[str]:
        """Explain the input."""

    @abstractmethod
    def tell(self, event: Event, names: tuple[str, str]) -> str:
        """`names` are by seat."""

    @abstractmethod
    def read(self, request: Request, text: str) -> Reply:
        """Answer of a stripped line, in the notation of records. Raises UnclearError."""

    def lines(self, request: Request, text: str) -> Sequence[str]:  # noqa: ARG002 most lines are not abbreviated
        """Lines that `text` abbreviates."""
        return (text,)

    def together(self, request: Request) -> int:  # noqa: ARG002 most requests are answered one by one
        """Requests in a group, from this one on."""
        return 1

    def squares(self, request: Request) -> int:  # noqa: ARG002 most requests ask for one square
        """Number of squares in an answer."""
        return 1

    def square(self, x: int, y: int) -> str:
        """Input for a square under the cursor; x, y from the top left, from 0."""
        return f"{x} {y}"

    def strict(self, game: Game) -> Game:
        """A copy in which errors that would lose a turn end the game."""
        return game

    def answer(self, request: Request, typed: str) -> Reply:
        """Raises UnclearError."""
        text = typed.strip()
        if text.lower() == RESIGN:
            return Reply(ReplyKind.RESIGNED, RESIGN)
        return self.read(request, text)
