"""A board picture without game logic.

A `BoardView` includes hidden pieces and types unless made for one seat.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from judge.games.types import SEATS

Square = tuple[int, int]
"""x from the left and y from the top, both from 0."""


class Surface(StrEnum):
    """Look of the board."""

    LINES = "lines"
    SQUARES = "squares"
    CHEQUERED = "chequered"


class Mark(StrEnum):
    """Reason to highlight a square."""

    LAST = "last"
    ROW = "row"
    OFFER = "offer"
    CURSOR = "cursor"


@dataclass(frozen=True, slots=True)
class Face:
    """A piece's possible type, in the game's word. `is_hidden`: not every agent knows it."""

    name: str
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """A stone has a number and no face, a piece one face, in superposition two.

    `side` is 0 for the first mover. `shows` is the current face's index, None while undecided.
    """

    side: int
    number: int = 0
    faces: tuple[Face, ...] = ()
    shows: int | None = None
    is_dead: bool = False


@dataclass(frozen=True, slots=True)
class BoardView:
    """One position."""

    surface: Surface
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    tokens: Mapping[Square, Token]
    sides: tuple[str, str]
    seats: tuple[int, int] = SEATS
    blocked: frozenset[Square] = frozenset()
    marks: Mapping[Square, Mark] = field(default_factory=dict)
    caption: str = ""
    """Callers must escape it."""
    changed: Sequence[Square] | None = field(default=None, compare=False)
    """Squares that differ from the view given to `since`; None: unknown."""

    def since(self, before: "BoardView | None") -> "BoardView":
        if before is None:
            return self
        changed = changed_squares(before.tokens, self.tokens)
        return replace(self, marks={**dict.fromkeys(changed, Mark.LAST), **self.marks}, changed=changed)

    def move_text(self, seat: int, said: str) -> str:
        """The last move in the game's notation, else the answer with its side. Callers must escape it."""
        return self.caption or f"{self.sides[self.seats.index(seat)]}: {said}"


def changed_squares(before: Mapping[Square, object], after: Mapping[Square, object]) -> list[Square]:
    """Squares where two positions differ."""
    return [at for at in {**after, **before} if before.get(at) != after.get(at)]


_NUMBERED = re.compile(r"([0-9]+)\.(?:\.\.)? (.*)", re.DOTALL)


def numbered(notation: str) -> tuple[int, str]:
    """The number in a notation such as `12. h8` or `6... Nc6`, 0 without one, and the move.

    In chess it is the number of both sides' moves: the number of an answer is that of `Stepped.number_of`.
    """
    match = _NUMBERED.fullmatch(notation)
    return (0, notation) if match is None else (int(match[1]), match[2])
