"""Small pictures of positions: as many pieces as on the board, in few bytes."""

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from judge.catalog.files import steps_of
from judge.record.spec import RecordFile
from judge.render.miniature import write_miniature
from tests.formats import recorded


@pytest.mark.parametrize("family", [recorded.gomoku, recorded.chess, recorded.quantum, recorded.stratego_game])
def test_small_board_has_each_piece_and_mark_once(family: Callable[[], RecordFile]) -> None:
    view = steps_of(family()).steps[-1].view
    paths = list(ElementTree.fromstring(write_miniature(view)))  # noqa: S314 our own file
    widths = {width: [each for each in paths if each.get("stroke-width") == width] for width in ("9.4", "8.2", "3.6")}
    dots = {width: sum(each.get("d", "").count("h0") for each in found) for width, found in widths.items()}

    assert {"9.4": len(view.tokens), "8.2": len(view.tokens), "3.6": len(view.marks)} == dots


def test_small_board_of_a_full_position_weighs_little() -> None:
    view = steps_of(recorded.full_board(15)).steps[-1].view

    assert len(write_miniature(view)) < 6000
    assert not re.search(r"(?:href|id|style|class=.(?!mini))=", write_miniature(view))
