"""A position as a small SVG without names, coordinates and numbers, in one path for each kind of piece and mark."""

from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from judge.formats.views import BoardView, Mark, Square, Surface, Token
from judge.render.board import ACCENT, GROUNDS, LAKE, LINE, ROW, SIDES
from judge.render.pieces import GLYPHS

CELL = 10


def write_miniature(view: BoardView) -> str:
    """Return the SVG; a page describes it in text."""
    width, height = CELL * len(view.columns), CELL * len(view.rows)
    body = [_ground(view, width, height)]
    if has_glyphs := view.surface is Surface.CHEQUERED:
        body.append(f'<path fill="{ACCENT}" fill-opacity=".4" d="{_fields(view.marks)}"/>')
    for side in (0, 1):
        pieces = {square: token for square, token in view.tokens.items() if token.side == side}
        glyphs = {square: name for square, token in pieces.items() if has_glyphs and (name := _glyph_of(token))}
        dots = pieces.keys() - glyphs.keys()
        fill, edge = (colours[side] for colours in SIDES[view.surface])
        body += [_dots(dots, edge, 9.4, view.surface), _dots(dots, fill, 8.2, view.surface)]
        if glyphs:
            path = "".join(f"M{CELL * x} {CELL * y}{_glyph_path(name)}" for (x, y), name in sorted(glyphs.items()))
            body.append(f'<path fill="{fill}" stroke="{edge}" stroke-width=".5" stroke-linejoin="round" d="{path}"/>')
    for colour, marks in ((ROW, [Mark.ROW]), (ACCENT, [mark for mark in Mark if mark is not Mark.ROW])):
        marked = [square for square, mark in view.marks.items() if mark in marks and not has_glyphs]
        body.append(_dots(marked, colour, 3.6, Surface.LINES))
    shapes = "".join(body)
    return f'<svg class="mini" viewBox="0 0 {width} {height}" stroke-linecap="round" aria-hidden="true">{shapes}</svg>'


def _ground(view: BoardView, width: int, height: int) -> str:
    columns, rows = len(view.columns), len(view.rows)
    light, dark = GROUNDS[view.surface]
    ground = f'<path fill="{light}" d="M0 0h{width}v{height}H0z"/>'
    if view.surface is Surface.LINES:
        lines = [f"M5 {CELL * row + 5}h{width - CELL}" for row in range(rows)]
        lines += [f"M{CELL * column + 5} 5v{height - CELL}" for column in range(columns)]
        return f'{ground}<path stroke="{LINE}" stroke-width=".6" d="{"".join(lines)}"/>'
    squares = [(x, y) for y in range(rows) for x in range(columns) if (x + y) % 2]
    return f'{ground}<path fill="{dark}" d="{_fields(squares)}"/><path fill="{LAKE}" d="{_fields(view.blocked)}"/>'


def _fields(squares: Iterable[Square]) -> str:
    return "".join(f"M{CELL * x} {CELL * y}h{CELL}v{CELL}h-{CELL}z" for x, y in sorted(squares))


def _dots(squares: Iterable[Square], colour: str, width: float, surface: Surface) -> str:
    """Lines without a length: their round or square caps are the pieces."""
    path = "".join(f"M{CELL * x + 5} {CELL * y + 5}h0" for x, y in sorted(squares))
    cap = ' stroke-linecap="square"' if surface is Surface.SQUARES else ""
    return f'<path stroke="{colour}" stroke-width="{width}"{cap} d="{path}"/>' if path else ""


def _glyph_of(token: Token) -> str:
    """The type of a piece, if it has one and there is a silhouette of it."""
    name = "" if token.shows is None else token.faces[token.shows].name
    return name if name in GLYPHS else ""


@cache
def _glyph_path(name: str) -> str:
    """The silhouette from the corner of its square on. Its parts are drawn clockwise, or overlaps would be holes."""
    path, last = "", (0, 0)
    for part in GLYPHS[name].parts:
        match part:
            case (float(x), float(y), float(radius)):
                begin, width = (_tenths(x - radius), _tenths(y)), _tenths(2 * radius)
                half = _text(width / 2)
                shape = f"a{half} {half} 0 1 1 {_text(width)} 0a{half} {half} 0 1 1 {_text(-width)} 0z"
            case points:
                corners = [(_tenths(x), _tenths(y)) for x, y in points]
                area = sum(x * v - u * y for (x, y), (u, v) in zip(corners, [*corners[1:], corners[0]], strict=True))
                corners = corners if area > 0 else corners[::-1]
                begin = corners[0]
                steps = [f"{_text(u - x)} {_text(v - y)}" for (x, y), (u, v) in pairwise(corners)]
                shape = f"l{' '.join(steps)}z".replace(" -", "-")
        path += f"m{_text(begin[0] - last[0])} {_text(begin[1] - last[1])}{shape}"
        last = begin
    return path


def _tenths(share: float) -> int:
    """Of a square, in tenths of a unit."""
    return round(share * 10 * CELL)


def _text(tenths: float) -> str:
    return f"{tenths / 10:g}".replace("0.", ".", 1) if abs(tenths) < 10 else f"{tenths / 10:g}"
