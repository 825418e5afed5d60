"""A board picture without game logic.

A `BoardView` includes hidden pieces and types unless made for one seat.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import compress, islice
from operator import is_not

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


_LAST = Mark.LAST


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


@dataclass(slots=True)  # frozen takes three times as long
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
    extended: Mapping[Square, Token] | None = field(default=None, compare=False, repr=False)
    """Tokens of an earlier view, to which `tokens` only adds at its end."""

    def since(self, before: "BoardView | None") -> "BoardView":
        if before is None:
            return self
        if self.extended is before.tokens:
            changed = [*islice(self.tokens, len(before.tokens), None)]
        else:
            changed = changed_squares(before.tokens, self.tokens)
        marks = {**dict.fromkeys(changed, _LAST), **self.marks}
        return BoardView(
            self.surface,
            self.columns,
            self.rows,
            self.tokens,
            self.sides,
            self.seats,
            self.blocked,
            marks,
            self.caption,
            changed,
        )


def changed_squares(before: Mapping[Square, object], after: Mapping[Square, object]) -> list[Square]:
    """Squares where two positions differ."""
    count = len(before)
    if [*before] == [*islice(after, count)] and [*before.values()] == [*islice(after.values(), count)]:
        return [*islice(after, count, None)]  # A position of stones extends the last one.
    # Views share most tokens, and `is` is faster than comparing fields.
    is_other = map(is_not, map(before.get, after), after.values())
    changed = [at for at in compress(after, is_other) if before.get(at) != after[at]]
    if len(after) - len(before) != sum(at not in before for at in changed):
        changed += [at for at in before if at not in after]
    return changed


_NUMBERED = re.compile(r"([0-9]+)\. (.*)", re.DOTALL)


def numbered(notation: str, at: int) -> tuple[int, str]:
    """A notation's number and move; `at` is the number of a notation without one."""
    match = _NUMBERED.fullmatch(notation)
    return (at, notation) if match is None else (int(match[1]), match[2])
