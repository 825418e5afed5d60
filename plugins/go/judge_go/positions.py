"""Positions and openings as text.

D4 Q16 pass                                     moves, black first
black D4 Q16 white K10 moves Q4                 stones, then moves; black moves first, or white if black has more stones
black D4 to black moves Q4 C3                   the colour that moves first
(;GM[1]SZ[19]AB[pd]AW[dp];B[dd];W[pp])          SGF: set-up stones and moves of the main line
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from judge.base.errors import InputError
from judge.base.text import quote
from judge.formats.sgf import SgfNode, games_of
from judge.games.types import MAX_POSITION_CHARACTERS
from judge_go.board import BLACK, COLOURS, WHITE, Board, Point, read_vertex, vertex

Placed = tuple[int, Point]
"""Colour and point."""
Moved = tuple[int, Point | None]

EXAMPLE = "D4 Q16, black D4 Q16 moves C3, or an SGF"
MAX_SGF_LINES = 5000
_SGF_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Position:
    """The first stones, the colour that moves next, and moves."""

    stones: tuple[Placed, ...] = ()
    to_move: int = BLACK
    moves: tuple[Moved, ...] = ()

    def text(self, size: int) -> str:
        """Return the notation for records."""
        words = []
        for colour in (BLACK, WHITE):
            names = [vertex(point, size) for each, point in self.stones if each == colour]
            words += [COLOURS[colour], *names] if names else []
        words += ["to", COLOURS[self.to_move]] if self.to_move != _begins(self.stones) else []
        moves = [vertex(point, size) for _, point in self.moves]
        words += ["moves", *moves] if words and moves else moves
        return " ".join(words)


def _begins(stones: Iterable[Placed]) -> int:
    balance = sum(1 if colour == BLACK else -1 for colour, _ in stones)
    return WHITE if balance > 0 else BLACK


def read_position(text: str, size: int) -> Position:
    """Parse a position; empty: the empty board. Raises InputError naming the word and the fix."""
    if text.lstrip().startswith("("):
        found = list(games_of(text, "position"))
        if len(found) != 1:
            raise InputError(f"position: {len(found)} games in SGF; write one")
        return position_of_sgf(found[0], size, "position")
    stones: list[Placed] = []
    points: list[Point | None] = []
    to_move: int | None = None
    part = "moves"
    for word in text.split():
        lower = word.lower()
        if part == "to":
            if lower not in COLOURS:
                raise InputError(f"position: to {quote(word, 20)}; write to black or to white")
            to_move, part = COLOURS.index(lower), "moves"
        elif lower in ("moves", "to", *COLOURS):
            part = lower
        else:
            point = _point(word, size)
            if part == "moves":
                points.append(point)
            elif point is None:
                raise InputError(f"position: pass is no stone; write it after moves, such as {EXAMPLE}")
            else:
                stones.append((COLOURS.index(part), point))
    _check_stones(stones, size, "position")
    first = _begins(stones) if to_move is None else to_move
    return Position(tuple(stones), first, tuple(((first + n) % 2, point) for n, point in enumerate(points)))


def _point(word: str, size: int) -> Point | None:
    try:
        point = read_vertex(word, size)
    except ValueError:
        raise InputError(f"position: {quote(word, 20)} is no point; write {EXAMPLE}") from None
    if point is not None and not Board(size).is_on_board(point):
        raise InputError(f"position: {word} is not on the {size}x{size} board")
    return point


def _check_stones(stones: Iterable[Placed], size: int, source: str) -> None:
    """A position has no group without liberties: placing its stones one by one then captures nothing."""
    board = Board(size)
    for colour, point in stones:
        name = vertex(point, size)
        if not board.is_empty(point):
            raise InputError(f"{source}: two stones at {name}")
        if board.play(point, colour):
            raise InputError(f"{source}: stones next to {name} have no liberty; leave them out")


def position_of_sgf(nodes: list[SgfNode], size: int, source: str) -> Position:
    """Return the set-up stones and moves of a game. Raises InputError with the line."""
    stones: list[Placed] = []
    moves: list[Moved] = []
    to_move: int | None = None
    for node in nodes:
        if (game := node.text("GM")) not in ("", "1"):
            raise InputError(f"{source}, line {node.line('GM')}: GM[{game[:20]}] is another game; Go is GM[1]")
        if "SZ" in node and node.text("SZ") != str(size):
            raise InputError(f"{source}, line {node.line('SZ')}: SZ[{node.text('SZ')[:20]}]; the board has SZ[{size}]")
        if "PL" in node and not moves:
            to_move = _sgf_colour(node.text("PL"), f"{source}, line {node.line('PL')}")
        for name, colour in (("AB", BLACK), ("AW", WHITE), ("AE", None), ("B", BLACK), ("W", WHITE)):
            if name not in node:
                continue
            where = f"{source}, line {node.line(name)}"
            if name in ("B", "W") and (len(node.texts(name)) > 1 or {"B", "W"} <= node.keys()):
                raise InputError(f"{where}: two moves in a node; write ; before each move")
            if name in ("B", "W"):
                moves.append((BLACK if name == "B" else WHITE, _sgf_move(node.text(name), size, where)))
            elif moves or colour is None:
                raise InputError(f"{where}: {name} changes stones during the game; keep only B and W")
            else:
                for value in node.texts(name):
                    stones += [(colour, point) for point in _sgf_points(value, size, where)]
                    if len(stones) > size * size:
                        raise InputError(f"{where}: {name} has more stones than the board has points")
    _check_stones(stones, size, source)
    first = moves[0][0] if moves else to_move if to_move is not None else _begins(stones)
    return Position(tuple(stones), first, tuple(moves))


def _sgf_colour(text: str, where: str) -> int:
    word = text.lower()
    if word in ("b", "w", *COLOURS):
        return "bw".index(word[0])
    raise InputError(f"{where}: PL[{text[:20]}] is no colour; write B or W")


def _sgf_move(text: str, size: int, where: str) -> Point | None:
    if not text or (text == "tt" and size <= 19):
        return None
    (point,) = _sgf_points(text, size, where) if ":" not in text else (_sgf_point(text, size, where),)
    return point


def _sgf_points(text: str, size: int, where: str) -> list[Point]:
    """One point, or a rectangle such as aa:cc."""
    first, is_rectangle, last = text.partition(":")
    (left, top) = _sgf_point(first, size, where)
    (right, bottom) = _sgf_point(last, size, where) if is_rectangle else (left, top)
    if right < left or bottom < top:
        raise InputError(
            f"{where}: {quote(text, 20)} has its corners in another order; write top left and bottom right"
        )
    return [(x, y) for y in range(top, bottom + 1) for x in range(left, right + 1)]


def _sgf_point(text: str, size: int, where: str) -> Point:
    letters = _SGF_LETTERS[:size]
    if len(text) != 2 or any(letter not in letters for letter in text):
        raise InputError(f"{where}: {quote(text, 20)} is no point of a {size}x{size} board; write such as dd")
    return letters.index(text[0]), letters.index(text[1])


def sgf_point(point: Point | None) -> str:
    """Return the SGF value of a point; None: a pass."""
    return "" if point is None else _SGF_LETTERS[point[0]] + _SGF_LETTERS[point[1]]


def read_opening(text: str, size: int) -> str:
    """Return an opening in the notation for records. Raises InputError."""
    position = read_position(text, size)
    colours = [colour for colour, _ in position.moves]
    if colours != [(position.to_move + n) % 2 for n in range(len(colours))]:
        raise InputError(
            "position: the colours of the moves must alternate; write pass between two moves of one colour"
        )
    found = position.text(size)
    if len(found) > MAX_POSITION_CHARACTERS:
        raise InputError(f"position: {len(found)} characters; the maximum is {MAX_POSITION_CHARACTERS}")
    return found


def split_openings(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the openings of a text file, one per line, or the games of an SGF file."""
    game: list[str] = []
    begins, depth, is_value, is_escaped = 1, 0, False, False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if depth == 0 and not text.startswith("("):
            if text := text.partition("#")[0].strip():
                yield number, text
            continue
        for character in line:
            if depth == 0:
                begins = number
                if character != "(":
                    continue
            game.append(character)
            if is_escaped:
                is_escaped = False
            elif is_value:
                is_escaped, is_value = character == "\\", character != "]"
            else:
                is_value = character == "["
                depth += {"(": 1, ")": -1}.get(character, 0)
            if depth == 0:
                yield begins, "".join(game)
                game = []
        if len(game) > MAX_SGF_LINES * 80:
            raise InputError(f"line {begins}: the SGF game is too long, or a bracket is missing")
    if game:
        yield begins, "".join(game)
