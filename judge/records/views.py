"""A game as a picture that knows no game: squares, what stands on them, what is marked.

Every renderer (terminal, SVG, GIF) reads a `BoardView` and nothing else, so a new game is shown everywhere as soon as
its entry builds one (`judge.catalog.entry.GameEntry.view`).
A view shows all, hidden pieces and hidden types too, unless it is made for one seat.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from judge.games.types import SEATS

Square = tuple[int, int]
"""x from the left and y from the top, both from 0."""


class Surface(StrEnum):
    """What the board looks like."""

    LINES = "lines"
    """Stones on the crossings of lines."""
    SQUARES = "squares"
    CHEQUERED = "chequered"
    """Light where x + y is even."""


class Mark(StrEnum):
    """Why a square is pointed out."""

    LAST = "last"
    """The last move changed it."""
    ROW = "row"
    """It belongs to the row that won."""
    OFFER = "offer"
    """A fifth stone is offered on it (renju)."""
    CURSOR = "cursor"
    """The viewer's cursor is on it."""


@dataclass(frozen=True, slots=True)
class Face:
    """What a piece is or may become, in the game's own word; `is_hidden`: not every agent knows it."""

    name: str
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """What stands on a square: a stone has a number and no face, a piece one face, one in superposition two.

    `side` is 0 for the side that moves first (black stones, RED, white pieces). `shows` is the number of the face that
    a piece has now, None while that is open.
    """

    side: int
    number: int = 0
    faces: tuple[Face, ...] = ()
    shows: int | None = None
    is_dead: bool = False
    """It does not count any more (continuous game)."""


@dataclass(frozen=True, slots=True)
class BoardView:
    """One position. Squares are (x, y) from 0, x from the left and y from the top."""

    surface: Surface
    columns: tuple[str, ...]
    """The names of the columns, from the left."""
    rows: tuple[str, ...]
    """The names of the rows, from the top."""
    tokens: Mapping[Square, Token]
    sides: tuple[str, str]
    """What the game calls side 0 and side 1."""
    seats: tuple[int, int] = SEATS
    """Which seat plays side 0 and which side 1."""
    blocked: frozenset[Square] = frozenset()
    """Squares that no piece can enter (lakes)."""
    marks: Mapping[Square, Mark] = field(default_factory=dict)
    caption: str = ""
    """The last event in the game's own words; it may contain text of an agent, so the caller escapes it."""

    def since(self, before: "BoardView | None") -> "BoardView":
        """The same view with every square marked that differs from the view `before`, unless it has a mark already."""
        if before is None:
            return self
        squares = self.tokens.keys() | before.tokens.keys()
        changed = [at for at in squares if self.tokens.get(at) != before.tokens.get(at)]
        return replace(self, marks={**dict.fromkeys(changed, Mark.LAST), **self.marks})
