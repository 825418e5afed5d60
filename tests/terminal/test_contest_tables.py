"""Tables of a contest on terminals of any width and in files, and moves, which have their number once."""

from io import StringIO

import pytest
from rich.console import Console

from judge.broadcast.events import MoveMade
from judge.broadcast.state import Live, LiveGame
from judge.formats.views import numbered
from judge.terminal.contest_screen import line_of, overview
from judge.terminal.contest_tables import print_crosstable
from judge.tournament.results import SideScore
from judge.tournament.standings import Cell, Crosstable

AGENTS = 16
NAMES = [f"agent-{number}" for number in range(1, AGENTS + 1)]


def table(agents: int) -> Crosstable:
    every = range(agents)
    return {
        NAMES[row]: {
            NAMES[column]: Cell(row + column / 2, SideScore(wins=row, draws=column))
            for column in every
            if row != column
        }
        for row in every
    }


def printed(width: int, agents: int = AGENTS, *, is_terminal: bool = True) -> list[str]:
    console = Console(file=StringIO(), width=width, force_terminal=is_terminal, color_system=None)
    print_crosstable(console, table(agents))
    assert isinstance(console.file, StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_a_table_that_fits_has_wins_draws_and_losses() -> None:
    assert [
        "   agent            1            2",
        "1  agent-1          ·  0.5 (0-1-0)",
        "2  agent-2  1 (1-0-0)            ·",
    ] == printed(80, 2)


@pytest.mark.parametrize("width", [24, 40, 80, 120])
def test_no_number_is_cut_off_on_a_narrow_terminal(width: int) -> None:
    lines = printed(width)
    seen: dict[tuple[int, int], str] = {}
    columns: list[int] = []
    for line in lines:
        words = line.split()
        if words[0] == "agent":
            columns = [int(word) for word in words[1:]]
            continue
        seen |= {(int(words[0]), column): word for column, word in zip(columns, words[2:], strict=True)}

    assert {
        (row, column): "·" if row == column else f"{row - 1 + (column - 1) / 2:g}"
        for row in range(1, AGENTS + 1)
        for column in range(1, AGENTS + 1)
    } == seen
    assert all(len(line) <= width for line in lines)


def test_a_file_has_the_whole_table_whatever_its_width() -> None:
    lines = printed(40, is_terminal=False)

    assert AGENTS + 1 == len(lines)
    assert lines[-1].startswith("16  agent-16  15 (15-0-0)  15.5 (15-1-0)")


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
