"""Writes scenes as an animated GIF, or one as a PNG, with Pillow (extra `pictures`)."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from typing import Any

from judge import DISTRIBUTION
from judge.base.errors import InputError
from judge.base.text import printable
from judge.render.shapes import Disc, Rectangle, Scene, Shape, Stroke, Text

try:
    from PIL import Image, ImageDraw, ImageFont
except ImportError:
    raise InputError(f"pictures other than SVG need Pillow: pip install '{DISTRIBUTION}[pictures]'") from None

OVERSAMPLING = 3
"""Oversampling factor for smooth edges."""

PNG_OVERSAMPLING = 2
"""Lower: an export has a picture for each game."""

STEP_MS, LAST_MS = 600, 4000

COLOURS = 128
PNG_COLOURS = 64


def write_gif(scenes: Sequence[Scene]) -> bytes:
    """Return an endless animation of scenes of the same size."""
    # A common palette avoids flicker and makes frames small.
    palette = _palette(draw(scenes[0]), draw(scenes[-1]))
    drawn = [draw(scene).quantize(palette=palette, dither=Image.Dither.NONE) for scene in scenes]
    file = BytesIO()
    drawn[0].save(
        file,
        "GIF",
        save_all=True,
        append_images=drawn[1:],
        duration=[*[STEP_MS] * (len(drawn) - 1), LAST_MS],
        loop=0,
        optimize=True,
    )
    return file.getvalue()


def write_png(scene: Scene) -> bytes:
    """Return a picture with a small palette: a tenth of the bytes."""
    file = BytesIO()
    draw(scene, PNG_OVERSAMPLING).quantize(PNG_COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(
        file, "PNG"
    )
    return file.getvalue()


def draw(scene: Scene, fine: int = OVERSAMPLING) -> Image.Image:
    """Return a scene's pixels, oversampled by `fine`."""
    image = Image.new("RGB", (scene.width * fine, scene.height * fine), "#ffffff")
    pen = ImageDraw.Draw(image)
    for item in scene.items:
        _DRAWERS[type(item)](pen, item, fine)
    return image.reduce(fine)


def _palette(first: Image.Image, last: Image.Image) -> Image.Image:
    both = Image.new("RGB", (first.width, first.height * 2))
    both.paste(first, (0, 0))
    both.paste(last, (0, first.height))
    return both.quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


def _box(pen: ImageDraw.ImageDraw, box: Rectangle, fine: int) -> None:
    corners = (box.x, box.y, box.x + box.width, box.y + box.height)
    pen.rounded_rectangle(
        [n * fine for n in corners], box.radius * fine, box.fill, box.stroke, round(box.stroke_width * fine)
    )


def _disc(pen: ImageDraw.ImageDraw, disc: Disc, fine: int) -> None:
    # Half of the stroke is outside the circle, as in SVG.
    radius = disc.radius + disc.stroke_width / 2
    corners = (disc.x - radius, disc.y - radius, disc.x + radius, disc.y + radius)
    width = round(disc.stroke_width * fine)
    pen.ellipse([n * fine for n in corners], disc.fill, disc.stroke, width)


def _shape(pen: ImageDraw.ImageDraw, shape: Shape, fine: int) -> None:
    points = [(x * fine, y * fine) for x, y in shape.points]
    if shape.fill is not None:
        pen.polygon(points, shape.fill)
    if shape.stroke is not None:
        width = max(1, round(shape.stroke_width * fine))
        pen.line([*points, points[0], points[1]], shape.stroke, width, joint="curve")


def _line(pen: ImageDraw.ImageDraw, line: Stroke, fine: int) -> None:
    ends = [tuple(n * fine for n in point) for point in (line.start, line.end)]
    pen.line(ends, line.colour, max(1, round(line.width * fine)))


@lru_cache(maxsize=64)
def _font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _text(pen: ImageDraw.ImageDraw, text: Text, fine: int) -> None:
    anchor = {"start": "lm", "middle": "mm", "end": "rm"}[text.anchor]
    letters = printable(text.text, None, mark="?")
    font = _font(text.size * fine)
    pen.text((text.x * fine, text.y * fine), letters, text.colour, font, anchor)


_DRAWERS: Mapping[type, Callable[[ImageDraw.ImageDraw, Any, int], None]] = {
    Rectangle: _box,
    Disc: _disc,
    Shape: _shape,
    Stroke: _line,
    Text: _text,
}
