"""Lists of moves have the stone's number and its square once, and the answer as the agent wrote it."""

import pytest
from rich.console import Console

from judge.broadcast.events import MoveMade
from judge.broadcast.state import Live, LiveGame
from judge.formats.views import numbered
from judge.terminal.contest_screen import line_of, overview


@pytest.mark.parametrize(
    ("notation", "shown"),
    [("11. f12", "11. f12"), ("0 6 UP", "11. 0 6 UP"), ("6. Nc6", "11. Nc6"), ("6... Nc6", "11. Nc6")],
)
def test_watch_counts_moves_and_set_moves_in_every_notation(notation: str, shown: str) -> None:
    move = MoveMade(
        at="", game=1, attempt=1, seat=0, ply=9, said="5,11", notation=notation, charged_ms=3.0, left_ms=(None, None)
    )
    live = Live(games={1: LiveGame(1, 1, ("a", "b"), ("anna", "bert"), "", set_moves=2, moves=[move])})

    assert f"game 1: {shown} anna 3.0 ms" == line_of(move, live)
    console = Console(width=200)
    with console.capture() as written:
        console.print(overview(live, 0))
    assert f"{shown} anna 3.0 ms" in written.get()


@pytest.mark.parametrize(
    ("notation", "shown"),
    [("31. l6", (31, "l6")), ("6... Nc6", (6, "Nc6")), ("0 6 UP", (0, "0 6 UP")), ("7,7", (0, "7,7"))],
)
def test_number_in_a_notation_is_apart_from_its_move(notation: str, shown: tuple[int, str]) -> None:
    assert shown == numbered(notation)
