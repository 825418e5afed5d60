"""A whole game as one SVG in which every piece says at which steps it stands there, so that stepping draws nothing.

A piece is painted once and placed as often as it stands anywhere: the size of the film grows with the moves and not
with moves times pieces. What stands at the last step is shown; everything else has the class `off`. A placed piece or
mark has `data-s="FIRST LAST"`: the steps, from 0, at which it is there.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from judge.records.views import BoardView, Mark, Square, Surface, Token
from judge.render.board import BOARD_PIXELS, BarePainter
from judge.render.shapes import Item
from judge.render.svg import FONT, content, write_items

Thing = TypeVar("Thing", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Span(Generic[Thing]):
    """Something on a square from step `first` to step `last`, both included."""

    square: Square
    thing: Thing
    first: int
    last: int


def spans(steps: Sequence[Mapping[Square, Thing]]) -> list[Span[Thing]]:
    """When what stood where, in the order in which it came."""
    since: dict[Square, tuple[Thing, int]] = {}
    found: list[Span[Thing]] = []
    for number, there in enumerate(steps):
        for square, (thing, first) in list(since.items()):
            if there.get(square) != thing:
                found.append(Span(square, thing, first, number - 1))
                del since[square]
        for square, thing in there.items():
            if square not in since:
                since[square] = (thing, number)
    last = len(steps) - 1
    found += [Span(square, thing, first, last) for square, (thing, first) in since.items()]
    return sorted(found, key=lambda span: (span.first, span.square))


def write_film(views: Sequence[BoardView], title: str = "", pixels: int = BOARD_PIXELS) -> str:
    """The SVG element of a game whose positions are `views` (at least one), to stand in a page."""
    painter = BarePainter(views[-1], pixels)
    scene = painter.board()
    last = len(views) - 1
    film = _Film(painter, views[-1].surface, last)
    pieces = "\n".join(film.pieces(spans([view.tokens for view in views])))
    marks = "\n".join(film.marks(spans([view.marks for view in views])))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="film" data-last="{last}" '
        f'viewBox="0 0 {scene.width} {scene.height}" role="img" font-family="{FONT}">\n'
        f"<title>{content(title)}</title>\n"
        f"<defs>\n{film.definitions()}\n</defs>\n{write_items(scene.items)}\n{pieces}\n{marks}\n</svg>\n"
    )


class _Film:
    """Paints each different piece once, in a corner of the board, and places it from there."""

    def __init__(self, painter: BarePainter, surface: Surface, last: int) -> None:
        self._painter = painter
        self._has_fields = surface is Surface.CHEQUERED
        self._last = last
        self._names: dict[tuple[Token | Mark, Square], str] = {}
        self._painted: list[str] = []

    def pieces(self, there: Sequence[Span[Token]]) -> Iterator[str]:
        """Each stay of each piece."""
        for span in there:
            yield self._placed(span, self._painter.token)

    def marks(self, there: Sequence[Span[Mark]]) -> Iterator[str]:
        """Each mark."""
        for span in there:
            yield self._placed(span, self._painter.mark)

    def definitions(self) -> str:
        """What was painted for all that was placed."""
        return "\n".join(self._painted)

    def _placed(self, span: Span[Any], paint: Callable[[Square, Any], Sequence[Item]]) -> str:
        x, y = span.square
        # A piece may be painted otherwise on a dark field than on a light one.
        corner = ((x + y) % 2 if self._has_fields else 0, 0)
        name = self._names.get((span.thing, corner))
        if name is None:
            name = f"p{len(self._names)}"
            self._names[span.thing, corner] = name
            self._painted.append(f'<g id="{name}">{write_items(paint(corner, span.thing))}</g>')
        cell = self._painter.cell
        off = "" if span.last == self._last else ' class="off"'
        return (
            f'<use href="#{name}" x="{(x - corner[0]) * cell}" y="{(y - corner[1]) * cell}" '
            f'data-s="{span.first} {span.last}"{off}/>'
        )
