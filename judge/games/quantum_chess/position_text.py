"""Positions of Quantum Chess on one line: the rows from the top, and the colour that moves.

`8/8/3(p?r)4/8/8/8/8/K6k w`: a digit is a number of empty squares. A letter is a piece with that type only, a capital is
white. In brackets are the two types of an open piece; `?` hides the next one. Letters: K Q R B N P.
"""

import re

from judge.base.text import quote
from judge.games.quantum_chess.board import COLOURS, HIDDEN, SIZE, UNKNOWN, PieceType, PlacedPiece

EXAMPLE = "4k3/8/8/8/8/8/4P3/4K3 w"

_TYPES = {
    "k": PieceType.KING,
    "q": PieceType.QUEEN,
    "r": PieceType.ROOK,
    "b": PieceType.BISHOP,
    "n": PieceType.KNIGHT,
    "p": PieceType.PAWN,
}
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
