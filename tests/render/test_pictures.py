"""Pictures: well-formed whatever an agent is called, a frame for every position, the same scene in every format."""

import subprocess
import sys
from io import BytesIO
from xml.etree import ElementTree

import pytest
from PIL import Image

from judge.catalog.files import steps_of
from judge.formats.steps import Stepped
from judge.record.spec import RecordFile
from judge.render.board import Words, cut_to_width, draw_board
from judge.render.gif import draw, write_gif
from judge.render.pieces import GLYPHS
from judge.render.shapes import Disc, Rectangle, Scene, Shape, Stroke, Text
from judge.render.svg import write_svg
from tests.formats import recorded

SVG = "{http://www.w3.org/2000/svg}"
FAMILIES = [recorded.gomoku, recorded.stratego_game, recorded.chess, recorded.quantum]


def scenes(game: Stepped) -> list[Scene]:
    return [draw_board(step.view, Words(("anna", "bert"), step.said), 240) for step in game.steps]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_drawn_as_svg_and_as_pixels(family: object) -> None:
    file: RecordFile = family()  # type: ignore[operator]
    scene = scenes(steps_of(file))[-1]
    root = ElementTree.fromstring(write_svg(scene, "a game"))  # noqa: S314 our own file

    assert f"{SVG}svg" == root.tag
    assert len(scene.items) == len(root) - 1
    assert (scene.width, scene.height) == draw(scene).size


def test_hostile_words_are_text_and_nothing_else() -> None:
    game = steps_of(recorded.gomoku())
    hostile = recorded.HOSTILE
    view = game.steps[-1].view
    text = write_svg(draw_board(view, Words((hostile, hostile), hostile, hostile)), hostile)
    root = ElementTree.fromstring(text)  # noqa: S314 our own file

    assert {f"{SVG}{tag}" for tag in ("title", "rect", "circle", "line", "text")} == {child.tag for child in root}
    assert all(not len(child) for child in root)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert '<b>&"evil"' in (root.findtext(f"{SVG}title") or "")


def test_hostile_words_are_rendered_as_pixels() -> None:
    view = steps_of(recorded.gomoku()).steps[-1].view
    words = Words((recorded.HOSTILE, "\ud800\n" * 400), "\x00" * 5000)

    scene = draw_board(view, words)

    assert (scene.width, scene.height) == draw(scene).size


def test_an_animation_has_a_frame_for_every_position_and_stays_on_the_last() -> None:
    """Its colours are few, and near those of the picture."""
    shown = scenes(steps_of(recorded.chess()))
    animation = Image.open(BytesIO(write_gif(shown)))

    assert len(shown) == animation.n_frames  # type: ignore[attr-defined]
    assert (600, 0) == (animation.info["duration"], animation.info["loop"])
    animation.seek(len(shown) - 1)
    assert 4000 == animation.info["duration"]
    drawn, frame = draw(shown[-1]), animation.convert("RGB")

    furthest = max(abs(left - right) for left, right in zip(drawn.tobytes(), frame.tobytes(), strict=True))
    assert furthest < 60


def test_every_shape_is_known_to_both_formats() -> None:
    scene = Scene(
        40,
        40,
        [
            Rectangle(0, 0, 40, 40, "#ffffff", 4, "#000000", 1),
            Disc(20, 20, 10, None, "#ff0000", 2),
            Shape([(1, 1), (9, 1), (5, 9)], "#00ff00"),
            Stroke((0, 0), (40, 40), "#0000ff", 2),
            Text(20, 20, "h8", 10, "#000000", "end"),
        ],
    )

    assert 5 == write_svg(scene).count("/>") + write_svg(scene).count("</text>")
    assert (0, 0, 255) == draw(scene).getpixel((20, 20))


def test_every_kind_of_piece_has_a_shape_inside_its_square() -> None:
    for glyph in GLYPHS.values():
        for part in glyph.parts:
            for point in part:
                inside = point if isinstance(point, tuple) else (point,)
                assert all(0 <= number <= 1 for number in inside)


def test_a_name_that_is_too_long_is_cut() -> None:
    assert "abc" == cut_to_width("abc", 100, 10)
    assert "abcdefgh…" == cut_to_width("abcdefghijklmnopqrstuvwxyz", 50, 10)


def test_animation_without_pillow_names_what_to_install() -> None:
    program = (
        "import sys; sys.modules['PIL'] = None\n"
        "from judge.base.errors import InputError\n"
        "try:\n    import judge.render.gif\n"
        "except InputError as error:\n    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "pip install 'contest-judge[pictures]'" in ran.stdout
