"""Lists of moves have the stone's number and its square once, and the answer as the agent wrote it."""

import pytest

from judge.broadcast.events import MoveMade
from judge.broadcast.state import Live
from judge.formats.views import numbered
from judge.terminal.contest_screen import line_of


@pytest.mark.parametrize(("notation", "shown"), [("11. f12", "11. f12"), ("0 6 UP", "9. 0 6 UP")])
def test_watch_shows_the_number_of_a_stone_or_else_the_count_of_moves_once(notation: str, shown: str) -> None:
    move = MoveMade(
        at="", game=1, attempt=1, seat=0, ply=9, said="5,11", notation=notation, charged_ms=3.0, left_ms=(None, None)
    )
    assert f"game 1: {shown} 3.0 ms" == line_of(move, Live())


@pytest.mark.parametrize(
    ("notation", "shown"), [("31. l6", (31, "l6")), ("0 6 UP", (29, "0 6 UP")), ("7,7", (29, "7,7"))]
)
def test_a_move_of_a_page_has_one_number(notation: str, shown: tuple[int, str]) -> None:
    assert shown == numbered(notation, 29)
