"""What a picture consists of: shapes in paint order, in pixels from the top left; no board and no file format."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Point = tuple[float, float]
Colour = str
"""`#rrggbb`."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle with corners of `radius`."""

    x: float
    y: float
    width: float
    height: float
    fill: Colour
    radius: float = 0
    stroke: Colour | None = None
    stroke_width: float = 0


@dataclass(frozen=True, slots=True)
class Disc:
    """A circle; without `fill` a ring."""

    x: float
    y: float
    radius: float
    fill: Colour | None
    stroke: Colour | None = None
    stroke_width: float = 0


@dataclass(frozen=True, slots=True)
class Shape:
    """A closed polygon."""

    points: Sequence[Point]
    fill: Colour | None
    stroke: Colour | None = None
    stroke_width: float = 0


@dataclass(frozen=True, slots=True)
class Stroke:
    """A straight stroke with round ends."""

    start: Point
    end: Point
    colour: Colour
    width: float


@dataclass(frozen=True, slots=True)
class Text:
    """One line, its middle at height `y`; `anchor` says which of its points stands at `x`."""

    x: float
    y: float
    text: str
    size: float
    colour: Colour
    anchor: Literal["start", "middle", "end"] = "middle"


Item = Rectangle | Disc | Shape | Stroke | Text


@dataclass(slots=True)
class Scene:
    """A picture of `width` x `height` pixels."""

    width: int
    height: int
    items: list[Item] = field(default_factory=list)
