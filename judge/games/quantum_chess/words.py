"""Requests, decisions and events of Quantum Chess, UCC's announcement lines, and positions on one line.

A position has the rows from the top, and the colour that moves: `8/8/3(p?r)4/8/8/8/8/K6k w`. A digit is a number of
empty squares. A letter is a piece with that type only, a capital is white. In brackets are the two types of an open
piece; `?` hides the next one. Letters: K Q R B N P.
"""

import re
from dataclasses import dataclass

from judge.base.text import quote
from judge.games.quantum_chess.board import COLOURS, HIDDEN, SIZE, UNKNOWN, PieceType, PlacedPiece
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


EXAMPLE = "4k3/8/8/8/8/8/4P3/4K3 w"

_TYPES = {"n" if kind is PieceType.KNIGHT else kind[0]: kind for kind in PieceType}
_TOKEN = re.compile(r"([1-8])|([kqrbnp])|\((\??)([qrbnp])(\??)([qrbnp])\)", re.IGNORECASE | re.ASCII)


def read_position(text: str) -> tuple[tuple[PlacedPiece, ...], str]:
    """The pieces and the colour that moves. Raises ValueError naming the row or the token."""
    board, _, turn = text.strip().partition(" ")
    rows = board.split("/")
    if len(rows) != SIZE:
        raise ValueError(f"{len(rows)} rows in {quote(board, 40)}; write {SIZE} rows, such as {EXAMPLE}")
    if turn.strip() not in ("w", "b"):
        raise ValueError(f"{quote(turn, 20)} is no colour to move; write w or b after the rows")
    pieces = [piece for y, row in enumerate(rows) for piece in _row(row, y)]
    if not pieces:
        raise ValueError("the position has no pieces")
    return tuple(pieces), COLOURS[turn.strip() == "b"]


def _row(row: str, y: int) -> list[PlacedPiece]:
    pieces, x, at = [], 0, 0
    while at < len(row):
        match = _TOKEN.match(row, at)
        if match is None:
            raise ValueError(f"row {y + 1}: {quote(row[at:], 20)} does not start with a piece or a number from 1 to 8")
        at = match.end()
        digit, letter, hides_first, first, hides_second, second = match.groups()
        if digit:
            x += int(digit)
            continue
        if x < SIZE:
            pieces.append(_piece(x, y, letter, (hides_first, first), (hides_second, second)))
        x += 1
    if x != SIZE:
        raise ValueError(f"row {y + 1} has {x} squares; it needs {SIZE}")
    return pieces


def _piece(x: int, y: int, letter: str | None, *types: tuple[str, str]) -> PlacedPiece:
    if letter:
        kind = _TYPES[letter.lower()].value
        both, current, sample = (kind, kind), kind, letter
    else:
        first, second = (
            _TYPES[each.lower()].value if not hidden else HIDDEN + _TYPES[each.lower()] for hidden, each in types
        )
        both, current, sample = (first, second), UNKNOWN, types[0][1]
    return PlacedPiece(colour="white" if sample.isupper() else "black", x=x, y=y, types=both, current=current)
