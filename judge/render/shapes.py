"""Shapes of a picture in paint order, in pixels from the top left."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
    """A line of text with its middle at `y`; `anchor` is its alignment at `x`."""

    x: float
    y: float
    text: str
    size: float
    colour: Colour
    anchor: Literal["start", "middle", "end"] = "middle"


Item = Rectangle | Disc | Shape | Stroke | Text


def moved(item: Item, x: float, y: float) -> Item:
    """Return the shape moved right by `x` and down by `y`."""
    match item:
        case Shape():
            return replace(item, points=[(px + x, py + y) for px, py in item.points])
        case Stroke(start=start, end=end):
            return replace(item, start=(start[0] + x, start[1] + y), end=(end[0] + x, end[1] + y))
        case _:
            return replace(item, x=item.x + x, y=item.y + y)


@dataclass(slots=True)
class Scene:
    """A picture of `width` x `height` pixels."""

    width: int
    height: int
    items: list[Item] = field(default_factory=list)
