"""A whole game as one SVG. Each piece has the steps at which it is visible, so stepping needs no drawing.

A piece is painted once and placed for each stay on a square. A placed piece has `data-s="FIRST LAST"`, steps from 0;
`data-s="FIRST"` means until the end. Elements not visible at the last step have the class `off`.

Only the last step's marks are elements. `data-marks` of their group has all marks as `NAME X Y FIRST LAST`, separated
by `;`; without LAST it is one step.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Generic, NamedTuple, TypeVar

from judge.formats.views import BoardView, Mark, Square, Surface, Token, changed_squares
from judge.render.board import LABELS, BoardPainter
from judge.render.shapes import Text, moved
from judge.render.svg import FONT, content, middle_of_text, text_style, write_grouped, write_items

Thing = TypeVar("Thing", bound=Hashable)


@dataclass(slots=True)  # not frozen: that takes three times as long
class Span(Generic[Thing]):
    """Something on a square from step `first` through `last`."""

    square: Square
    thing: Thing
    first: int
    last: int


def spans(
    steps: Sequence[Mapping[Square, Thing]], changes: Iterable[Sequence[Square] | None] = repeat(None)
) -> list[Span[Thing]]:
    """Return the stays of things on squares, in order of appearance. `changes` has the changed squares of each step."""
    since: dict[Square, int] = {}
    found: list[Span[Thing]] = []
    before: Mapping[Square, Thing] = {}
    for number, (there, known) in enumerate(zip(steps, changes, strict=False)):
        for square in changed_squares(before, there) if known is None else known:
            if square in since:
                found.append(Span(square, before[square], since.pop(square), number - 1))
            if square in there:
                since[square] = number
        before = there
    last = len(steps) - 1
    found += [Span(square, before[square], first, last) for square, first in since.items()]
    return sorted(found, key=lambda span: (span.first, span.square))


@dataclass(frozen=True, slots=True)
class Film:
    """A game's SVG element, and the painted pieces by element name. `painted` ignores the numbers on stones."""

    svg: str
    painted: Mapping[str, Token]


def write_film(views: Sequence[BoardView], title: str = "") -> Film:
    """Return the film of the positions `views` (at least one)."""
    painter = BoardPainter.of(views[-1])
    board = _empty_board(painter)
    last = len(views) - 1
    camera = _Camera(painter, views[-1].surface, last)
    stays = spans([view.tokens for view in views], [view.changed for view in views])
    pieces = "\n".join(camera.pieces(stays))
    marks = camera.marks(spans([view.marks for view in views]))
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="film" role="img" font-family="{FONT}" '
        f'viewBox="0 0 {board.width} {board.height}" data-last="{last}" data-cell="{painter.cell}" '
        f'data-margin="{LABELS}">\n'
        f"<title>{content(title)}</title>\n<defs>\n{camera.definitions()}\n</defs>\n{board.elements}\n"
        f"{pieces}\n{marks}\n</svg>\n"
    )
    return Film(svg, camera.painted)


class _EmptyBoard(NamedTuple):
    width: int
    height: int
    elements: str


@lru_cache(maxsize=32)
def _empty_board(painter: BoardPainter) -> _EmptyBoard:
    """Shared by a contest's positions."""
    scene = painter.board()
    return _EmptyBoard(scene.width, scene.height, write_grouped(scene.items))


def write_still(painter: BoardPainter, view: BoardView, title: str, prefix: str) -> str:
    """Return a position for a script: a piece has `data-at="X Y"` instead of steps.

    `prefix` makes element names unique in the page.
    """
    board = _empty_board(painter)
    camera = _Camera(painter, view.surface, 0, prefix)
    pieces = "".join(camera.pieces(spans([view.tokens])))
    marks = camera.marks(spans([view.marks]))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="film" role="img" font-family="{FONT}" '
        f'viewBox="0 0 {board.width} {board.height}"><title>{content(title)}</title>\n'
        f"<defs>{camera.definitions()}</defs>{board.elements}\n"
        f'<g class="pieces">{pieces}</g>\n{marks}</svg>'
    )


class _Camera:
    """Paints each different piece once and places it. A `prefix` selects a position instead of a film."""

    def __init__(self, painter: BoardPainter, surface: Surface, last: int, prefix: str = "") -> None:
        self.painted: dict[str, Token] = {}
        self._prefix = prefix
        self._painter = painter
        self._has_fields = surface is Surface.CHEQUERED
        self._last = last
        self._names: dict[str, str] = {}

    def pieces(self, there: Sequence[Span[Token]]) -> Iterator[str]:
        groups: dict[tuple[str, str], list[str]] = {}
        cell = self._painter.cell
        for span in there:
            name, drawing = self._define_thing(span.thing, span.square)
            self.painted.setdefault(name, span.thing)
            x, y = span.square[0] * cell + drawing.right, span.square[1] * cell + drawing.down
            place = f'transform="translate({x} {y})" {self._stay(span)}'
            group = groups.setdefault((name, drawing.style), [])
            group.append(f'<g {place}><use href="#{name}"/>{drawing.text}</g>')
        for (_, style), group in groups.items():
            yield f"<g{style}>{''.join(group)}</g>"

    def _stay(self, span: Span[Token]) -> str:
        if self._prefix:
            return f'data-at="{span.square[0]} {span.square[1]}"'
        if span.last == self._last:
            return f'data-s="{span.first}"'
        return f'data-s="{span.first} {span.last}" class="off"'

    def marks(self, there: Sequence[Span[Mark]]) -> str:
        cell, listed, shown = self._painter.cell, [], []
        for span in there:
            name, _ = self._define_thing(span.thing, span.square)
            x, y = span.square
            listed.append(f"{name} {x} {y} {span.first}{f' {span.last}' if span.last > span.first else ''}")
            if span.last == self._last:
                shown.append(f'<use href="#{name}" x="{x * cell + LABELS}" y="{y * cell + LABELS}"/>')
        all_ = "" if self._prefix else f' data-marks="{";".join(listed)}"'
        return f'<g class="marks"{all_}>{"".join(shown)}</g>'

    def definitions(self) -> str:
        return "\n".join(f'<g id="{name}">{elements}</g>' for elements, name in self._names.items())

    def _define_thing(self, thing: Token | Mark, square: Square) -> tuple[str, "_Drawing"]:
        drawing = _draw_thing(self._painter, thing, sum(square) % 2 if self._has_fields else 0)
        return self._names.setdefault(drawing.shapes, f"{self._prefix}p{len(self._names)}"), drawing


class _Drawing(NamedTuple):
    """Elements without text, the text, its style, and the place of both in a square."""

    shapes: str
    text: str
    style: str
    right: int
    down: int


@lru_cache(maxsize=4096)
def _draw_thing(painter: BoardPainter, thing: Token | Mark, field: int) -> _Drawing:
    square = (field, 0)
    painted = painter.mark(square, thing) if isinstance(thing, Mark) else painter.token(square, thing)
    items = [moved(item, -field * painter.cell, 0) for item in painted]
    texts = [item for item in items if isinstance(item, Text)]
    text = texts[0] if len(texts) == 1 else None
    right, down = (LABELS, LABELS) if text is None else middle_of_text(text)
    shapes = write_items(moved(item, -right, -down) for item in items if item is not text)
    if text is None:
        return _Drawing(shapes, "", "", right, down)
    return _Drawing(shapes, f"<text>{content(text.text)}</text>", text_style(text), right, down)
