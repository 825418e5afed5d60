"""Renders a `BoardView` as text, readable without colour and in ASCII.

The column between two squares belongs to both and shows the brackets of a marked square.

    stones          black and white                  ● ○   (X O)      ? a fifth stone is offered here
    Stratego        side and rank                    r9 bB            ~~ lake
    Quantum Chess   WHITE in capitals, black small   R/?Q open: rook or queen, of which the queen is hidden
                                                     R ?Q is a rook now    K   nothing else
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.style import Style
from rich.text import Text

from judge.formats.views import BoardView, Mark, Square, Surface, Token

MAX_CHARACTERS = 10_000
"""Width and height that are enough for any board."""

_FACE_LETTERS = {"pawn": "P", "rook": "R", "knight": "N", "bishop": "B", "queen": "Q", "king": "K", "unknown": ""}


@dataclass(frozen=True, slots=True)
class _BoardStyle:
    width: int
    sides: tuple[Style, Style]
    ground: Style


_BOARD_STYLES = {
    Surface.LINES: _BoardStyle(
        1,
        (Style(color="#000000", bgcolor="#d8aa66", bold=True), Style(color="#ffffff", bgcolor="#d8aa66", bold=True)),
        Style(color="#7a5526", bgcolor="#d8aa66"),
    ),
    Surface.SQUARES: _BoardStyle(
        2,
        (Style(color="#ffffff", bgcolor="#b3352c", bold=True), Style(color="#ffffff", bgcolor="#2a62a3", bold=True)),
        Style(color="#7f8c6a"),
    ),
    Surface.CHEQUERED: _BoardStyle(
        4, (Style(color="#ffd75f", bold=True), Style(color="#5fafff", bold=True)), Style(color="#6b7a84")
    ),
}
_SIGNS = {Mark.LAST: "[]", Mark.ROW: "()", Mark.CURSOR: "<>"}
_LAKE = Style(color="#e8f5fa", bgcolor="#4f93b8")
_LABEL = Style(dim=True)
_BRACKET = Style(color="#ff5f5f", bold=True)


def board_width(view: BoardView) -> int:
    """Width of the whole board in columns."""
    return _label_width(view) + (_BOARD_STYLES[view.surface].width + 1) * len(view.columns) + 1


def board_lines(view: BoardView, width: int, height: int, ascii_only: bool = False) -> list[Text]:
    """The board in at most `width` x `height` characters, cropped around the last move."""
    board_style = _BOARD_STYLES[view.surface]
    columns = _window(
        len(view.columns), (width - _label_width(view) - 1) // (board_style.width + 1), [x for x, _ in view.marks]
    )
    rows = _window(len(view.rows), height - 1, [y for _, y in view.marks])
    lines = [_label_line(view, board_style, columns)]
    return lines + [_row(view, board_style, y, columns, ascii_only) for y in rows]


def print_board(view: BoardView, console: Console) -> None:
    """Print the whole board."""
    for line in board_lines(view, MAX_CHARACTERS, MAX_CHARACTERS, not console.encoding.startswith("utf")):
        console.print(line)


def token_text(token: Token, ascii_only: bool = False) -> str:
    """A stone or a piece as a few characters."""
    if not token.faces:
        return _stone(token, ascii_only)
    if token.shows is not None and len(token.faces) == 1 and token.faces[0].name not in _FACE_LETTERS:
        return "rb"[token.side] + token.faces[0].name
    letters = []
    for face in token.faces:
        letter = _FACE_LETTERS.get(face.name, face.name)
        letters.append(("?" if face.is_hidden else "") + (letter if token.side == 0 else letter.lower()))
    if token.shows is None:
        return "/".join(letters)
    others = [letter for number, letter in enumerate(letters) if number != token.shows]
    return " ".join([letters[token.shows], *others])


def side_sign(view: BoardView, side: int, ascii_only: bool = False) -> str:
    """Sign of a side's pieces."""
    match view.surface:
        case Surface.LINES:
            return _stone(Token(side), ascii_only)
        case Surface.SQUARES:
            return "rb"[side]
        case Surface.CHEQUERED:
            return "Kk"[side]


def side_style(view: BoardView, side: int) -> Style:
    """Style of a side's pieces."""
    return _BOARD_STYLES[view.surface].sides[side]


def _stone(token: Token, ascii_only: bool) -> str:
    signs = ("Xx", "Oo") if ascii_only else ("●▪", "○▫")
    return signs[token.side][token.is_dead]


def _label_width(view: BoardView) -> int:
    return max(len(name) for name in view.rows)


def _window(count: int, room: int, wanted: Sequence[int]) -> range:
    room = max(1, min(count, room))
    middle = sum(wanted) // len(wanted) if wanted else count // 2
    first = max(0, min(count - room, middle - room // 2))
    return range(first, first + room)


def _label_line(view: BoardView, board_style: _BoardStyle, columns: range) -> Text:
    line = Text(" " * _label_width(view), no_wrap=True)
    for x in columns:
        name = view.columns[x]
        if len(name) <= board_style.width:
            line.append(" " + name.center(board_style.width), _LABEL)
        else:
            # Two letters do not fit: every other column is labelled.
            line.append((name if x % 2 == 0 else "").ljust(board_style.width + 1), _LABEL)
    return line


def _row(view: BoardView, board_style: _BoardStyle, y: int, columns: range, ascii_only: bool) -> Text:
    line = Text(view.rows[y].rjust(_label_width(view)), _LABEL, no_wrap=True)
    for x in columns:
        _put_gap(line, view, board_style, (x - 1, y), (x, y), x > columns.start)
        text, style = _square(view, board_style, (x, y), ascii_only)
        line.append(text.center(board_style.width), style)
    last = columns.stop - 1
    _put_gap(line, view, board_style, (last, y), (last + 1, y), False)
    return line


def _put_gap(
    line: Text, view: BoardView, board_style: _BoardStyle, left: Square, right: Square, is_inner: bool
) -> None:
    before, behind = view.marks.get(left, Mark.OFFER), view.marks.get(right, Mark.OFFER)
    closing, opening = _SIGNS.get(before), _SIGNS.get(behind)
    ground = board_style.ground if view.surface is Surface.LINES else Style()
    if closing and opening and is_inner and Mark.CURSOR not in (before, behind):
        line.append("|", ground + _BRACKET)
    elif closing and (before is Mark.CURSOR or behind is not Mark.CURSOR):
        line.append(closing[1], ground + _BRACKET)
    elif opening:
        line.append(opening[0], ground + _BRACKET)
    else:
        line.append(" ", ground)


def _square(view: BoardView, board_style: _BoardStyle, square: Square, ascii_only: bool) -> tuple[str, Style]:
    token = view.tokens.get(square)
    if token is not None:
        style = board_style.sides[token.side]
        return token_text(token, ascii_only), style + Style(dim=True) if token.is_dead else style
    if square in view.blocked:
        return "~" * board_style.width, _LAKE
    if view.marks.get(square) is Mark.OFFER:
        return "?", board_style.ground + _BRACKET
    if view.surface is Surface.CHEQUERED:
        return ("" if sum(square) % 2 == 0 else "::"), board_style.ground
    return ("." if ascii_only else "·"), board_style.ground
