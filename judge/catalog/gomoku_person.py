"""How a person plays five in a row: squares are typed as on the board (`h8`) or as programs write them (`7,7`)."""

import re
from collections.abc import Sequence

from judge.base.text import quote
from judge.games.gomoku.requests import (
    COLOURS,
    AnswerSwap,
    ChooseFifth,
    ColoursSettled,
    LayStones,
    OfferFifths,
    PlaceStone,
    Square,
    Stone,
    StonePlaced,
    Stones,
    Swap,
    square_at,
    square_name,
)
from judge.games.person import PersonWords, UnclearError
from judge.games.types import Event, Reply, Request, decided

_SQUARE = re.compile(r"[\s;]*(?:([a-zA-Z]{1,2}[0-9]{1,2})|([0-9]{1,3})\s*[,\s]\s*([0-9]{1,3}))[\s;]*")


class GomokuWords(PersonWords):
    """The words of all rules and openings of five in a row."""

    speaks = frozenset(
        {PlaceStone, LayStones, AnswerSwap, OfferFifths, ChooseFifth, StonePlaced, ColoursSettled},
    )

    def question(self, request: Request, typed: int = 0) -> str:  # noqa: ARG002 answers are sent one by one
        """Stones, colours and offers."""
        match request:
            case PlaceStone(colour=colour):
                return f"place a {COLOURS[colour]} stone"
            case LayStones(count=count):
                return f"lay the first {count} stones, black and white in turn"
            case AnswerSwap(adds=adds):
                more = f", or place {adds} stones and let the other choose" if adds else ""
                return f"swap (play black), or place a white stone (play white){more}"
            case OfferFifths(count=count, offered=offered):
                return f"offer {count - len(offered)} squares for black's fifth stone"
            case ChooseFifth():
                return "choose one of the squares that black offers"
            case _:
                raise TypeError(f"a person has no words for {request!r}")

    def tips(self, request: Request) -> Sequence[str]:
        """One square or several."""
        match request:
            case LayStones() | OfferFifths():
                return ("squares: h8 i9 j7",)
            case AnswerSwap(adds=adds):
                return ("swap", "or a square: h8 or 7,7", *([f"or {adds} squares: h8 i9"] if adds else []))
            case _:
                return ("a square: h8 or 7,7",)

    def tell(self, event: Event, names: tuple[str, str]) -> str:
        """Stones and colours."""
        match event:
            case StonePlaced(x=x, y=y, colour=colour):
                return f"{COLOURS[colour]} {square_name(x, y)}"
            case ColoursSettled(black=black):
                return f"{names[black]} plays black"
            case _:
                raise TypeError(f"a person has no words for {event!r}")

    def read(self, request: Request, text: str) -> Reply:
        """Squares are said as `7,7`."""
        if isinstance(request, AnswerSwap) and text.lower() == "swap":
            return decided(Swap(), "SWAP")
        squares = _squares(text)
        said = " ".join(f"{x},{y}" for x, y in squares)
        is_one = len(squares) == 1 and not isinstance(request, LayStones)
        return decided(Stone(*squares[0]) if is_one else Stones(squares), said)

    def squares(self, request: Request) -> int:
        """The stones to lay, or the offers that are missing."""
        match request:
            case LayStones(count=count):
                return count
            case OfferFifths(count=count, offered=offered):
                return count - len(offered)
            case _:
                return 1

    def square(self, x: int, y: int) -> str:
        """By its name."""
        return square_name(x, y)


def _squares(text: str) -> tuple[Square, ...]:
    squares, at = [], 0
    while at < len(text):
        match = _SQUARE.match(text, at)
        if match is None:
            raise UnclearError(f"{quote(text)} is no square: type h8 or 7,7")
        squares.append(square_at(match[1].lower()) if match[1] else (int(match[2]), int(match[3])))
        at = match.end()
    if not squares:
        raise UnclearError("type a square: h8 or 7,7")
    return tuple(squares)
