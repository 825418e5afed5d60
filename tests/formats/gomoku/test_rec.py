"""`.rec` files: names first, squares from 0, and always 20x20."""

from dataclasses import replace

import pytest

from judge.base.errors import InputError
from judge.formats.gomoku.formats import looks_like_rec, read_rec, write_rec
from tests.formats import games

GAME = replace(games.GAME, moves=((7, 7, 0), (19, 0, 1520)), opening=1, verdict="crash")


def test_a_game_is_written_as_piskvork_writes_it() -> None:
    assert b"first\r\nsecond\r\n7,7,0\r\n19,0,1520\r\n-2\r\n" == write_rec(GAME)


def test_another_board_is_refused() -> None:
    """The format has no word for the size."""
    for width, height in ((15, 15), (20, 19)):
        with pytest.raises(InputError, match=f"always of a 20x20 board, this game of a {width}x"):
            write_rec(replace(GAME, width=width, height=height))


def test_names_of_any_look_are_names() -> None:
    """They are told by their place; no code, any line end, blank lines."""
    record = read_rec(b"\r7,7,7\r-2\r\r19,19\r0,0,30\r")
    assert (("7,7,7", "-2"), ((19, 19, 0), (0, 0, 30))) == (record.names, record.moves)
    assert looks_like_rec(b"\r7,7,7\r-2\r\r19,19\r0,0,30\r")
