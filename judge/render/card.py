"""A game's preview picture (Open Graph): last position, names, and score."""

from judge.formats.views import BoardView
from judge.render.board import SIDES, BarePainter, cut_to_width
from judge.render.shapes import Disc, Item, Rectangle, Scene, Text, moved

WIDTH, HEIGHT = 1200, 630

_BOARD = 520
_PAPER, _INK, _FAINT = "#f7f5f0", "#26231f", "#69645c"
_MARGIN = 48


def draw_card(view: BoardView, names: tuple[str, str], scores: tuple[str, str], title: str) -> Scene:
    """Return the preview; `names` and `scores` are by seat, `title` is the contest's name."""
    painter = BarePainter(view, _BOARD)
    board = painter.board()
    items: list[Item] = [*board.items]
    for square, token in view.tokens.items():
        items += painter.token(square, token)
    for square, mark in view.marks.items():
        items += painter.mark(square, mark)
    top = (HEIGHT - board.height) / 2
    scene = Scene(WIDTH, HEIGHT, [Rectangle(0, 0, WIDTH, HEIGHT, _PAPER), *(moved(item, top, top) for item in items)])
    left = top + board.width + _MARGIN
    room = WIDTH - left - _MARGIN
    scene.items.append(Text(left, 120, cut_to_width(title, room, 30), 30, _FAINT, "start"))
    fills, edges = SIDES[view.surface]
    for side, y in enumerate((260, 400)):
        seat = view.seats[side]
        scene.items += [
            Disc(left + 20, y, 20, fills[side], edges[side], 2),
            Text(left + 60, y, cut_to_width(names[seat], room - 150, 44), 44, _INK, "start"),
            Text(WIDTH - _MARGIN, y, scores[seat], 60, _INK, "end"),
        ]
    return scene
