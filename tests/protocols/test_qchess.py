"""The qchess protocol as conversations (tests/protocols/talk.py). Quotations are from UCC's text API."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.games.gomoku.requests import PlaceStone
from judge.games.quantum_chess.words import (
    Destination,
    Moved,
    OnSquare,
    Selected,
    Selection,
    TurnLost,
    read_square,
)
from judge.games.types import Event, Reply, ReplyKind, Request, decided
from judge.protocols import new_protocol
from judge.protocols.qchess import Qchess, QchessOptions
from judge.protocols.time_control import TimeControl
from judge.protocols.types import Answer, Ask, Await, Bytes, Clock, Note, Open, Ready, SeatLimits, Wait, Write
from tests.protocols.talk import Talk, settings

CLOCK = Clock(4000, 2147483647)
LIMITS = SeatLimits(TimeControl(turn_ms=4000), 0)

SCRIPTS = {
    "opened": "> white\n= ready",
    "selecting": "@ opened\n? select\n> SELECTION?\n= await turn",
}

TALKS = {
    # tests/conformance/test_qchess.py has recorded conversations: a piece that cannot move, lines sent ahead.
    # No response.
    "the colour of black is sent without waiting for a reply": "* seat = 1\n> black\n= ready",
    # Request, update, request, update; then the opponent's updates, without a request.
    "a turn of the founding text": """
        @ selecting
        < 4 6 => 4 6
        ! selected 0 4 6 0 pawn
        ? move 4 6 => 4 6 0 pawn | MOVE?
        = await turn
        < 4 4 => 4 4
        ! moved 0 4 6 4 4
        ! selected 1 1 0 1 queen
        ! moved 1 1 0 2 2 => 4 6 -> 4 4 | 1 0 1 queen | 1 0 -> 2 2
    """,
    # It will not receive MOVE? before its next selection.
    "unreadable answers are passed on unchanged": "@ selecting\n< E5\n= unreadable E5",
    "an answer may come in pieces": "@ selecting\n< 3\\\n<  7 0 ki\\\n< ng\n= 3 7 0 king",
    "QUIT has the result, as in 2013": """
        @ opened
        ! close white DRAW => QUIT white DRAW
        = await close
        < bye => note discarded after QUIT: 'bye\\n'
    """,
    "QUIT is a line without arguments, as in the founding text": """
        * options.quit = "bare"
        @ opened
        ! close white DRAW => QUIT
        = await close
    """,
    "a game without a result ends with QUIT alone": "@ opened\n! close\n> QUIT",
    "a lost turn is announced in the words of a result": "@ opened\n! lost ILLEGAL move 1,5\n> ILLEGAL move 1,5",
    # It should make no response; if it does, it will be declared illegal. It is not asked.
    "strict: a reply to the colour is illegal at the first request": """
        * options.unasked = "strict"
        @ opened
        < hello white => note unasked: 'hello white'
        ? select
        = unasked hello white
    """,
    "strict: a reply to an update is illegal": """
        * options.unasked = "strict"
        @ selecting
        < 4 6 => 4 6
        ! selected 0 4 6 0 pawn => 4 6 0 pawn
        < ok
        ? move 4 6
        = unasked ok
    """,
    "strict: a second line is unasked and the answer counts": r"""
        * options.unasked = "strict"
        @ selecting
        < 4 6\n4 5\n\
        = 4 6
        ? move 4 6
        = unasked 4 5
    """,
    "strict: half a line is unasked": '* options.unasked = "strict"\n@ opened\n< 3\\\n? select\n= unasked 3',
    # As of `print("4 6\n")`: neither speech that was not asked for, nor an answer to what is asked next.
    "strict: a blank line is ignored": r"""
        * options.unasked = "strict"
        @ selecting
        < 4 6\n\n \r\n\
        = 4 6
        ! selected 0 4 6 0 pawn => 4 6 0 pawn
        < \n\
        < \t\
        ? move 4 6 => MOVE?
        = await turn
        < \n\
        < 4 5 => 4 5
    """,
    "lenient: a line may begin before its request": """
        @ opened
        < 3\\
        ? select => SELECTION?
        = await turn
        <  7 => 3 7
    """,
    "lenient: the number of lines is limited": r"""
        * options.kept_lines = 2
        @ opened
        < 1 1\n2 2\n3 3\n4 4 => note dropped: 2 line(s) too many before their request
        ? select
        ? select
        ? select => SELECTION?
        = 1 1
        > SELECTION?
        = 2 2
        > SELECTION?
        = await turn
    """,
}


def requests(text: str) -> Request:
    match text.split():
        case ["select"]:
            return Selection(0)
        case ["move", x, y]:
            return Destination(0, int(x), int(y))
    raise ValueError(text)


def events(text: str) -> Event:
    match text.split():
        case ["selected", seat, x, y, index, kind]:
            return Selected(0, int(seat), int(x), int(y), int(index), kind)
        case ["moved", *numbers]:
            moved = [*map(int, numbers)]
            return Moved(0, moved[0], moved[1], moved[2], moved[3], moved[4])
        case ["lost", *words]:
            return TurnLost(0, " ".join(words))
    raise ValueError(text)


def plays(script: str) -> None:
    values, script = settings(script)
    game = {"variant": "quantum"} | values.get("game", {})
    protocol = Qchess(QchessOptions.model_validate(values.get("options", {})))
    opening = Open(values.get("seat", 0), game, ("one", "two"), LIMITS)
    Talk(protocol, opening, clock=CLOCK, scripts=SCRIPTS, requests=requests, events=events).plays(script)


@pytest.mark.parametrize("name", TALKS)
def test_conversation(name: str) -> None:
    plays(TALKS[name])


def test_long_line_is_cut_and_read_as_far_as_it_goes() -> None:
    line = f"3 7 {'x' * 200}"
    note = "= note cut: a line of more than 64 bytes"
    plays(f"* options.line_bytes = 64\n@ selecting\n< {line}\n{note}\n= {line[:64]}")


@pytest.mark.parametrize(("board_at", "at"), [("original", "]at"), ("spaced", "] at")])
def test_position_and_moves_follow_the_colour(board_at: Any, at: str) -> None:
    """The program of 2013 forgot the blank before `at`, and its agents read it so."""
    pawn = {"colour": "white", "current": "unknown", "types": ["pawn", "unknown"], "x": 1, "y": 0}
    king = {"colour": "black", "current": "king", "types": ["king", "king"], "x": 7, "y": 7}
    game = {"variant": "quantum", "board": [pawn, king], "played": ["1 0 0 pawn", "7 7 0 king"]}
    board = f"white unknown ['pawn', 'unknown'{at} 1,0\nblack king ['king', 'king'{at} 7,7\n"

    effects = Qchess(QchessOptions(board_at=board_at)).feed(Open(1, game, ("one", "two"), LIMITS))

    assert [Write(f"black\nBOARD\n{board}\nEND BOARD\n1 0 0 pawn\n7 7 0 king\n".encode()), Ready()] == effects


@pytest.mark.parametrize(
    ("line", "square"),
    [
        ("3 7", (3, 7)),
        ("3 7 0 king", (3, 7)),
        ("3 7 junk", (3, 7)),
        ("3 7x", (3, 7)),
        ("   3    7", (3, 7)),
        ("\t3\t7 ", (3, 7)),
        ("3 7\r", (3, 7)),
        ("03 007", (3, 7)),
        ("8 8", (8, 8)),
    ],
)
def test_both_forms_of_an_answer_are_two_numbers_and_anything(line: str, square: tuple[int, int]) -> None:
    """`x y`, and `x y index type`; the program read no further than two numbers."""
    assert decided(OnSquare(*square), line) == read_square(line)


@pytest.mark.parametrize(
    "said",
    ["", "hello", "E5", "-1 3", "3 -7", "3,7", "3", "3.0 7", "\xff\x00", "\u0663 7", "x 3 7", "9" * 5000 + " 1"],
)
def test_line_without_two_leading_numbers_is_unreadable(said: str) -> None:
    assert Reply(ReplyKind.UNREADABLE, said) == read_square(said)


def test_unsupported_answer_of_the_judge_is_the_judges_error() -> None:
    protocol = Qchess(QchessOptions())
    assert PlaceStone not in protocol.speaks
    with pytest.raises(TypeError):
        protocol.feed(Ask(PlaceStone(0, (), 0, 8, 8, 0), CLOCK))


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="protocol qchess: unasked: Input should be 'strict' or 'lenient'"):
        new_protocol("qchess", {"unasked": "never"})


@hypothesis_settings(deadline=None)
@given(st.lists(st.binary(min_size=1, max_size=40), max_size=30), st.sampled_from(["strict", "lenient"]))
def test_any_bytes_give_one_answer_a_request_and_never_fail(chunks: list[bytes], unasked: Any) -> None:
    protocol = Qchess(QchessOptions(unasked=unasked))
    protocol.feed(Open(0, {}, ("one", "two"), LIMITS))
    is_asked = False
    for chunk in chunks:
        if not is_asked:
            first = protocol.feed(Ask(Selection(0), CLOCK))
            is_asked = Await(Wait.TURN) in first
            assert is_asked is not any(isinstance(effect, Answer) for effect in first)
        answers = [e for e in protocol.feed(Bytes(chunk, CLOCK)) if not isinstance(e, Note)]
        assert len(answers) <= is_asked
        assert all(isinstance(effect, Answer) for effect in answers)
        is_asked = is_asked and not answers
