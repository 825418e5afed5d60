"""A game as a picture that knows no game: squares, what stands on them, what is marked.

Every renderer (terminal, SVG, GIF) reads a `BoardView` and nothing else, so a new game is shown everywhere as soon as
it has a builder in `VIEWS`. A view shows all, hidden pieces and hidden types too, unless it is made for one seat.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache

from judge.errors import InputError
from judge.games.gomoku import Gomoku
from judge.games.gomoku.requests import COLOURS, Placed, Square, square_name
from judge.games.quantum_chess import QuantumChess
from judge.games.quantum_chess.board import SIZE as CHESS_SIZE
from judge.games.quantum_chess.board import UNKNOWN, Piece
from judge.games.stratego import Stratego
from judge.games.stratego.types import COLOURS as ARMIES
from judge.games.stratego.types import SIZE as FIELD_SIZE
from judge.games.types import SEATS, Game, RuleResult, Verdict


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
    """Whoever looks has put a cursor there."""


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
    """It counts no more (continuous game)."""


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
    """Where nothing can stand (lakes)."""
    marks: Mapping[Square, Mark] = field(default_factory=dict)
    caption: str = ""
    """What happened last, as the game says it; it may hold an agent's own words, so whoever prints it escapes it."""

    def since(self, before: "BoardView | None") -> "BoardView":
        """The same view with every square marked that differs from the view `before`, unless it has a mark already."""
        if before is None:
            return self
        squares = self.tokens.keys() | before.tokens.keys()
        changed = [at for at in squares if self.tokens.get(at) != before.tokens.get(at)]
        return replace(self, marks={**dict.fromkeys(changed, Mark.LAST), **self.marks})


def view_of(game: Game, seat: int | None = None) -> BoardView:
    """The view of a game as it stands, or of what `seat` may see of it; InputError for a game that has no pictures."""
    build = VIEWS.get(type(game))
    if build is None:
        raise InputError(f"{type(game).__name__} has no pictures")
    return build(game, seat)


# --- five in a row ---------------------------------------------------------------------------------------------------


def stones_view(game: Gomoku, seat: int | None = None) -> BoardView:  # noqa: ARG001 nothing is hidden
    """Numbered stones; the winning row and the offers of a fifth stone are marked."""
    bare = bare_stones_view(game.width, game.height, game.stones, game.dead)
    return replace(
        bare,
        seats=(game.black, 1 - game.black),
        marks={**dict.fromkeys(game.offers, Mark.OFFER), **_winning_row(game)},
    )


def bare_stones_view(
    width: int, height: int, stones: Sequence[Placed], dead: Collection[Square] = ()
) -> BoardView:
    """Stones in play order on a board of which no rule is known."""
    tokens = {
        (x, y): _stone(colour, number, (x, y) in dead)
        for number, (x, y, colour) in enumerate(stones, 1)
    }
    return BoardView(
        Surface.LINES,
        tuple(square_name(x, 0)[:-1] for x in range(width)),
        tuple(str(y + 1) for y in range(height)),
        tokens,
        (COLOURS[0], COLOURS[1]),
        caption=f"{len(stones)}. {square_name(*stones[-1][:2])}" if stones else "",
    )


@lru_cache(maxsize=8192)
def _stone(colour: int, number: int, is_dead: bool) -> Token:
    return Token(colour, number, is_dead=is_dead)


def _winning_row(game: Gomoku) -> Mapping[Square, Mark]:
    """The squares of the row through the last stone, if it won."""
    if not isinstance(game.end, RuleResult) or game.end.verdict is not Verdict.WIN:
        return {}
    x, y, colour = game.stones[-1]
    own = {(sx, sy) for sx, sy, c in game.stones if c == colour}
    rows = [_run(own, (x, y), dx, dy) for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1))]
    longest = max(rows, key=lambda row: len(row))
    return dict.fromkeys(longest, Mark.ROW) if len(longest) >= 5 else {}


def _run(own: set[Square], start: Square, dx: int, dy: int) -> list[Square]:
    """The squares of `own` in an unbroken line through `start`."""
    run = [start]
    for sign in (1, -1):
        x, y = start[0] + sign * dx, start[1] + sign * dy
        while (x, y) in own:
            run.append((x, y))
            x, y = x + sign * dx, y + sign * dy
    return run


# --- Stratego --------------------------------------------------------------------------------------------------------

_EMPTY, _LAKE, _ENEMY = ".", "+", "#"


def stratego_view(game: Stratego, seat: int | None = None) -> BoardView:
    """Both armies by their letters; each is hidden from the other side, which sees `#`."""
    tokens: dict[Square, Token] = {}
    lakes = set()
    for looks in SEATS if seat is None else (seat,):
        for y, row in enumerate(game.seen_by(looks).splitlines()):
            for x, letter in enumerate(row):
                if letter == _LAKE:
                    lakes.add((x, y))
                elif letter == _ENEMY and seat is not None:
                    tokens[x, y] = _soldier(1 - looks, letter)
                elif letter not in (_EMPTY, _ENEMY):
                    tokens[x, y] = _soldier(looks, letter)
    last = game.half_moves[-1] if game.half_moves else None
    names = tuple(map(str, range(FIELD_SIZE)))
    return BoardView(
        Surface.SQUARES,
        names,
        names,
        tokens,
        (ARMIES[0], ARMIES[1]),
        blocked=frozenset(lakes),
        caption=f"turn {last.turn}, {ARMIES[last.seat]}: {last.text}" if last else "",
    )


@lru_cache(maxsize=256)
def _soldier(seat: int, letter: str) -> Token:
    return Token(seat, faces=(Face(letter, is_hidden=True),), shows=0)


# --- Quantum Chess ---------------------------------------------------------------------------------------------------


def chess_view(game: QuantumChess, seat: int | None = None) -> BoardView:
    """Pieces with both their types, until they are known to be the same; what is hidden, is so from both seats."""
    names = tuple(map(str, range(CHESS_SIZE)))
    shows_all = seat is None
    tokens = {(piece.x, piece.y): _piece(piece, shows_all) for piece in game.board.pieces}
    return BoardView(Surface.CHEQUERED, names, names, tokens, ("white", "black"))


def _piece(piece: Piece, shows_all: bool) -> Token:
    faces = tuple(
        Face(kind.value if shown or shows_all else UNKNOWN, not shown)
        for kind, shown in zip(piece.types, piece.shown, strict=True)
    )
    if len(set(faces)) == 1 and not faces[0].is_hidden:
        return Token(piece.colour, faces=faces[:1], shows=0)
    shows = None if piece.current is None else piece.index
    return Token(piece.colour, faces=faces, shows=shows)


VIEWS: Mapping[type, Callable[..., BoardView]] = {
    Gomoku: stones_view,
    Stratego: stratego_view,
    QuantumChess: chess_view,
}
"""What builds the view of each game."""
