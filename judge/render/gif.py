"""Writes scenes as an animated GIF, or one as a PNG, with Pillow (extra `pictures`)."""

from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO

from judge import DISTRIBUTION
from judge.base.errors import InputError
from judge.base.text import printable
from judge.render.shapes import Disc, Item, Rectangle, Scene, Shape, Stroke, Text

try:
    from PIL import Image, ImageDraw, ImageFont
except ImportError:
    raise InputError(f"pictures other than SVG need Pillow: pip install '{DISTRIBUTION}[pictures]'") from None

OVERSAMPLING = 3

PNG_OVERSAMPLING = 2
"""Lower: an export has a picture for each game."""

STEP_MS, LAST_MS = 600, 4000

COLOURS = 128
PNG_COLOURS = 64


def write_gif(scenes: Sequence[Scene]) -> bytes:
    """Return an endless animation of scenes of the same size."""
    # A common palette avoids flicker and makes frames small.
    first, last = draw(scenes[0]), draw(scenes[-1])
    both = Image.new("RGB", (first.width, first.height * 2))
    both.paste(first, (0, 0))
    both.paste(last, (0, first.height))
    palette = both.quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
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
    pixels = draw(scene, PNG_OVERSAMPLING)
    pixels.quantize(PNG_COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(file, "PNG")
    return file.getvalue()


def draw(scene: Scene, fine: int = OVERSAMPLING) -> Image.Image:
    """Return a scene's pixels, oversampled by `fine`."""
    image = Image.new("RGB", (scene.width * fine, scene.height * fine), "#ffffff")
    pen = ImageDraw.Draw(image)
    for item in scene.items:
        _draw(pen, item, fine)
    return image.reduce(fine)


def _draw(pen: ImageDraw.ImageDraw, item: Item, fine: int) -> None:
    match item:
        case Rectangle(x, y):
            corners = [n * fine for n in (x, y, x + item.width, y + item.height)]
            pen.rounded_rectangle(corners, item.radius * fine, item.fill, item.stroke, round(item.stroke_width * fine))
        case Disc(x, y):
            # Half of the stroke is outside the circle, as in SVG.
            radius = item.radius + item.stroke_width / 2
            corners = [n * fine for n in (x - radius, y - radius, x + radius, y + radius)]
            pen.ellipse(corners, item.fill, item.stroke, round(item.stroke_width * fine))
        case Shape():
            points = [(x * fine, y * fine) for x, y in item.points]
            if item.fill is not None:
                pen.polygon(points, item.fill)
            if item.stroke is not None:
                width = max(1, round(item.stroke_width * fine))
                pen.line([*points, points[0], points[1]], item.stroke, width, joint="curve")
        case Stroke():
            ends = [tuple(n * fine for n in point) for point in (item.start, item.end)]
            pen.line(ends, item.colour, max(1, round(item.width * fine)))
        case Text():
            anchor = {"start": "lm", "middle": "mm", "end": "rm"}[item.anchor]
            letters = printable(item.text, None, mark="?")
            pen.text((item.x * fine, item.y * fine), letters, item.colour, _font(item.size * fine), anchor)


@lru_cache(maxsize=64)
def _font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
