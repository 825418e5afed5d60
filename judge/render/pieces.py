"""Silhouettes of chess pieces, a bomb and a flag: polygons and discs in a unit square, y downwards.

They are not from a font, so they look the same everywhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

from judge.render.shapes import Colour, Disc, Item, Point, Shape, Stroke


@dataclass(frozen=True, slots=True)
class Glyph:
    """Parts in paint order: polygons, or discs (x, y, radius); `details` are strokes."""

    parts: Sequence[Sequence[Point] | tuple[float, float, float]]
    details: Sequence[tuple[Point, Point]] = ()


def glyph_items(glyph: Glyph, x: float, y: float, size: float, fill: Colour | None, edge: Colour) -> list[Item]:
    """Return the glyph in a square of `size` pixels; its outline without `fill`."""
    width = max(1.0, size * 0.035)
    items: list[Item] = []
    for part in glyph.parts:
        match part:
            case (float(cx), float(cy), float(radius)):
                items.append(Disc(x + cx * size, y + cy * size, radius * size, fill, edge, width))
            case points:
                placed = [(x + p[0] * size, y + p[1] * size) for p in points]
                items.append(Shape(placed, fill, edge, width))
    for (x1, y1), (x2, y2) in glyph.details:
        start, end = (x + x1 * size, y + y1 * size), (x + x2 * size, y + y2 * size)
        items.append(Stroke(start, end, edge, width))
    return items


def _mirrored(*half: Point) -> tuple[Point, ...]:
    return (*half, *((1 - x, y) for x, y in reversed(half)))


_ARC = [(0.5 + 0.17 * cos(n / 16 * pi), 0.42 + 0.15 * sin(n / 16 * pi)) for n in range(17)]
_BASE = _mirrored((0.24, 0.80), (0.20, 0.84), (0.20, 0.91))

_PAWN = Glyph(
    (
        _mirrored((0.44, 0.44), (0.42, 0.58), (0.36, 0.70), (0.27, 0.81)),
        _mirrored((0.37, 0.43), (0.35, 0.49)),
        (0.5, 0.31, 0.135),
        _BASE,
    )
)
_ROOK = Glyph(
    (
        _mirrored((0.36, 0.38), (0.34, 0.66), (0.28, 0.81)),
        _mirrored(
            (0.44, 0.24), (0.44, 0.18), (0.37, 0.18), (0.37, 0.24), (0.31, 0.24), (0.31, 0.18),
            (0.25, 0.18), (0.25, 0.34), (0.31, 0.39),
        ),
        _BASE,
    ),
    (((0.36, 0.47), (0.64, 0.47)), ((0.33, 0.70), (0.67, 0.70))),
)  # fmt: skip
_BISHOP = Glyph(
    (
        _mirrored((0.43, 0.54), (0.40, 0.66), (0.28, 0.81)),
        (*_ARC, (0.345, 0.34), (0.42, 0.25), (0.5, 0.18), (0.58, 0.25), (0.655, 0.34)),
        _mirrored((0.36, 0.55), (0.34, 0.60)),
        (0.5, 0.15, 0.05),
        _BASE,
    ),
    (((0.5, 0.28), (0.5, 0.44)), ((0.43, 0.36), (0.57, 0.36))),
)  # fmt: skip
_KNIGHT = Glyph(
    (
        (
            (0.39, 0.13), (0.45, 0.20), (0.55, 0.19), (0.66, 0.25), (0.74, 0.36), (0.77, 0.52), (0.76, 0.68),
            (0.73, 0.81), (0.29, 0.81), (0.31, 0.72), (0.37, 0.64), (0.46, 0.57), (0.49, 0.48), (0.42, 0.50),
            (0.35, 0.52), (0.31, 0.58), (0.25, 0.61), (0.20, 0.57), (0.19, 0.51), (0.24, 0.43), (0.29, 0.35),
            (0.34, 0.25),
        ),
        _BASE,
    ),
    (((0.385, 0.31), (0.40, 0.315)), ((0.62, 0.29), (0.69, 0.42)), ((0.69, 0.42), (0.70, 0.62)),
     ((0.235, 0.535), (0.245, 0.53))),
)  # fmt: skip
_QUEEN = Glyph(
    (
        (
            (0.17, 0.30), (0.30, 0.51), (0.33, 0.22), (0.435, 0.48), (0.5, 0.18), (0.565, 0.48), (0.67, 0.22),
            (0.70, 0.51), (0.83, 0.30), (0.74, 0.66), (0.70, 0.81), (0.30, 0.81), (0.26, 0.66),
        ),
        (0.17, 0.27, 0.045),
        (0.33, 0.19, 0.045),
        (0.5, 0.15, 0.045),
        (0.67, 0.19, 0.045),
        (0.83, 0.27, 0.045),
        _BASE,
    ),
    (((0.28, 0.69), (0.72, 0.69)),),
)  # fmt: skip
_KING = Glyph(
    (
        ((0.465, 0.34), (0.465, 0.22), (0.38, 0.22), (0.38, 0.15), (0.465, 0.15), (0.465, 0.07), (0.535, 0.07),
         (0.535, 0.15), (0.62, 0.15), (0.62, 0.22), (0.535, 0.22), (0.535, 0.34)),
        (
            (0.5, 0.44), (0.44, 0.35), (0.33, 0.32), (0.22, 0.37), (0.18, 0.47), (0.21, 0.58), (0.29, 0.69),
            (0.28, 0.81), (0.72, 0.81), (0.71, 0.69), (0.79, 0.58), (0.82, 0.47), (0.78, 0.37), (0.67, 0.32),
            (0.56, 0.35),
        ),
        _BASE,
    ),
    (((0.29, 0.69), (0.71, 0.69)), ((0.5, 0.44), (0.5, 0.68))),
)  # fmt: skip
_BOMB = Glyph(
    (((0.60, 0.25), (0.67, 0.18), (0.77, 0.28), (0.70, 0.35)), (0.45, 0.56, 0.34)), (((0.30, 0.47), (0.36, 0.40)),)
)
_FLAG = Glyph(
    (
        ((0.33, 0.16), (0.56, 0.22), (0.80, 0.18), (0.76, 0.35), (0.80, 0.52), (0.56, 0.55), (0.33, 0.50)),
        ((0.27, 0.13), (0.33, 0.13), (0.33, 0.88), (0.27, 0.88)),
    )
)  # fmt: skip

GLYPHS: Mapping[str, Glyph] = {
    "pawn": _PAWN,
    "rook": _ROOK,
    "bishop": _BISHOP,
    "knight": _KNIGHT,
    "queen": _QUEEN,
    "king": _KING,
    "B": _BOMB,
    "F": _FLAG,
}
