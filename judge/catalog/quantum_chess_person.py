"""How a person plays Quantum Chess: a piece is selected, then moved, each by its square, typed as `x y`."""

import re
from collections.abc import Sequence

from judge.base.text import quote
from judge.games.person import PersonWords, UnclearError
from judge.games.quantum_chess import QuantumChess
from judge.games.quantum_chess.words import Destination, Moved, OnSquare, Selected, Selection, TurnLost, announcement
from judge.games.types import Event, Game, Reply, Request, decided

_ON_SQUARE = re.compile(r"([0-9]{1,3})\s*[,\s]\s*([0-9]{1,3})")


class QuantumChessWords(PersonWords):
    """The words of selections and destinations."""

    speaks = frozenset({Selection, Destination, Selected, Moved, TurnLost})

    def question(self, request: Request, typed: int = 0) -> str:  # noqa: ARG002 answers are sent one by one
        """Which half of a move is due."""
        if isinstance(request, Destination):
            return f"move the piece on {request.x} {request.y}"
        return "select a piece"

    def tips(self, request: Request) -> Sequence[str]:  # noqa: ARG002 both requests ask for a square
        """One square."""
        return ("a square: x y, such as 3 6",)

    def tell(self, event: Event, names: tuple[str, str]) -> str:  # noqa: ARG002 sides have colours
        """What the field's manager announces."""
        match event:
            case Selected() | Moved():
                return f"{('white', 'black')[event.seat]} {announcement(event)}"
            case TurnLost(words=words):
                return words
            case _:
                raise TypeError(f"a person has no words for {event!r}")

    def read(self, request: Request, text: str) -> Reply:  # noqa: ARG002 both requests ask for a square
        """A square."""
        match = _ON_SQUARE.fullmatch(text)
        if match is None:
            raise UnclearError(f"{quote(text)} is no square: type x y, such as 3 6")
        x, y = int(match[1]), int(match[2])
        return decided(OnSquare(x, y), f"{x} {y}")

    def strict(self, game: Game) -> Game:
        """An illegal move ends the game."""
        if not isinstance(game, QuantumChess):
            raise TypeError(f"not a game of Quantum Chess: {game!r}")
        game.options = game.options.model_copy(update={"illegal": "loses-game"})
        return game
