"""Lists of moves have the stone's number and its square once, and the answer as the agent wrote it."""

from itertools import pairwise

import pytest
from rich.console import Console

from judge.broadcast.events import MoveMade
from judge.broadcast.state import Live, LiveGame
from judge.catalog.files import steps_of
from judge.formats.views import numbered
from judge.terminal.contest_screen import line_of, overview
from tests.formats import recorded


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
    assert f"{shown} anna 3.0 ms" in game_line(live)


def game_line(live: Live) -> str:
    console = Console(width=200)
    with console.capture() as written:
        console.print(overview(live, 0))
    return written.get()


def test_list_of_moves_has_answer_and_square() -> None:
    steps = steps_of(recorded.gomoku()).steps

    assert ["0,0 a1", "0,1 a2"] == [steps[at].said_with_square(steps[at - 1].view) for at in (1, 2)]


def test_games_of_pieces_keep_their_own_notation() -> None:
    steps = steps_of(recorded.stratego_game()).steps

    assert all(after.said == after.said_with_square(before.view) for before, after in pairwise(steps))


@pytest.mark.parametrize(
    ("notation", "shown"),
    [
        ("31. l6", (31, "l6")),
        ("6... Nc6", (6, "Nc6")),
        ("0 6 UP", (0, "0 6 UP")),
        ("7,7", (0, "7,7")),
    ],
)
def test_number_in_a_notation_is_apart_from_its_move(notation: str, shown: tuple[int, str]) -> None:
    assert shown == numbered(notation)
