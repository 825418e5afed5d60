"""Small pictures of positions: as many pieces as on the board, in few bytes."""

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from judge.catalog.files import steps_of
from judge.formats.views import BoardView, Face, Surface, Token
from judge.record.spec import RecordFile
from judge.render.miniature import write_miniature
from judge.render.pieces import GLYPHS
from tests.formats import recorded

PIECES = ("rook", "knight", "bishop", "queen", "king", "pawn")


@pytest.mark.parametrize("family", [recorded.gomoku, recorded.chess, recorded.quantum, recorded.stratego_game])
def test_small_board_has_each_piece_and_mark_once(family: Callable[[], RecordFile]) -> None:
    view = steps_of(family()).steps[-1].view
    paths = list(ElementTree.fromstring(write_miniature(view)))  # noqa: S314 our own file
    widths = {width: [each for each in paths if each.get("stroke-width") == width] for width in ("9.4", "8.2", "3.6")}
    dots = {width: sum(each.get("d", "").count("h0") for each in found) for width, found in widths.items()}

    silhouettes = sum(each.get("d", "").count("M") for each in paths if each.get("stroke-width") == ".5")
    pieces = len(view.tokens) - silhouettes
    assert (family is recorded.chess) == (pieces == 0)
    assert {"9.4": pieces, "8.2": pieces, "3.6": 0 if silhouettes else len(view.marks)} == dots


def test_small_board_has_the_parts_of_each_silhouette_in_few_bytes() -> None:
    tokens = {(x, y): Token(y % 2, faces=(Face(name),), shows=0) for x, name in enumerate(PIECES) for y in range(4)}
    letters = tuple("abcdefgh")
    view = BoardView(Surface.CHEQUERED, letters, letters, tokens, ("white", "black"))

    written = write_miniature(view)

    assert len(written) < 8000
    shapes = written.count("z") - written.count("h-10z") - 1  # without dark squares and the board
    assert sum(len(GLYPHS[name].parts) for name in PIECES) * 4 == shapes


def test_small_board_of_a_full_position_weighs_little() -> None:
    view = steps_of(recorded.full_board(15)).steps[-1].view

    assert len(write_miniature(view)) < 6000
    assert not re.search(r"(?:href|id|style|class=.(?!mini))=", write_miniature(view))
