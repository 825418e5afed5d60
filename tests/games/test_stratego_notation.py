"""How a half-move is written and read: as the managers' C++ streams read it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.games.stratego.types import INT_MAX, INT_MIN, Direction, Move, NoMove, read_reply, write_move
from judge.games.types import ReplyKind, decided

DOWN = Direction.DOWN


@pytest.mark.parametrize(
    ("said", "move"),
    [
        ("0 3 DOWN", Move(0, 3, DOWN)),
        ("9 6 UP 2", Move(9, 6, Direction.UP, 2)),
        ("0 3 LEFT", Move(0, 3, Direction.LEFT)),
        ("0 3 RIGHT 07", Move(0, 3, Direction.RIGHT, 7)),
        ("   0   3   DOWN", Move(0, 3, DOWN)),
        ("0\t3\v\fDOWN\r", Move(0, 3, DOWN)),
        ("0 3 DOWN ", Move(0, 3, DOWN)),
        ("0 3DOWN", Move(0, 3, DOWN)),
        ("0+3 DOWN", Move(0, 3, DOWN)),
        ("+0 -3 DOWN", Move(0, -3, DOWN)),
        ("0 3 DOWN 1 extra tokens", Move(0, 3, DOWN, 1)),
        ("0 3 DOWN 2x", Move(0, 3, DOWN, 2)),
        ("0 3 DOWN 1.5", Move(0, 3, DOWN, 1)),
        ("0 3 DOWN x", Move(0, 3, DOWN, 0)),
        ("0 3 DOWN -", Move(0, 3, DOWN, 0)),
        ("0 3 DOWN -2", Move(0, 3, DOWN, -2)),
        ("0 3 DOWN 99999999999", Move(0, 3, DOWN, INT_MAX)),
        ("0 3 DOWN -99999999999", Move(0, 3, DOWN, INT_MIN)),
    ],
)
def test_accepted_move_notations(said: str, move: Move) -> None:
    assert decided(move, said) == read_reply(said)


@pytest.mark.parametrize(
    "said",
    [
        *("", " ", "0 3", "0 3 down", "0 3 SOUTH", "0 3 DOWN2", "0 3 DOWNUP", "03 DOWN", "13 DOWN", "0,3 DOWN"),
        *("a b DOWN", "0 0x3 DOWN", "99999999999 3 DOWN", "0 3 \u00a0DOWN", "\u0660 3 DOWN"),
        *("surrender", "SURRENDER ", " NO_MOVE", "NO_MOVE\r", "0 3 DOWN" + " " * 1020),
    ],
)
def test_unreadable_input(said: str) -> None:
    reply = read_reply(said)

    assert (ReplyKind.UNREADABLE, said, None) == (reply.kind, reply.said, reply.decision)


def test_the_words_that_are_no_moves() -> None:
    assert ReplyKind.RESIGNED is read_reply("SURRENDER").kind
    assert decided(NoMove(), "NO_MOVE") == read_reply("NO_MOVE")


INTS = st.integers(INT_MIN, INT_MAX)


@given(st.builds(Move, INTS, INTS, st.sampled_from(Direction), INTS))
def test_written_text_is_readable_again(move: Move) -> None:
    assert move == read_reply(write_move(move)).decision
