"""How a person plays a game: what the person is asked and told, and how a typed line is read.

A game's entry returns its `PersonWords` (`GameRules.person`); without them a person cannot play the game.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from judge.games.types import Event, Game, Reply, ReplyKind, Request

RESIGN = "resign"
"""The line that gives every game up."""


class UnclearError(ValueError):
    """A typed line is not an answer; the text says what would be one."""


class PersonWords(ABC):
    """The words of one game. Every text is one line; texts with words of an agent are escaped by the caller.

    Only `speaks`, `question`, `tips`, `tell` and `read` are required. The rest is for the cursor on the board, and for
    requests whose answers the rules judge together, such as the rows of a set-up.
    """

    speaks: frozenset[type[Request] | type[Event]]
    """Every request and event that the game can make."""

    @abstractmethod
    def question(self, request: Request, typed: int = 0) -> str:
        """What the person must decide. `typed`: how many of the answers that belong together are typed already."""

    @abstractmethod
    def tips(self, request: Request) -> Sequence[str]:
        """How a request is answered, in short lines."""

    @abstractmethod
    def tell(self, event: Event, names: tuple[str, str]) -> str:
        """An event of the game between two players, by seat."""

    @abstractmethod
    def read(self, request: Request, text: str) -> Reply:
        """The answer that a stripped line gives, said as the game's records have it; raises UnclearError."""

    def lines(self, request: Request, text: str) -> Sequence[str]:  # noqa: ARG002 most words stand for themselves
        """The lines that `text` is short for."""
        return (text,)

    def together(self, request: Request) -> int:  # noqa: ARG002 most requests are answered one by one
        """How many requests, this one included, are answered before the first answer is sent."""
        return 1

    def squares(self, request: Request) -> int:  # noqa: ARG002 most requests ask for one square
        """How many squares of the board answer a request; 0 if no square does."""
        return 1

    def square(self, x: int, y: int) -> str:
        """What choosing a square with the cursor types; x from the left and y from the top, both from 0."""
        return f"{x} {y}"

    def strict(self, game: Game) -> Game:
        """A copy of a game, changed so that a slip which would only lose the turn ends it: the person is told of it."""
        return game

    def answer(self, request: Request, typed: str) -> Reply:
        """The reply that a typed line gives to a request; raises UnclearError."""
        text = typed.strip()
        if text.lower() == RESIGN:
            return Reply(ReplyKind.RESIGNED, RESIGN)
        return self.read(request, text)
