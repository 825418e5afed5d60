"""Draws a `BoardView` as a scene: names above, the board with coordinates, and a caption below; or as a preview."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from judge.formats.views import BoardView, Face, Mark, Square, Surface, Token
from judge.render.pieces import GLYPHS, glyph_items
from judge.render.shapes import Colour, Disc, Item, Rectangle, Scene, Shape, Stroke, Text, moved

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
    painter = BoardPainter(view, pixels, HEAD, FOOT)
    scene = painter.board()
    scene.items += painter.head(view, words)
    for square, token in view.tokens.items():
        scene.items += painter.token(square, token, view.marks.get(square))
    for square, mark in view.marks.items():
        scene.items += painter.mark(square, mark)
    scene.items += painter.foot(words)
    return scene


class BoardPainter:
    """Paints the boards of one game part by part. All positions share one board and its coordinates."""

    def __init__(self, view: BoardView, pixels: int = BOARD_PIXELS, head: int = 0, foot: int = 0) -> None:
        """`view` is any position of the game; `head` and `foot` are heights around the board."""
        self._surface, self._columns, self._rows, self._blocked = view.surface, view.columns, view.rows, view.blocked
        self._colours = _COLOURS[view.surface]
        self.cell = max(12, pixels // max(len(view.columns), len(view.rows)))
        self._head, self._foot = head, foot
        self._width = self.cell * len(view.columns) + 2 * LABELS
        self._height = self.cell * len(view.rows) + 2 * LABELS + head + foot

    @staticmethod
    def of(view: BoardView) -> "BoardPainter":
        """Return the painter that games of the same board share."""
        return _shared_painter(view.surface, view.columns, view.rows, view.blocked)

    def _corner(self, square: Square) -> tuple[float, float]:
        return LABELS + square[0] * self.cell, self._head + LABELS + square[1] * self.cell

    def _middle(self, square: Square) -> tuple[float, float]:
        x, y = self._corner(square)
        return x + self.cell / 2, y + self.cell / 2

    # --- around the board ----------------------------------------------------------------------------------------

    def head(self, view: BoardView, words: Words) -> Iterator[Item]:
        room = (self._width - 2 * LABELS) // 2 - 34
        for side, (x, anchor, step) in enumerate(((LABELS, "start", 1), (self._width - LABELS, "end", -1))):
            fill, edge = self._colours.fill[side], self._colours.edge[side]
            yield Disc(x + step * 11, 36, 10, fill, edge, 1.2)
            shown = cut_to_width(words.names[view.seats[side]], room, 19)
            yield Text(x + step * 30, 36, shown, 19, _INK, "start" if anchor == "start" else "end")

    def foot(self, words: Words) -> Iterator[Item]:
        y = self._height - self._foot / 2 - 3
        caption = cut_to_width(words.caption, self._width - 3 * LABELS - len(words.corner) * 9, 15)
        yield Text(LABELS, y, caption, 15, _INK, "start")
        yield Text(self._width - LABELS, y, words.corner, 15, _FAINT, "end")

    def _labels(self) -> Iterator[Item]:
        size = min(13.0, self.cell * 0.42)
        left, top = self._corner((0, 0))
        right, bottom = self._corner((len(self._columns), len(self._rows)))
        for x, name in enumerate(self._columns):
            middle = self._middle((x, 0))[0]
            for y in (top - LABELS / 2, bottom + LABELS / 2):
                yield Text(middle, y, name, size, _FAINT)
        for row, name in enumerate(self._rows):
            middle = self._middle((0, row))[1]
            for at in (left - LABELS / 2, right + LABELS / 2):
                yield Text(at, middle, name, size, _FAINT)

    # --- the board -----------------------------------------------------------------------------------------------

    def board(self) -> Scene:
        """Return paper, coordinates and the empty board."""
        paper = Rectangle(0, 0, self._width, self._height, _PAPER)
        ground = self._lines() if self._surface is Surface.LINES else self._squares()
        return Scene(self._width, self._height, [paper, *self._labels(), *ground])

    def _lines(self) -> Iterator[Item]:
        cell, columns, rows = self.cell, len(self._columns), len(self._rows)
        x, y = self._corner((0, 0))
        yield Rectangle(x, y, columns * cell, rows * cell, GROUNDS[Surface.LINES][0], 6)
        for column in range(columns):
            yield Stroke(self._middle((column, 0)), self._middle((column, rows - 1)), LINE, 1)
        for row in range(rows):
            yield Stroke(self._middle((0, row)), self._middle((columns - 1, row)), LINE, 1)
        if columns == rows and columns in (15, 19):
            near, middle, far = 3, columns // 2, columns - 4
            for star in ((near, near), (far, near), (middle, middle), (near, far), (far, far)):
                yield Disc(*self._middle(star), max(2.0, cell * 0.09), "#5e421c")

    def _squares(self) -> Iterator[Item]:
        cell, colours = self.cell, GROUNDS[self._surface]
        for y in range(len(self._rows)):
            for x in range(len(self._columns)):
                yield Rectangle(*self._corner((x, y)), cell, cell, colours[(x + y) % 2])
        for square in self._blocked:
            left, top = self._corner(square)
            yield Rectangle(left, top, cell, cell, LAKE)
            for height in (0.36, 0.62):
                y_of_wave = top + cell * height
                points = [(left + cell * at, y_of_wave + cell * up) for at, up in _WAVE]
                for start, end in pairwise(points):
                    yield Stroke(start, end, "#e8f5fa", max(1.5, cell * 0.04))

    # --- pieces and marks ----------------------------------------------------------------------------------------

    def token(self, square: Square, token: Token, mark: Mark | None = None) -> Iterator[Item]:
        """Return the piece on a square; stones with some marks have another ink."""
        if not token.faces:
            return self._stone(square, token, mark)
        return self._soldier(square, token) if self._surface is Surface.SQUARES else self._piece(square, token)

    def _stone(self, square: Square, token: Token, mark: Mark | None) -> Iterator[Item]:
        x, y = self._middle(square)
        radius = self.cell * 0.46
        yield Disc(x + 1, y + 1.5, radius, "#a9803f")
        yield Disc(x, y, radius, self._colours.fill[token.side], self._colours.edge[token.side], 1)
        ink = _LAST_INK[token.side] if mark is Mark.LAST else self._colours.ink[token.side]
        size = self.cell * (0.46 if token.number < 100 else 0.38)
        yield Text(x, y, str(token.number), size, _FAINT if token.is_dead else ink)

    def _soldier(self, square: Square, token: Token) -> Iterator[Item]:
        left, top = self._corner(square)
        cell, pad = self.cell, self.cell * 0.09
        fill, edge = self._colours.fill[token.side], self._colours.edge[token.side]
        side = cell - 2 * pad
        yield Rectangle(left + pad, top + pad + 1, side, side, edge, cell * 0.12)
        yield Rectangle(left + pad, top + pad - 1, side, side, fill, cell * 0.12)
        name, ink = token.faces[0].name, self._colours.ink[token.side]
        glyph = GLYPHS.get(name)
        if glyph is None:
            yield Text(left + cell / 2, top + cell / 2, name, cell * 0.5, ink)
        else:
            yield from glyph_items(glyph, left + cell * 0.17, top + cell * 0.14, cell * 0.66, ink, fill)

    def _piece(self, square: Square, token: Token) -> Iterator[Item]:
        """A revealed type is large; two open types have the same size."""
        left, top = self._corner(square)
        cell = self.cell
        if token.shows is None:
            start, end = (left + cell * 0.82, top + cell * 0.12), (left + cell * 0.14, top + cell * 0.88)
            yield Stroke(start, end, "#6f7f88" if (square[0] + square[1]) % 2 else "#b9ae98", 1.2)
            yield from self._face(token.faces[0], token.side, left + cell * 0.02, top + cell * 0.01, cell * 0.56)
            yield from self._face(token.faces[-1], token.side, left + cell * 0.42, top + cell * 0.41, cell * 0.56)
            return
        others = [face for number, face in enumerate(token.faces) if number != token.shows]
        shown = token.faces[token.shows]
        if others:
            yield from self._face(shown, token.side, left + cell * 0.01, top + cell * 0.01, cell * 0.82)
            yield from self._face(others[0], token.side, left + cell * 0.62, top + cell * 0.61, cell * 0.36)
        else:
            yield from self._face(shown, token.side, left + cell * 0.06, top + cell * 0.05, cell * 0.88)

    def _face(self, face: Face, side: int, x: float, y: float, size: float) -> Sequence[Item]:
        fill, edge = _HIDDEN[side] if face.is_hidden else (self._colours.fill[side], self._colours.edge[side])
        glyph = GLYPHS.get(face.name)
        if glyph is None:
            return [Text(x + size / 2, y + size / 2, face.name, size * 0.4, edge)]
        return glyph_items(glyph, x, y, size, fill, edge)

    def mark(self, square: Square, mark: Mark) -> Sequence[Item]:
        cell = self.cell
        if self._surface is Surface.LINES:
            radius = cell * (0.25 if mark is Mark.OFFER else 0.46)
            colour = ROW if mark is Mark.ROW else ACCENT
            return [Disc(*self._middle(square), radius, None, colour, max(2.0, cell * 0.085))]
        left, top = self._corner(square)
        width = max(2.5, cell * 0.055)
        half = width / 2
        corners = [
            (left + half, top + half),
            (left + cell - half, top + half),
            (left + cell - half, top + cell - half),
            (left + half, top + cell - half),
        ]
        return [Shape(corners, None, ACCENT, width)]


@lru_cache(maxsize=32)
def _shared_painter(
    surface: Surface, columns: tuple[str, ...], rows: tuple[str, ...], blocked: frozenset[Square]
) -> BoardPainter:
    return BoardPainter(BoardView(surface, columns, rows, {}, ("", ""), blocked=blocked))


_LAST_INK = ("#ff8a80", "#c62828")
_HIDDEN = (("#e6e2da", "#8d8677"), ("#77716a", "#4a4640"))

_WAVE = ((0.18, 0.0), (0.28, -0.06), (0.38, 0.0), (0.48, 0.06), (0.58, 0.0), (0.68, -0.06), (0.82, 0.0))


def draw_card(view: BoardView, names: tuple[str, str], scores: tuple[str, str], title: str) -> Scene:
    """Return a game's preview picture (Open Graph); `names` and `scores` are by seat, `title` is the contest's name."""
    width, height, margin = 1200, 630, 48
    painter = BoardPainter(view, 520)
    board = painter.board()
    for square, token in view.tokens.items():
        board.items += painter.token(square, token)
    for square, mark in view.marks.items():
        board.items += painter.mark(square, mark)
    top = (height - board.height) / 2
    left = top + board.width + margin
    room = width - left - margin
    scene = Scene(width, height, [Rectangle(0, 0, width, height, _PAPER)])
    scene.items += (moved(item, top, top) for item in board.items)
    scene.items.append(Text(left, 120, cut_to_width(title, room, 30), 30, "#69645c", "start"))
    fills, edges = SIDES[view.surface]
    for side, y in enumerate((260, 400)):
        seat = view.seats[side]
        scene.items += [
            Disc(left + 20, y, 20, fills[side], edges[side], 2),
            Text(left + 60, y, cut_to_width(names[seat], room - 150, 44), 44, _INK, "start"),
            Text(width - margin, y, scores[seat], 60, _INK, "end"),
        ]
    return scene


def cut_to_width(text: str, pixels: float, size: float) -> str:
    """Return `text`, shortened to about `pixels` at a font size."""
    most = max(1, int(pixels / (size * 0.52)))
    return text if len(text) <= most else text[: most - 1] + "…"
