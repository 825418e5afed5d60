"""A position as a small SVG without names, coordinates and numbers, in one path for each kind of piece and mark."""

from collections.abc import Iterable

from judge.formats.views import BoardView, Mark, Square, Surface
from judge.render.board import ACCENT, GROUNDS, LAKE, LINE, ROW, SIDES

CELL = 10


def write_miniature(view: BoardView) -> str:
    """Return the SVG; a page describes it in text."""
    width, height = CELL * len(view.columns), CELL * len(view.rows)
    body = [_ground(view, width, height)]
    for side in (0, 1):
        squares = [square for square, token in view.tokens.items() if token.side == side]
        fill, edge = (colours[side] for colours in SIDES[view.surface])
        body += [_dots(squares, edge, 9.4, view.surface), _dots(squares, fill, 8.2, view.surface)]
    for colour, marks in ((ROW, [Mark.ROW]), (ACCENT, [mark for mark in Mark if mark is not Mark.ROW])):
        marked = [square for square, mark in view.marks.items() if mark in marks]
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
