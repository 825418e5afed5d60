"""Writes a scene as SVG with escaped texts, without scripts or external references."""

from collections.abc import Callable, Iterable, Mapping
from html import escape
from itertools import groupby
from typing import Any

from judge.base.text import printable
from judge.render.shapes import Disc, Item, Rectangle, Scene, Shape, Stroke, Text

FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"

_TO_BASELINE = 0.355
"""Middle of capitals and digits above the baseline, in font sizes."""


def write_svg(scene: Scene, title: str = "") -> str:
    """Return the file; `title` is for screen readers."""
    body = write_items(scene.items)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{scene.width}" height="{scene.height}" '
        f'viewBox="0 0 {scene.width} {scene.height}" role="img" font-family="{FONT}">\n'
        f"<title>{content(title)}</title>\n{body}\n</svg>\n"
    )


def write_items(items: Iterable[Item]) -> str:
    """Return the elements of `items`, one per line."""
    return "\n".join(_WRITERS[type(item)](item) for item in items)


def write_grouped(items: Iterable[Item]) -> str:
    """Like `write_items`, in less than half the bytes: neighbouring texts or lines of one style share a group."""
    parts = []
    for style, group in groupby(items, _style):
        if not style:
            parts.append(write_items(group))
            continue
        inner = "".join(_write_place(item) for item in group if isinstance(item, Text | Stroke))
        parts.append(f"<g {style}>{inner}</g>")
    return "\n".join(parts)


def _style(item: Item) -> str:
    match item:
        case Text():
            rest = {"font-size": item.size, "text-anchor": item.anchor, "fill": item.colour}
            return f'{_attributes(rest)} xml:space="preserve"'
        case Stroke():
            rest = {"stroke": item.colour, "stroke-width": item.width, "stroke-linecap": "round"}
            return _attributes(rest)
        case _:
            return ""


def _write_place(item: Text | Stroke) -> str:
    if isinstance(item, Stroke):
        (x1, y1), (x2, y2) = item.start, item.end
        return _element("line", x1=x1, y1=y1, x2=x2, y2=y2)
    opened = _element("text", x=item.x, y=item.y + item.size * _TO_BASELINE).removesuffix("/>")
    return f"{opened}>{content(item.text)}</text>"


def _box(box: Rectangle) -> str:
    return _element(
        "rect",
        x=box.x,
        y=box.y,
        width=box.width,
        height=box.height,
        rx=box.radius or None,
        fill=box.fill,
        **_stroke(box),
    )


def _disc(disc: Disc) -> str:
    fill = disc.fill or "none"
    return _element("circle", cx=disc.x, cy=disc.y, r=disc.radius, fill=fill, **_stroke(disc))


def _shape(shape: Shape) -> str:
    points = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
    fill = shape.fill or "none"
    return _element("polygon", points=points, fill=fill, **{"stroke-linejoin": "round"}, **_stroke(shape))


def _line(line: Stroke) -> str:
    (x1, y1), (x2, y2) = line.start, line.end
    rest = {"stroke-width": line.width, "stroke-linecap": "round"}
    return _element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=line.colour, **rest)


def _text(text: Text) -> str:
    baseline = text.y + text.size * _TO_BASELINE
    rest = {"font-size": text.size, "text-anchor": text.anchor, "fill": text.colour}
    opened = _element("text", x=text.x, y=baseline, **rest).removesuffix("/>")
    return f'{opened} xml:space="preserve">{content(text.text)}</text>'


def middle_of_text(text: Text) -> tuple[int, int]:
    """Return the origin of `write_at_origin` in whole pixels."""
    return round(text.x), round(text.y + text.size * _TO_BASELINE)


def text_style(text: Text) -> str:
    """Return the attributes for texts written by `write_at_origin`."""
    return f' text-anchor="middle" font-size="{_number(text.size)}" fill="{escape(text.colour)}"'


def write_at_origin(text: Text) -> str:
    """Return a text at the origin; runs of blanks collapse."""
    return f"<text>{content(text.text)}</text>"


_WRITERS: Mapping[type, Callable[[Any], str]] = {
    Rectangle: _box,
    Disc: _disc,
    Shape: _shape,
    Stroke: _line,
    Text: _text,
}


def _stroke(item: Rectangle | Disc | Shape) -> dict[str, object]:
    if item.stroke is None:
        return {}
    return {"stroke": item.stroke, "stroke-width": item.stroke_width}


def _element(tag: str, **attributes: object) -> str:
    return f"<{tag} {_attributes(attributes)}/>"


def _attributes(attributes: Mapping[str, object]) -> str:
    return " ".join(f'{name}="{escape(_say(value))}"' for name, value in attributes.items() if value is not None)


def _say(value: object) -> str:
    return _number(value) if isinstance(value, int | float) else str(value)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def content(text: str) -> str:
    """Return escaped text with a sign for unprintable characters."""
    return escape(printable(text, None, mark="\N{REPLACEMENT CHARACTER}"), quote=False)
