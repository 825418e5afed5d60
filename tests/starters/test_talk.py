"""The starters for authors hold every conversation of their protocol, in four languages alike."""

import json
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.house_agents.talk import SILENCE_S, Square, Talk, agi, best, board, from_agi, square_of, squares
from tests.starters.conftest import LANGUAGES, Built

FORBIDDEN: list[tuple[list[Square], set[Square]]] = [
    (squares(vector["moves"]), set(squares(" ".join(vector["forbidden"]))))
    for vector in json.loads((Path(__file__).parents[1] / "games/data/renju_vectors.json").read_text())
]
"""Positions of renju with Black to move, and the points that are forbidden to him."""

Start = Callable[[str], Talk]


@pytest.fixture
def start(built: Built) -> Iterator[Start]:
    with ExitStack() as running:

        def start_one(name: str) -> Talk:
            agent = built(name)
            command = tomllib.loads((agent / "agent.toml").read_text())["command"]
            pipe = subprocess.PIPE
            talk = Talk(subprocess.Popen(command, cwd=agent, stdin=pipe, stdout=pipe))
            running.callback(talk.close)
            return talk

        yield start_one


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_gomocup_is_answered_word_by_word(start: Start, language: str) -> None:
    talk = start(f"starter-gomocup-{language}")

    assert "ERROR no START yet" == talk.ask("BEGIN")
    assert "ERROR board sides must be 5 to 60" == talk.ask("START 4")
    assert "OK" == talk.ask("INFO folder /tmp/\N{LATIN SMALL LETTER E WITH ACUTE} x", "START 15")
    assert talk.ask("ABOUT").startswith('name="')
    assert "UNKNOWN command" == talk.ask("YXSHOWINFO")
    assert talk.ask("TURN 1").startswith("ERROR ")
    first = talk.ask("INFO", "INFO rule", "INFO time_left 2147483647", "BEGIN")
    assert "ERROR not a free point" == talk.ask(f"TURN {first}")
    assert "OK" == talk.ask(f"TAKEBACK {first}")
    second = talk.ask(f"TURN {first}")
    assert second != first
    assert talk.ask("TAKEBACK 15,0").startswith("ERROR ")
    assert "OK" == talk.ask("RESTART")
    assert square_of(talk.ask(f"TURN {first}")) != square_of(first)


def test_gomocup_is_played_on_boards_that_are_sent_and_to_the_last_point(start: Start, language: str) -> None:
    talk = start(f"starter-gomocup-{language}")
    talk.ask("START 15")
    assert talk.ask("BOARD", "1,1,1", "1,1,2", "DONE").startswith("ERROR ")
    for _ in range(2):
        assert "11,7" == talk.ask(*board(squares("h8g8i8b2j8c13k8")))

    free = {(x, y) for x in range(7) for y in range(5)}
    assert "OK" == talk.ask("RECTSTART 7,5")
    answer = square_of(talk.ask("BEGIN"))
    while len(free) > 1:
        free.remove(answer)
        x, y = free.pop()
        answer = square_of(talk.ask(f"TURN {x},{y}")) if free else answer
    assert free == {answer}


def test_black_lays_no_forbidden_point(start: Start, language: str) -> None:
    gomocup, engine = start(f"starter-gomocup-{language}"), start(f"starter-agi-{language}")
    gomocup.ask("INFO rule 4", "START 15")
    engine.say("SETRULE FORBIDDEN")

    for stones, forbidden in FORBIDDEN:
        assert square_of(gomocup.ask(*board(stones))) not in forbidden
        played = best(engine, "POSITION MOVES " + "".join(map(agi, stones)), "GO TIME 1000")
        assert from_agi(played)[0] not in forbidden


def test_agi_greets_and_leaves(start: Start, language: str) -> None:
    talk = start(f"starter-agi-{language}")

    talk.say("agi", "SETOPTION PONDER OFF", "", "ISREADY", "STOP", "QUIT")

    words = ("ID NAME ", "AGIOK", "READYOK", "BYE")
    assert all(talk.hear_until(word).startswith(word) for word in words)


def test_agi_lays_three_stones_and_plays_on(start: Start, language: str) -> None:
    talk = start(f"starter-agi-{language}")
    talk.say("SETRULE FORBIDDEN THIRDCHANGE", "POSITION")
    laid: list[str] = []
    for _ in range(9):
        laid.append(best(talk, "GO TIME 10000"))
        talk.say(f"DOMOVE {laid[-1]}")

    assert 9 == len(set(laid))
    assert "78" == laid[0]
    assert all(abs(x - 7) < 2 and abs(y - 7) < 2 for x, y in from_agi(laid[1]))
    assert all(abs(x - 7) < 3 and abs(y - 7) < 3 for x, y in from_agi(laid[2]))


def test_agi_answers_by_a_point_that_is_named(start: Start, language: str) -> None:
    talk = start(f"starter-agi-{language}")

    for rules in ("FORBIDDEN FIVETWINE", "UNFORBIDDEN"):
        talk.say(f"SETRULE {rules}", "POSITION STATU 786879 MOVES 6A")
        assert best(talk, "GO SEARCH 8889 TIME 10000") in ("88", "89")


def test_quantum_chess_continues_from_a_position(start: Start, language: str) -> None:
    """White has a king that cannot have been where games begin, and a pawn that can only capture."""
    talk = start(f"starter-qchess-{language}")
    talk.say("white", "BOARD", "white king ['king', 'king']at 3,4", "black unknown ['pawn', 'unknown'] at 3,3",
             "black unknown ['rook', 'unknown']at 2,2", "", "END BOARD", "3 3 1 pawn", "3 3 -> 3 2", "SELECTION?",
             "3 4 0 king", "3 4 -> 3 3", "SELECTION?", "3 3 0 pawn", "MOVE?")  # fmt: skip

    assert ["3 4", "3 3", "2 2"] == [talk.hear(), talk.hear(), talk.hear()]


@pytest.mark.parametrize(("protocol", "greeting"), [("stratego", "BLUE foe 10 10"), ("qchess", "black")])
def test_the_games_of_the_ucc_end_with_quit(start: Start, language: str, protocol: str, greeting: str) -> None:
    talk = start(f"starter-{protocol}-{language}")
    talk.say(greeting, "QUIT")

    assert 0 == talk.process.wait(SILENCE_S)
