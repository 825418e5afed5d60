"""Draws a `BoardView` as a scene: names above, the board with coordinates, and a caption below."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from judge.formats.views import BoardView, Face, Mark, Square, Surface, Token
from judge.render.pieces import GLYPHS, glyph_items
from judge.render.shapes import Colour, Disc, Item, Rectangle, Scene, Shape, Stroke, Text

BOARD_PIXELS = 680
"""Approximate width."""

LABELS, HEAD, FOOT = 26, 58, 44

_PAPER, _INK, _FAINT = "#f7f5f0", "#26231f", "#8a847a"
ACCENT, ROW = "#d7372f", "#2f9e44"
LINE, LAKE = "#7d5a2b", "#8fc1d8"


@dataclass(frozen=True, slots=True)
class Colours:
    """Fill, edge and text colours of the sides' pieces."""

    fill: tuple[Colour, Colour]
    edge: tuple[Colour, Colour]
    ink: tuple[Colour, Colour]


_COLOURS = {
    Surface.LINES: Colours(("#1d1b19", "#fdfcf8"), ("#000000", "#8d8677"), ("#f5f2ea", "#26231f")),
    Surface.SQUARES: Colours(("#c8433a", "#2f6db3"), ("#7f221c", "#1b4272"), ("#ffffff", "#ffffff")),
    Surface.CHEQUERED: Colours(("#fffdf7", "#35322e"), ("#35322e", "#0f0e0d"), ("#26231f", "#ffffff")),
}

GROUNDS = {
    Surface.LINES: ("#e2b873", "#e2b873"),
    Surface.SQUARES: ("#dfe6cf", "#d5ddc3"),
    Surface.CHEQUERED: ("#ece5d5", "#93a8b4"),
}
"""Colours of light and dark squares."""

SIDES = {surface: (colours.fill, colours.edge) for surface, colours in _COLOURS.items()}


@dataclass(frozen=True, slots=True)
class Words:
    """The texts around a board."""

    names: tuple[str, str]
    caption: str = ""
    corner: str = ""


def draw_board(view: BoardView, words: Words, pixels: int = BOARD_PIXELS) -> Scene:
    """Return a position's picture; `pixels` is the board's approximate width."""
    return _Painter(view, pixels, HEAD, FOOT).paint(words)


class BarePainter:
    """Paints boards of one game part by part, for callers that move pieces themselves.

    All positions share one board and its coordinates.
    """

    def __init__(self, view: BoardView, pixels: int = BOARD_PIXELS) -> None:
        """`view` is any position of the game."""
        self._view = replace(view, tokens={}, marks={})
        self._pixels = pixels
        self.cell = self._painter().cell

    @staticmethod
    def of(view: BoardView) -> "BarePainter":
        """Return the painter that games of the same board share."""
        return _shared_painter(view.surface, view.columns, view.rows, view.blocked)

    def board(self) -> Scene:
        """Return paper, coordinates and the empty board."""
        painter = self._painter()
        painter.paint_board()
        return painter.scene

    def token(self, square: Square, token: Token) -> Sequence[Item]:
        """Return the piece on a square."""
        painter = self._painter()
        painter.paint_token(square, token)
        return painter.scene.items

    def mark(self, square: Square, mark: Mark) -> Sequence[Item]:
        """Return the mark of a square."""
        painter = self._painter()
        painter.paint_mark(square, mark)
        return painter.scene.items

    def _painter(self) -> "_Painter":
        return _Painter(self._view, self._pixels, 0, 0)


@lru_cache(maxsize=32)
def _shared_painter(
    surface: Surface, columns: tuple[str, ...], rows: tuple[str, ...], blocked: frozenset[Square]
) -> BarePainter:
    return BarePainter(BoardView(surface, columns, rows, {}, ("", ""), blocked=blocked))


class _Painter:
    def __init__(self, view: BoardView, pixels: int, head: int, foot: int) -> None:
        self._view = view
        self.cell = max(12, pixels // max(len(view.columns), len(view.rows)))
        self._colours = _COLOURS[view.surface]
        self._head, self._foot = head, foot
        self._width = self.cell * len(view.columns) + 2 * LABELS
        height = self.cell * len(view.rows) + 2 * LABELS + head + foot
        self.scene = Scene(self._width, height)

    def paint(self, words: Words) -> Scene:
        self.paint_board()
        self._paint_head(words)
        for square, token in self._view.tokens.items():
            self.paint_token(square, token)
        for square, mark in self._view.marks.items():
            self.paint_mark(square, mark)
        self._paint_foot(words)
        return self.scene

    def paint_board(self) -> None:
        self._add(Rectangle(0, 0, self.scene.width, self.scene.height, _PAPER))
        self._paint_labels()
        if self._view.surface is Surface.LINES:
            self._paint_lines()
        else:
            self._paint_squares()

    def _add(self, *items: Item) -> None:
        self.scene.items.extend(items)

    def _corner(self, square: Square) -> tuple[float, float]:
        return LABELS + square[0] * self.cell, self._head + LABELS + square[1] * self.cell

    def _middle(self, square: Square) -> tuple[float, float]:
        x, y = self._corner(square)
        return x + self.cell / 2, y + self.cell / 2

    # --- around the board ----------------------------------------------------------------------------------------

    def _paint_head(self, words: Words) -> None:
        room = (self._width - 2 * LABELS) // 2 - 34
        for side, (x, anchor, step) in enumerate(((LABELS, "start", 1), (self._width - LABELS, "end", -1))):
            name = words.names[self._view.seats[side]]
            fill, edge = self._colours.fill[side], self._colours.edge[side]
            self._add(Disc(x + step * 11, 36, 10, fill, edge, 1.2))
            shown = cut_to_width(name, room, 19)
            self._add(Text(x + step * 30, 36, shown, 19, _INK, "start" if anchor == "start" else "end"))

    def _paint_foot(self, words: Words) -> None:
        y = self.scene.height - self._foot / 2 - 3
        corner_width = len(words.corner) * 9
        caption = cut_to_width(words.caption, self._width - 3 * LABELS - corner_width, 15)
        self._add(Text(LABELS, y, caption, 15, _INK, "start"))
        self._add(Text(self._width - LABELS, y, words.corner, 15, _FAINT, "end"))

    def _paint_labels(self) -> None:
        view, size = self._view, min(13.0, self.cell * 0.42)
        left, top = self._corner((0, 0))
        right, bottom = self._corner((len(view.columns), len(view.rows)))
        for x, name in enumerate(view.columns):
            middle = self._middle((x, 0))[0]
            for y in (top - LABELS / 2, bottom + LABELS / 2):
                self._add(Text(middle, y, name, size, _FAINT))
        for row, name in enumerate(view.rows):
            middle = self._middle((0, row))[1]
            for at in (left - LABELS / 2, right + LABELS / 2):
                self._add(Text(at, middle, name, size, _FAINT))

    # --- the board -----------------------------------------------------------------------------------------------

    def _paint_lines(self) -> None:
        view, cell = self._view, self.cell
        columns, rows = len(view.columns), len(view.rows)
        x, y = self._corner((0, 0))
        self._add(Rectangle(x, y, columns * cell, rows * cell, GROUNDS[Surface.LINES][0], 6))
        for column in range(columns):
            self._add(Stroke(self._middle((column, 0)), self._middle((column, rows - 1)), LINE, 1))
        for row in range(rows):
            self._add(Stroke(self._middle((0, row)), self._middle((columns - 1, row)), LINE, 1))
        for star in _stars(columns, rows):
            self._add(Disc(*self._middle(star), max(2.0, cell * 0.09), "#5e421c"))

    def _paint_squares(self) -> None:
        view, cell = self._view, self.cell
        colours = GROUNDS[view.surface]
        for y in range(len(view.rows)):
            for x in range(len(view.columns)):
                left, top = self._corner((x, y))
                self._add(Rectangle(left, top, cell, cell, colours[(x + y) % 2]))
        for square in view.blocked:
            left, top = self._corner(square)
            self._add(Rectangle(left, top, cell, cell, LAKE))
            self._paint_wave(left, top)

    def _paint_wave(self, left: float, top: float) -> None:
        cell = self.cell
        for height in (0.36, 0.62):
            y = top + cell * height
            points = [(left + cell * at, y + cell * up) for at, up in _WAVE]
            for start, end in pairwise(points):
                self._add(Stroke(start, end, "#e8f5fa", max(1.5, cell * 0.04)))

    # --- pieces --------------------------------------------------------------------------------------------------

    def paint_token(self, square: Square, token: Token) -> None:
        if not token.faces:
            self._paint_stone(square, token)
        elif self._view.surface is Surface.SQUARES:
            self._paint_soldier(square, token)
        else:
            self._paint_piece(square, token)

    def _paint_stone(self, square: Square, token: Token) -> None:
        x, y = self._middle(square)
        radius = self.cell * 0.46
        fill, edge = self._colours.fill[token.side], self._colours.edge[token.side]
        self._add(Disc(x + 1, y + 1.5, radius, "#a9803f"), Disc(x, y, radius, fill, edge, 1))
        mark = self._view.marks.get(square)
        ink = _LAST_INK[token.side] if mark is Mark.LAST else self._colours.ink[token.side]
        size = self.cell * (0.46 if token.number < 100 else 0.38)
        self._add(Text(x, y, str(token.number), size, _FAINT if token.is_dead else ink))

    def _paint_soldier(self, square: Square, token: Token) -> None:
        left, top = self._corner(square)
        cell, pad = self.cell, self.cell * 0.09
        fill, edge = self._colours.fill[token.side], self._colours.edge[token.side]
        side = cell - 2 * pad
        self._add(Rectangle(left + pad, top + pad + 1, side, side, edge, cell * 0.12))
        self._add(Rectangle(left + pad, top + pad - 1, side, side, fill, cell * 0.12))
        name, ink = token.faces[0].name, self._colours.ink[token.side]
        glyph = GLYPHS.get(name)
        if glyph is None:
            self._add(Text(left + cell / 2, top + cell / 2, name, cell * 0.5, ink))
        else:
            self._add(*glyph_items(glyph, left + cell * 0.17, top + cell * 0.14, cell * 0.66, ink, fill))

    def _paint_piece(self, square: Square, token: Token) -> None:
        """A revealed type is large; two open types have the same size."""
        left, top = self._corner(square)
        cell = self.cell
        if token.shows is None:
            first, second = token.faces[0], token.faces[-1]
            self._add(
                Stroke(
                    (left + cell * 0.82, top + cell * 0.12),
                    (left + cell * 0.14, top + cell * 0.88),
                    "#6f7f88" if (square[0] + square[1]) % 2 else "#b9ae98",
                    1.2,
                )
            )
            self._paint_face(first, token.side, left + cell * 0.02, top + cell * 0.01, cell * 0.56)
            self._paint_face(second, token.side, left + cell * 0.42, top + cell * 0.41, cell * 0.56)
            return
        others = [face for number, face in enumerate(token.faces) if number != token.shows]
        shown = token.faces[token.shows]
        if others:
            self._paint_face(shown, token.side, left + cell * 0.01, top + cell * 0.01, cell * 0.82)
            self._paint_face(others[0], token.side, left + cell * 0.62, top + cell * 0.61, cell * 0.36)
        else:
            self._paint_face(shown, token.side, left + cell * 0.06, top + cell * 0.05, cell * 0.88)

    def _paint_face(self, face: Face, side: int, x: float, y: float, size: float) -> None:
        fill, edge = self._colours.fill[side], self._colours.edge[side]
        if face.is_hidden:
            fill, edge = _HIDDEN[side]
        glyph = GLYPHS.get(face.name)
        if glyph is None:
            self._add(Text(x + size / 2, y + size / 2, face.name, size * 0.4, edge))
        else:
            self._add(*glyph_items(glyph, x, y, size, fill, edge))

    # --- marks ---------------------------------------------------------------------------------------------------

    def paint_mark(self, square: Square, mark: Mark) -> None:
        if self._view.surface is Surface.LINES:
            self._mark_crossing(square, mark)
        else:
            self._mark_square(square)

    def _mark_crossing(self, square: Square, mark: Mark) -> None:
        x, y = self._middle(square)
        colour = ROW if mark is Mark.ROW else ACCENT
        width = max(2.0, self.cell * 0.085)
        radius = self.cell * (0.25 if mark is Mark.OFFER else 0.46)
        self._add(Disc(x, y, radius, None, colour, width))

    def _mark_square(self, square: Square) -> None:
        left, top = self._corner(square)
        cell, width = self.cell, max(2.5, self.cell * 0.055)
        half = width / 2
        corners = [
            (left + half, top + half),
            (left + cell - half, top + half),
            (left + cell - half, top + cell - half),
            (left + half, top + cell - half),
        ]
        self._add(Shape(corners, None, ACCENT, width))


_LAST_INK = ("#ff8a80", "#c62828")
_HIDDEN = (("#e6e2da", "#8d8677"), ("#77716a", "#4a4640"))

_WAVE = ((0.18, 0.0), (0.28, -0.06), (0.38, 0.0), (0.48, 0.06), (0.58, 0.0), (0.68, -0.06), (0.82, 0.0))


def _stars(columns: int, rows: int) -> Iterable[Square]:
    if columns != rows or columns not in (15, 19):
        return ()
    near, middle, far = 3, columns // 2, columns - 4
    return ((near, near), (far, near), (middle, middle), (near, far), (far, far))


def cut_to_width(text: str, pixels: float, size: float) -> str:
    """Return `text`, shortened to about `pixels` at a font size."""
    most = max(1, int(pixels / (size * 0.52)))
    return text if len(text) <= most else text[: most - 1] + "…"
