"""Boards as text: every piece and every mark can be told without colour, and in ASCII."""

from collections.abc import Callable

import pytest
from rich.cells import cell_len

from judge.catalog.files import steps_of
from judge.formats.gomoku.view import draw_stones
from judge.formats.views import BoardView, Face, Mark, Token
from judge.record.spec import RecordFile
from judge.terminal.board_text import board_lines, board_width, token_text
from tests.formats import recorded


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
