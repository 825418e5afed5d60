"""Positions of Quantum Chess as text: the notation, its errors, and a game that begins from one."""

import pytest

from judge.base.errors import InputError
from judge.games.quantum_chess import QuantumChess
from judge.games.quantum_chess.words import read_position


def game_from(text: str) -> QuantumChess:
    return QuantumChess.from_options({"position": text})


def test_letters_digits_and_brackets_become_pieces() -> None:
    pieces, turn = read_position("3k4/8/2(R?p)5/8/8/8/8/3K4 b")
    placed = [(piece.colour, piece.x, piece.y, piece.types, piece.current) for piece in pieces]

    assert "black" == turn
    assert [
        ("black", 3, 0, ("king", "king"), "king"),
        ("white", 2, 2, ("rook", "?pawn"), "unknown"),
        ("white", 3, 7, ("king", "king"), "king"),
    ] == placed


def test_game_begins_from_the_position_with_its_colour() -> None:
    game = game_from("3k4/8/8/8/8/8/3P4/3K4 b")

    assert 1 == game.pending().seat
    assert 3 == len(game.describe()["board"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("8/8/8 w", "3 rows in '8/8/8'; write 8 rows, such as 4k3/8/8/8/8/8/4P3/4K3 w"),
        ("4k3/8/8/8/8/8/4P3/4K3", "'' is no colour to move; write w or b after the rows"),
        ("4k3/8/8/8/8/8/4P3/4K2 w", "row 8 has 7 squares; it needs 8"),
        ("4k3/8/8/8/8/8/4P3/4K3k w", "row 8 has 9 squares; it needs 8"),
        ("4z3/8/8/8/8/8/8/4K3 w", "row 1: 'z3' does not start with a piece or a number from 1 to 8"),
        ("8/8/8/8/8/8/8/8 w", "the position has no pieces"),
    ],
)
def test_mistakes_are_named(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        game_from(text)
    assert said in str(refused.value)
