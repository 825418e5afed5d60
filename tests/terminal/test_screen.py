"""Screens of every family and their boards: at several sizes, with and without colour, in ASCII."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from rich.cells import cell_len
from rich.console import Console

from judge.catalog.files import steps_of
from judge.formats.gomoku.view import draw_stones
from judge.formats.views import BoardView, Face, Mark, Token
from judge.record.spec import RecordFile
from judge.statistics.scales import wilson_interval
from judge.terminal.board_text import board_lines, board_width, token_text
from judge.terminal.browse import step_screen
from judge.terminal.output import styled
from judge.terminal.screen import MoveShown, Screen, SeatShown, score_words
from judge.terminal.series_score import SeriesScore
from tests.formats import recorded

GOLDEN = Path(__file__).parent / "golden"
SIZES = [(80, 24), (200, 60)]
SEARCH = {"depth": "12", "score": "+34", "nps": "1200000", "pv": "h8 i9 k10 \x1b[31m"}


def assert_golden(name: str, text: str) -> None:
    """The text is the one that is kept under this name; `JUDGE_NEW_GOLDEN=1` stores it, to be looked at."""
    path = GOLDEN / f"{name}.txt"
    # A game's id changes with every default of a policy.
    text = re.sub(r"\b[0-9a-f]{20}\b", "0" * 20, text)
    tidy = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    if os.environ.get("JUDGE_NEW_GOLDEN"):
        path.write_text(tidy, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == tidy


def rendered(screen: Screen, width: int = 80, height: int = 24, file: StringIO | None = None, **options: Any) -> str:
    console = Console(record=True, width=width, height=height, file=file or StringIO(), legacy_windows=False, **options)
    console.print(screen, end="")
    return console.export_text()


def live(family: object = recorded.gomoku) -> Screen:
    """A game that runs, with everything that can be shown of one."""
    game = steps_of(family())  # type: ignore[operator]
    at = len(game.steps) - 2
    seats = [
        SeatShown(
            recorded.HOSTILE if seat else name,
            is_asked=seat == 1,
            turn_ms=4321.0,
            turn_limit_ms=5000,
            left_ms=61_234.5,
            match_ms=120_000,
            memory_bytes=300 << 20,
            memory_cap_bytes=350 << 20,
            said="7,7",
            search=SEARCH,
            messages=[f"message {number} \x1b]0;owned\x07[red]x[/]" for number in range(60)],
        )
        for seat, name in enumerate(game.names)
    ]
    moves = [
        MoveShown(number, step.seat, step.said, step.ms, SEARCH)
        for number, step in enumerate(game.steps[: at + 1])
        if step.seat is not None
    ]
    series = SeriesScore(("anna", "bert"), 10, (1.0, 0.5, 0.0, 1.0), 100.0)
    view = game.steps[at].view
    return Screen("game 5 of 10  test", view, (seats[0], seats[1]), moves, view.caption or "begun", series)


def test_a_seat_shows_its_time_control() -> None:
    screen = live()
    seat = replace(screen.seats[1], control="600|3x30, period 2 of 3")

    assert "600|3x30, period 2 of 3" in rendered(replace(screen, seats=(screen.seats[0], seat)), 200, 60)


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize(
    "family", [recorded.gomoku, recorded.stratego_game, recorded.quantum], ids=lambda f: f.__name__
)
def test_a_game_that_runs(family: object, width: int, height: int) -> None:
    name = f"live-{family.__name__}-{width}x{height}"  # type: ignore[attr-defined]
    text = rendered(live(family), width, height)

    assert_golden(name, text)
    assert height == len(text.splitlines())
    assert {width} == {cell_len(line) for line in text.splitlines()}


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_recorded_game_in_the_middle(width: int, height: int) -> None:
    screen = step_screen(steps_of(recorded.gomoku()), 4, "12")

    assert_golden(f"step-{width}x{height}", rendered(screen, width, height))


COLOURED: dict[str, Any] = {"force_terminal": True, "color_system": "truecolor"}


def test_colour_changes_no_letter() -> None:
    assert rendered(live()) == rendered(live(), **COLOURED)


def test_no_color_leaves_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    rendered(live(), file=(file := StringIO()), **COLOURED)

    assert "38;" not in file.getvalue()
    assert "48;" not in file.getvalue()
    assert "\x1b[1m" in file.getvalue()
    with monkeypatch.context() as terminal:
        terminal.setattr("sys.stdout", Mock(isatty=lambda: True))
        assert "won" == styled("won", "green")


def test_stored_agent_output_reaches_the_terminal_escaped() -> None:
    for width, height in SIZES:
        text = rendered(live(), width, height)
        assert set("\x1b\x07\u202e").isdisjoint(text)
        assert "[red]x[/]" in text


def test_a_terminal_without_utf_8_gets_ascii() -> None:
    class Old(StringIO):
        encoding = "ascii"

    text = rendered(live(), file=Old())
    assert_golden("live-ascii-80x24", text)
    assert text.isascii()


@pytest.mark.parametrize(("width", "height"), [(40, 12), (20, 5), (79, 23), (300, 100)])
def test_no_size_breaks_it(width: int, height: int) -> None:
    huge = draw_stones(60, 60, [(59, 59, 0)])
    for screen in (live(), Screen("huge", huge, (SeatShown("a"), SeatShown("b")))):
        lines = rendered(screen, width, height).splitlines()
        assert max(map(cell_len, lines)) <= width
        assert len(lines) <= height


@pytest.mark.parametrize(
    ("points", "games", "expected"),
    [
        # Wilson's interval at z = 1.96, as tables have it.
        (5, 10, (0.5, 0.237, 0.763)),
        (10, 10, (1.0, 0.722, 1.0)),
        (0, 10, (0.0, 0.0, 0.278)),
        (1, 1, (1.0, 0.207, 1.0)),
        (550, 1000, (0.55, 0.519, 0.581)),
    ],
)
def test_an_interval_of_95_percent(points: float, games: int, expected: tuple[float, float, float]) -> None:
    assert expected == tuple(round(number, 3) for number in wilson_interval(points, games))


def test_void_counts_for_no_agent() -> None:
    series = SeriesScore(("a", "b"), 10, (1.0, None, 0.5, 0.0), 8.0)

    assert 12.0 == series.seconds_left
    assert "50 % (13-87)  a 1 - 1 b, 1 drawn" == score_words(series)


def test_before_the_first_game_nothing_is_claimed() -> None:
    series = SeriesScore(("a", "b"), 10)

    assert (None, None) == (series.share(), series.seconds_left)
    assert "a 0 - 0 b, 0 drawn" == score_words(series)


def text(view: BoardView, width: int = 200, height: int = 100, ascii_only: bool = False) -> str:
    return "\n".join(line.plain for line in board_lines(view, width, height, ascii_only))


@pytest.mark.parametrize(
    ("token", "shown", "in_ascii"),
    [
        (Token(0, 17), "●", "X"),
        (Token(1, 18), "○", "O"),
        (Token(0, 17, is_dead=True), "▪", "x"),
        (Token(1, 17, is_dead=True), "▫", "o"),
        (Token(0, faces=(Face("B", True),), shows=0), "rB", "rB"),
        (Token(1, faces=(Face("9", True),), shows=0), "b9", "b9"),
        (Token(0, faces=(Face("king"),), shows=0), "K", "K"),
        (Token(1, faces=(Face("knight"),), shows=0), "n", "n"),
        (Token(0, faces=(Face("rook"), Face("queen", True))), "R/?Q", "R/?Q"),
        (Token(1, faces=(Face("rook"), Face("queen", True)), shows=0), "r ?q", "r ?q"),
        (Token(1, faces=(Face("rook"), Face("queen")), shows=1), "q r", "q r"),
    ],
)
def test_a_token_is_a_few_letters(token: Token, shown: str, in_ascii: str) -> None:
    assert (shown, in_ascii) == (token_text(token), token_text(token, ascii_only=True))


def test_an_offer_is_a_question_mark() -> None:
    view = draw_stones(5, 5, [(0, 0, 0)])
    offered = BoardView(view.surface, view.columns, view.rows, view.tokens, view.sides, marks={(2, 1): Mark.OFFER})

    assert "  a b c d e\n1 ● · · · · \n2 · · ? · · \n" in text(offered)


@pytest.mark.parametrize("family", [recorded.gomoku, recorded.stratego_game, recorded.quantum])
def test_a_board_is_as_wide_as_promised_and_can_be_ascii(family: Callable[[], RecordFile]) -> None:
    view = steps_of(family()).steps[-1].view
    assert {board_width(view)} == {cell_len(line.plain) for line in board_lines(view, 200, 100)[1:]}
    assert text(view, ascii_only=True).isascii()


def test_of_a_board_that_does_not_fit_the_part_around_the_last_move_is_seen() -> None:
    view = draw_stones(60, 60, [(50, 40, 0)]).since(draw_stones(60, 60, []))

    lines = board_lines(view, 43, 21)

    assert 21 == len(lines)
    assert max(cell_len(line.plain) for line in lines) <= 43
    assert "[●]" in text(view, 43, 21)
    assert ["ba", "bc", "be"] == lines[0].plain.split()[6:9]
