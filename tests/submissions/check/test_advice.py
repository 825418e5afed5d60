"""The advice for a move that is illegal says what is wrong with its coordinates."""

import pytest

from judge.games.types import Verdict
from judge.submissions.check.diagnosis import fix_for


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ("15,3 (p4) is off the 15x15 board", "coordinates count from 0: the largest are 14,14"),
        ("3,15 is off the 15x15 board", "coordinates count from 0: the largest are 14,14"),
        ("3,15 is off the 20x15 board", "coordinates count from 0: the largest are 19,14"),
        ("-1,-1 is off the 15x15 board", "its search found no square: when no square is good enough"),
        ("40,3 is off the 15x15 board", "are x and y exchanged?"),
        ("8,5 is taken by stone 14", "are x and y exchanged?"),
        ("the stone is nowhere", "put each stone or piece that the judge sends on the board"),
    ],
)
def test_coordinates_of_an_illegal_move_suggest_the_fix(said: str, fix: str) -> None:
    assert fix in fix_for(Verdict.ILLEGAL, said, "gomocup")
