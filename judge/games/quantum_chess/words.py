"""Requests, decisions and events of Quantum Chess, and UCC's announcement lines."""

import re
from dataclasses import dataclass

from judge.games.quantum_chess.board import PieceType
from judge.games.types import Decision, Event, Reply, ReplyKind, Request, decided


@dataclass(slots=True)
class Selection(Request):
    """`seat` must select one of its pieces."""


@dataclass(slots=True)
class Destination(Request):
    """`seat` must move its selected piece."""

    x: int
    y: int


@dataclass(slots=True)
class OnSquare(Decision):
    """A selected square or destination, not yet checked."""

    x: int
    y: int


@dataclass(slots=True)
class Selected(Event):
    """`seat` selected its piece on x, y; it is now type `index`, `kind`."""

    seat: int
    x: int
    y: int
    index: int
    kind: str


@dataclass(slots=True)
class Moved(Event):
    """`seat` moved from x, y to x2, y2. Captures are not reported."""

    seat: int
    x: int
    y: int
    x2: int
    y2: int


@dataclass(slots=True)
class TurnLost(Event):
    """Refused answer, in the words of a final result."""

    words: str


SELECTED = re.compile(rf"([0-7]) ([0-7]) ([01]) ({'|'.join(PieceType)})")
MOVED = re.compile(r"([0-7]) ([0-7]) -> ([0-7]) ([0-7])")
_SQUARE = re.compile(r"\s*(\d{1,4000})\s+(\d{1,4000})", re.ASCII)


def announcement(event: Selected | Moved) -> str:
    """UCC's line for agents and logs (UCC's text API, Update)."""
    match event:
        case Selected():
            return f"{event.x} {event.y} {event.index} {event.kind}"
        case Moved():
            return f"{event.x} {event.y} -> {event.x2} {event.y2}"


def is_announcement(text: str) -> bool:
    """Whether `text` is an announcement."""
    return bool(SELECTED.fullmatch(text) or MOVED.fullmatch(text))


def read_square(said: str) -> Reply:
    """The line's first two numbers; UNREADABLE without them. More may follow, as in `x y index type` (UCC's text API,
    Request: Selection).
    """
    square = _SQUARE.match(said)
    if square is None:
        return Reply(ReplyKind.UNREADABLE, said)
    return decided(OnSquare(int(square[1]), int(square[2])), said)
