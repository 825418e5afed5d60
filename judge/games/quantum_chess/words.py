"""What is asked, answered and told in a game of Quantum Chess, and the line with which its field announces an event."""

import re
from dataclasses import dataclass

from judge.games.quantum_chess.board import PieceType
from judge.games.types import Decision, Event, Reply, ReplyKind, Request, decided


@dataclass(slots=True)
class Selection(Request):
    """`seat` must select one of its pieces."""


@dataclass(slots=True)
class Destination(Request):
    """`seat` must move the piece that it has selected, which stands on x, y and can move."""

    x: int
    y: int


@dataclass(slots=True)
class OnSquare(Decision):
    """The square that is selected or moved to. Not yet checked: the numbers may be any."""

    x: int
    y: int


@dataclass(slots=True)
class Selected(Event):
    """`seat` selected its piece on x, y, which is now of its type `index` (0 or 1), `kind`."""

    seat: int
    x: int
    y: int
    index: int
    kind: str


@dataclass(slots=True)
class Moved(Event):
    """`seat` moved its piece from x, y to x2, y2; whether it took another is not said."""

    seat: int
    x: int
    y: int
    x2: int
    y2: int


@dataclass(slots=True)
class TurnLost(Event):
    """What the seat answered was refused, in the words of a final result, and its turn is over."""

    words: str


SELECTED = re.compile(rf"([0-7]) ([0-7]) ([01]) ({'|'.join(PieceType)})")
"""x, y, index, type."""
MOVED = re.compile(r"([0-7]) ([0-7]) -> ([0-7]) ([0-7])")
"""x, y, x2, y2."""
_SQUARE = re.compile(r"\s*(\d{1,4000})\s+(\d{1,4000})", re.ASCII)
"""How a line must begin to be an answer: blanks of any kind and number, then two numbers without a sign.

Python reads no number of many more digits."""


def announcement(event: Selected | Moved) -> str:
    """The line with which the field tells an event to agents and logs (UCC's text API, Update)."""
    match event:
        case Selected():
            return f"{event.x} {event.y} {event.index} {event.kind}"
        case Moved():
            return f"{event.x} {event.y} -> {event.x2} {event.y2}"


def is_announcement(text: str) -> bool:
    """Whether `text` is the line of an event."""
    return bool(SELECTED.fullmatch(text) or MOVED.fullmatch(text))


def read_square(said: str) -> Reply:
    """The square that a line names, whatever stands behind its two numbers; UNREADABLE if it begins otherwise.

    So `x y` and `x y index type` are the same answer (UCC's text API, Request: Selection).
    """
    square = _SQUARE.match(said)
    if square is None:
        return Reply(ReplyKind.UNREADABLE, said)
    return decided(OnSquare(int(square[1]), int(square[2])), said)
