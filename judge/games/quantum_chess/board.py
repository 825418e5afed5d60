"""Pieces with two types, of which at most one shows, and their reachable squares.

Square (0, 0) is top left; white is at the bottom. A square is light if x + y is even. King and queen are on columns 3
and 4 for both colours. Source: the UCC manager of 2013.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, StrictInt, model_validator

from judge.base.parsing import FrozenModel

WHITE, BLACK = 0, 1
COLOURS = ("white", "black")

SIZE = 8

Square = tuple[int, int]
"""x (column, from the left) and y (row, from the top), both from 0."""


class PieceType(StrEnum):
    """Types of pieces, as in protocol and logs."""

    PAWN = "pawn"
    BISHOP = "bishop"
    KNIGHT = "knight"
    ROOK = "rook"
    QUEEN = "queen"
    KING = "king"


OFFICERS = tuple(map(PieceType, ["rook", "knight", "bishop", "king", "queen", "bishop", "knight", "rook"]))

POOL = {PieceType.PAWN: 8, PieceType.BISHOP: 2, PieceType.KNIGHT: 2, PieceType.ROOK: 2, PieceType.QUEEN: 1}

OFFICER_ROW = (SIZE - 1, 0)
PAWN_ROW = (SIZE - 2, 1)
FAR_ROW = (0, SIZE - 1)

_KINDS: frozenset[str] = frozenset(PieceType)

UNKNOWN = "unknown"
HIDDEN = "?"

_STRAIGHT = ((-1, 0), (1, 0), (0, -1), (0, 1))
_DIAGONAL = ((-1, -1), (-1, 1), (1, -1), (1, 1))
_SLIDES = {PieceType.ROOK: _STRAIGHT, PieceType.BISHOP: _DIAGONAL, PieceType.QUEEN: _STRAIGHT + _DIAGONAL}
_LEAPS = {
    PieceType.KING: _STRAIGHT + _DIAGONAL,
    PieceType.KNIGHT: ((-2, -1), (-2, 1), (2, -1), (2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2)),
}
_FORWARD = (-1, 1)


class PlacedPiece(FrozenModel):
    """A piece as plain data; `?` is before a hidden type.

    `unknown` is a hidden type for agents, and the current type in superposition.
    """

    colour: Literal["white", "black"]
    x: Annotated[StrictInt, Field(ge=0, lt=SIZE)]
    y: Annotated[StrictInt, Field(ge=0, lt=SIZE)]
    types: tuple[str, str]
    current: str = UNKNOWN

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        kinds = [kind.removeprefix(HIDDEN) for kind in self.types]
        if not _KINDS.issuperset(kinds):
            raise ValueError(f"the types are two of {', '.join(PieceType)}, with ? before a hidden one")
        if self.current != UNKNOWN and self.current not in _KINDS.intersection(self.types):
            raise ValueError("the current type of a piece must be one of its types that are not hidden")
        if PieceType.KING in kinds and (*self.types, self.current) != (PieceType.KING,) * 3:
            raise ValueError("a king is a king in both types, and always")
        return self


@dataclass(slots=True, eq=False)
class Piece:
    """`index` is its current type; None while open and for an unselected king."""

    colour: int
    x: int
    y: int
    types: list[PieceType]
    shown: list[bool]
    current: PieceType | None = None
    index: int | None = None

    @property
    def is_open(self) -> bool:
        return self.current is None or self.index is None

    def collapse(self, index: int) -> PieceType:
        self.index = index
        self.shown[index] = True
        self.current = self.types[index]
        return self.current

    def release(self) -> None:
        """End its turn: on a dark square it opens, unless its types are equal."""
        if (self.x + self.y) % 2 == 0:
            return
        if all(self.shown) and self.types[0] is self.types[1]:
            self.index = 0
        else:
            self.current = self.index = None

    def placed(self) -> PlacedPiece:
        first, second = (
            kind.value if shown else HIDDEN + kind for kind, shown in zip(self.types, self.shown, strict=True)
        )
        return PlacedPiece(
            colour="white" if self.colour == WHITE else "black",
            x=self.x,
            y=self.y,
            types=(first, second),
            current=UNKNOWN if self.current is None else self.current.value,
        )


def piece_from(placed: PlacedPiece) -> Piece:
    """Its first matching type is current."""
    piece = Piece(
        COLOURS.index(placed.colour),
        placed.x,
        placed.y,
        [PieceType(kind.removeprefix(HIDDEN)) for kind in placed.types],
        [not kind.startswith(HIDDEN) for kind in placed.types],
    )
    if placed.current != UNKNOWN:
        piece.collapse(placed.types.index(placed.current))
    return piece


def classical_pieces() -> list[Piece]:
    """Both types equal and known."""
    return [
        Piece(colour, x, y, [kind, kind], [True, True], kind, None if kind is PieceType.KING else 0)
        for colour, x, y, kind in _start()
    ]


def quantum_pieces() -> list[Piece]:
    """Only the kings' hidden types are drawn."""
    return [
        Piece(colour, x, y, [kind, kind], [True, True], kind)
        if kind is PieceType.KING
        else Piece(colour, x, y, [kind], [True])
        for colour, x, y, kind in _start()
    ]


def _start() -> Iterable[tuple[int, int, int, PieceType]]:
    for colour in (BLACK, WHITE):
        for x, kind in enumerate(OFFICERS):
            yield colour, x, OFFICER_ROW[colour], kind
        for x in range(SIZE):
            yield colour, x, PAWN_ROW[colour], PieceType.PAWN


class ChessBoard:
    """Pieces and moves, without turns."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._at = {(piece.x, piece.y): piece for piece in pieces}

    @property
    def pieces(self) -> Sequence[Piece]:
        return list(self._at.values())

    def at(self, x: int, y: int) -> Piece | None:
        """The square may be off the board."""
        return self._at.get((x, y))

    def placed(self) -> tuple[PlacedPiece, ...]:
        return tuple(self._at[square].placed() for square in sorted(self._at))

    def count(self, colour: int) -> int:
        return sum(piece.colour == colour for piece in self._at.values())

    def targets(self, piece: Piece) -> list[Square]:
        match piece.current:
            case None:
                return []
            case PieceType.PAWN:
                return self._pawn_targets(piece)
            case PieceType.KING | PieceType.KNIGHT as kind:
                near = ((piece.x + dx, piece.y + dy) for dx, dy in _LEAPS[kind])
                return [square for square in near if self._may_land(piece, square)]
            case kind:
                return [square for step in _SLIDES[kind] for square in self._slide(piece, *step)]

    def move(self, piece: Piece, x: int, y: int, promotes_both: bool) -> Piece | None:
        """End its turn; return the captured piece. A promotion changes the showing type (`promotes_both`: both)."""
        taken = self._at.pop((x, y), None)
        del self._at[piece.x, piece.y]
        piece.x, piece.y = x, y
        self._at[x, y] = piece
        if piece.current is PieceType.PAWN and y == FAR_ROW[piece.colour] and piece.index is not None:
            for index in (0, 1) if promotes_both else (piece.index,):
                piece.types[index] = PieceType.QUEEN
                piece.shown[index] = True
            piece.current = PieceType.QUEEN
        piece.release()
        return taken

    def _pawn_targets(self, piece: Piece) -> list[Square]:
        x, y = piece.x, piece.y + _FORWARD[piece.colour]
        ahead = [(x, y)] if _is_on_board(x, y) and (x, y) not in self._at else []
        if ahead and piece.y == PAWN_ROW[piece.colour]:
            beyond = (x, y + _FORWARD[piece.colour])
            ahead += [beyond] if beyond not in self._at else []
        sides = [(side, self._at.get(side)) for side in ((x - 1, y), (x + 1, y))]
        return ahead + [side for side, there in sides if there is not None and there.colour != piece.colour]

    def _slide(self, piece: Piece, dx: int, dy: int) -> Iterable[Square]:
        square = (piece.x + dx, piece.y + dy)
        while self._may_land(piece, square):
            yield square
            if square in self._at:
                return
            square = (square[0] + dx, square[1] + dy)

    def _may_land(self, piece: Piece, square: Square) -> bool:
        there = self._at.get(square)
        return _is_on_board(*square) and (there is None or there.colour != piece.colour)


def _is_on_board(x: int, y: int) -> bool:
    return 0 <= x < SIZE and 0 <= y < SIZE
