"""The qchess protocol, told as conversations. The agent's lines and the judge's are those of UCC's text API."""

from typing import Any

import pytest
from hypothesis import given, settings
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
from judge.games.types import Reply, ReplyKind, Request, decided
from judge.protocols import new_protocol, protocol_entry
from judge.protocols.qchess import Qchess, QchessOptions
from judge.protocols.types import (
    Answer,
    Ask,
    Await,
    Bytes,
    Clock,
    Close,
    Effect,
    Eof,
    Note,
    Open,
    Ready,
    Tell,
    ToldLimits,
    Wait,
    Write,
)
from judge.testing import Conversation

CLOCK = Clock(4000, 2147483647)
LIMITS = ToldLimits(4000, 0, 0)


def opened(seat: int = 0, **options: Any) -> Conversation:
    """A conversation in which the colour was told."""
    conversation = Conversation(Qchess(QchessOptions(**options)), "\n")
    conversation.feed(Open(seat, {"variant": "quantum"}, ("one", "two"), LIMITS))
    conversation.goes(f"> {('white', 'black')[seat]}\n= ready")
    return conversation


def selecting(**options: Any) -> Conversation:
    """A conversation in which a selection is awaited."""
    conversation = opened(**options)
    conversation.feed(Ask(Selection(0), CLOCK))
    conversation.goes("> SELECTION?\n= await turn")
    return conversation


def effects(protocol: Qchess, request: Request) -> list[Effect]:
    return list(protocol.feed(Ask(request, CLOCK)))


def test_colour_is_sent_without_waiting_for_a_reply() -> None:
    """UCC's text API, Game start: no response."""
    opened(0)
    opened(1)


def test_turn_of_the_founding_text() -> None:
    """Request, update, request, update; then the opponent's updates, without a request."""
    conversation = selecting()
    conversation.goes("< 4 6\n= 4 6")
    conversation.feed(Tell(Selected(0, 0, 4, 6, 0, "pawn")))
    conversation.feed(Ask(Destination(0, 4, 6), CLOCK))
    conversation.goes("> 4 6 0 pawn\n> MOVE?\n= await turn\n< 4 4\n= 4 4")
    conversation.feed(Tell(Moved(0, 0, 4, 6, 4, 4)))
    conversation.feed(Tell(Selected(0, 1, 1, 0, 1, "queen")))
    conversation.feed(Tell(Moved(0, 1, 1, 0, 2, 2)))
    conversation.goes("> 4 6 -> 4 4\n> 1 0 1 queen\n> 1 0 -> 2 2")


def test_a_piece_that_cannot_move_is_followed_by_the_next_selection() -> None:
    """UCC's text API, Request: Movement: it will not receive MOVE? before its next selection."""
    conversation = selecting()
    conversation.goes("< 0 7\n= 0 7")
    conversation.feed(Tell(Selected(0, 0, 0, 7, 0, "rook")))
    conversation.feed(Tell(Selected(0, 1, 0, 0, 1, "rook")))
    conversation.feed(Ask(Selection(0), CLOCK))
    conversation.goes("> 0 7 0 rook\n> 0 0 1 rook\n> SELECTION?")


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
    """UCC's text API, Request: Selection: `x y`, and `x y index type`; the program read no further than two numbers."""
    assert decided(OnSquare(*square), line) == read_square(line)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "hello",
        "E5",
        "-1 3",
        "3 -7",
        "3,7",
        "3",
        "3.0 7",
        "\xff\x00",
        "\u0663 7",
        "x 3 7",
        "9" * 5000 + " 1",
    ],
)
def test_line_without_two_leading_numbers_is_unreadable(said: str) -> None:
    assert Reply(ReplyKind.UNREADABLE, said) == read_square(said)


def test_unreadable_answers_are_passed_on_unchanged() -> None:
    selecting().goes("< E5\n= unreadable E5")


def test_an_answer_may_come_in_pieces() -> None:
    selecting().goes("< 3\\\n<  7 0 ki\\\n< ng\n= 3 7 0 king")


def test_the_end_of_the_stream_does_not_end_a_line() -> None:
    """The program read `3 7` and the end of file as an answer; here the death is judged."""
    conversation = selecting()
    conversation.goes("< 3 7\\")
    conversation.feed(Eof())
    conversation.goes("")


def test_a_long_line_is_cut_and_read_as_far_as_it_goes() -> None:
    conversation = selecting(line_bytes=64)
    line = f"3 7 {'x' * 200}"
    conversation.goes(f"< {line}\n= note cut: a line of more than 64 bytes\n= {line[:64]}")


def test_quit_has_the_result_as_in_2013() -> None:
    conversation = opened()
    conversation.feed(Close("white DRAW"))
    conversation.goes("> QUIT white DRAW\n= await close\n< bye\n= note discarded after QUIT: 'bye\\n'")


def test_quit_is_a_line_without_arguments_as_in_the_founding_text() -> None:
    """UCC's text API, Game ends."""
    conversation = opened(quit="bare")
    conversation.feed(Close("white DRAW"))
    conversation.goes("> QUIT\n= await close")


def test_a_game_without_a_result_ends_with_quit_alone() -> None:
    conversation = opened()
    conversation.feed(Close())
    conversation.goes("> QUIT")


def test_lost_turn_is_announced_in_result_words() -> None:
    conversation = opened()
    conversation.feed(Tell(TurnLost(0, "ILLEGAL move 1,5")))
    conversation.goes("> ILLEGAL move 1,5")


# --- unasked ---------------------------------------------------------------------------------------------------------


def test_strict_reply_to_a_colour_is_illegal_at_its_first_request() -> None:
    """UCC's text API, Game start: should make no response; if it does, it will be declared illegal. It is not asked."""
    conversation = opened(unasked="strict")
    conversation.goes("< hello white\n= note unasked: 'hello white'")
    conversation.feed(Ask(Selection(0), CLOCK))
    conversation.goes("= unasked hello white")


def test_strict_reply_to_an_update_is_illegal() -> None:
    """UCC's text API, Update: the agent should not respond to this message."""
    conversation = selecting(unasked="strict")
    conversation.goes("< 4 6\n= 4 6")
    conversation.feed(Tell(Selected(0, 0, 4, 6, 0, "pawn")))
    conversation.goes("> 4 6 0 pawn\n< ok")
    conversation.feed(Ask(Destination(0, 4, 6), CLOCK))
    conversation.goes("= unasked ok")


def test_strict_a_second_line_with_an_answer_is_unasked_and_the_answer_counts() -> None:
    conversation = selecting(unasked="strict")
    conversation.goes("< 4 6\\n4 5\\n\\\n= 4 6")
    conversation.feed(Ask(Destination(0, 4, 6), CLOCK))
    conversation.goes("= unasked 4 5")


def test_strict_counts_the_beginning_of_a_line_as_unrequested_output() -> None:
    conversation = opened(unasked="strict")
    conversation.goes("< 3\\")
    conversation.feed(Ask(Selection(0), CLOCK))
    conversation.goes("= unasked 3")


def test_strict_ignores_a_blank_line() -> None:
    """As of `print("4 6\\n")`: it is no speech that nobody asked for, and no answer to what is asked next."""
    conversation = selecting(unasked="strict")
    conversation.goes("< 4 6\\n\\n \\r\\n\\\n= 4 6")
    conversation.feed(Tell(Selected(0, 0, 4, 6, 0, "pawn")))
    conversation.goes("> 4 6 0 pawn\n< \n< \\t\\")
    conversation.feed(Ask(Destination(0, 4, 6), CLOCK))
    conversation.goes("> MOVE?\n= await turn\n< \n< 4 5\n= 4 5")


def test_lenient_takes_early_output_as_the_next_answer_and_still_asks() -> None:
    """As in the program: extra lines are kept for later requests."""
    conversation = selecting()
    conversation.goes("< 3 7\\n3 6\\nhello\\n\\\n= 3 7")
    conversation.feed(Ask(Destination(0, 3, 7), CLOCK))
    conversation.goes("> MOVE?\n= 3 6")
    conversation.feed(Ask(Selection(0), CLOCK))
    conversation.goes("> SELECTION?\n= unreadable hello")
    conversation.feed(Ask(Selection(0), CLOCK))
    conversation.goes("> SELECTION?\n= await turn")


def test_lenient_a_line_may_begin_before_its_request() -> None:
    conversation = opened()
    conversation.goes("< 3\\")
    conversation.feed(Ask(Selection(0), CLOCK))
    conversation.goes("> SELECTION?\n= await turn\n<  7\n= 3 7")


def test_lenient_limits_the_number_of_lines() -> None:
    conversation = opened(kept_lines=2)
    conversation.goes("< 1 1\\n2 2\\n3 3\\n4 4\n= note dropped: 2 line(s) too many before their request")
    conversation.feed(Ask(Selection(0), CLOCK))
    conversation.feed(Ask(Selection(0), CLOCK))
    conversation.feed(Ask(Selection(0), CLOCK))
    conversation.goes("> SELECTION?\n= 1 1\n> SELECTION?\n= 2 2\n> SELECTION?\n= await turn")


# --- a position ------------------------------------------------------------------------------------------------------

GONE_ON_WITH = {
    "variant": "quantum",
    "board": [
        {"colour": "white", "current": "unknown", "types": ["pawn", "unknown"], "x": 1, "y": 0},
        {"colour": "black", "current": "king", "types": ["king", "king"], "x": 7, "y": 7},
    ],
    "played": ["1 0 0 pawn", "7 7 0 king"],
}


@pytest.mark.parametrize(("board_at", "at"), [("original", "]at"), ("spaced", "] at")])
def test_position_and_moves_follow_the_colour(board_at: str, at: str) -> None:
    """The program of 2013 forgot the blank before `at`, and its agents read it so."""
    protocol = Qchess(QchessOptions.model_validate({"board_at": board_at}))

    assert [
        Write(
            "black\n"
            "BOARD\n"
            f"white unknown ['pawn', 'unknown'{at} 1,0\n"
            f"black king ['king', 'king'{at} 7,7\n"
            "\n"
            "END BOARD\n"
            "1 0 0 pawn\n"
            "7 7 0 king\n".encode()
        ),
        Ready(),
    ] == protocol.feed(Open(1, GONE_ON_WITH, ("one", "two"), LIMITS))


# --- the rest --------------------------------------------------------------------------------------------------------


def test_no_line_is_private() -> None:
    assert not protocol_entry("qchess").is_private(b"3 7")


def test_unsupported_answer_of_the_judge_is_the_judges_error() -> None:
    protocol = Qchess(QchessOptions())
    assert PlaceStone not in protocol.speaks
    with pytest.raises(TypeError):
        protocol.feed(Ask(PlaceStone(0, (), 0, 8, 8, 0), CLOCK))


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="protocol qchess: unasked: Input should be 'strict' or 'lenient'"):
        new_protocol("qchess", {"unasked": "never"})


@settings(deadline=None)
@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=30),
    st.sampled_from(["strict", "lenient"]),
)
def test_any_bytes_give_one_answer_a_request_and_never_fail(chunks: list[bytes], unasked: str) -> None:
    protocol = Qchess(QchessOptions.model_validate({"unasked": unasked}))
    protocol.feed(Open(0, {}, ("one", "two"), LIMITS))
    is_asked = False
    for chunk in chunks:
        if not is_asked:
            first = effects(protocol, Selection(0))
            is_asked = Await(Wait.TURN) in first
            assert is_asked is not any(isinstance(effect, Answer) for effect in first)
        answers = [e for e in protocol.feed(Bytes(chunk, CLOCK)) if not isinstance(e, Note)]
        assert len(answers) <= is_asked
        assert all(isinstance(effect, Answer) for effect in answers)
        is_asked = is_asked and not answers
