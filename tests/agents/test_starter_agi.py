"""The AGI starter for authors holds the conversation and is legal in every opening procedure."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from judge.sandbox.compiled import IMAGES
from tests.agents.talk import Talk, from_agi


@pytest.fixture
def starter() -> Iterator[Talk]:
    command = [sys.executable, str(IMAGES / "starter-agi-python" / "starter.py")]
    talk = Talk(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    yield talk
    talk.close()


def best(talk: Talk, *lines: str) -> str:
    talk.say(*lines)
    return talk.hear_until("BESTMOVE ").split()[1]


def test_it_greets_and_leaves(starter: Talk) -> None:
    starter.say("agi", "ISREADY", "QUIT")

    assert ["AGIOK", "READYOK", "BYE"] == [
        starter.hear_until(word) for word in ("AGIOK", "READYOK", "BYE")
    ]


def test_it_lays_three_stones_and_plays_on(starter: Talk) -> None:
    starter.say("SETRULE FORBIDDEN THIRDCHANGE", "POSITION")
    laid: list[str] = []
    for _ in range(20):
        laid.append(best(starter, "GO TIME 10000"))
        starter.say(f"DOMOVE {laid[-1]}")

    assert 20 == len(set(laid))
    assert "78" == laid[0]
    assert all(abs(x - 7) < 2 and abs(y - 7) < 2 for x, y in from_agi(laid[1]))


def test_it_answers_with_a_point_that_is_named(starter: Talk) -> None:
    assert best(starter, "POSITION STATU 786879 MOVES 6A", "GO SEARCH 8889 TIME 10000") in (
        "88",
        "89",
    )
