"""The Gomocup protocol, told as conversations."""

from typing import Any

import pytest

from judge.games.gomoku.requests import Placed, PlaceStone
from judge.protocols import new_protocol
from judge.protocols.gomocup import Gomocup
from judge.protocols.gomocup_words import GomocupOptions, is_private, parse_about
from judge.protocols.types import Answer, Ask, Bytes, Clock, Close, Note, Open, ToldLimits, Write
from judge.testing import Conversation

INFOS = """
> INFO timeout_turn 5000
> INFO timeout_match 120000
> INFO max_memory 367001600
> INFO game_type 1
> INFO rule 0
""".strip()
"""What follows START in `opened`, in the order of the Czech text."""

FREESTYLE_20 = {"width": 20, "height": 20, "rule": "freestyle"}


def opened(game: dict[str, Any] = FREESTYLE_20, **options: Any) -> Conversation:
    """A conversation in which START was sent."""
    conversation = Conversation(
        Gomocup(GomocupOptions(**options)), "\n" if options.get("line_ending") == "lf" else "\r\n"
    )
    conversation.feed(Open(0, game, ("one", "two"), ToldLimits(5000, 120000, 367001600)))
    return conversation


def greeted(**options: Any) -> Conversation:
    """A conversation whose brain is ready."""
    conversation = opened(**options)
    conversation.goes(
        f"""
        > START 20
        < OK
        {INFOS}
        > ABOUT
        < name="SomeBrain", version="1.0", author="Nymand", country="USA"
        = ready name="SomeBrain", version="1.0", author="Nymand", country="USA"
        """
    )
    return conversation


def ask(conversation: Conversation, *stones: Placed, seat: int = 0, opening: int = 0) -> None:
    request = PlaceStone(seat, stones, opening, 20, 20, seat)
    conversation.feed(Ask(request, Clock(5000, 90000)))


def thinking(**options: Any) -> Conversation:
    """A conversation in which the first move is awaited."""
    conversation = greeted(**options)
    ask(conversation)
    conversation.goes("> INFO time_left 90000\n> BEGIN\n= await turn")
    return conversation


def test_start_info_and_about_in_the_order_and_case_of_the_protocol() -> None:
    """Commands are upper case, INFO keys lower case, INFO in the order of the Czech text."""
    greeted()


def test_a_brain_may_explain_its_ok() -> None:
    """Gomoku AI protocol, START: `OK - everything is good`."""
    opened().goes(
        f"""
        > START 20
        = await start
        < OK - everything is good
        {INFOS}
        > ABOUT
        = await courtesy
        """
    )


def test_an_error_to_start_refuses() -> None:
    """Gomoku AI protocol, START: `ERROR message - unsupported size or other error`."""
    conversation = opened()
    conversation.goes(
        """
        > START 20
        < ERROR message - unsupported size or other error
        = refused START 20: ERROR message - unsupported size or other error
        """
    )


def test_unknown_to_rectstart_refuses() -> None:
    """A board that is not square is started by RECTSTART, and only such a board."""
    conversation = opened({"width": 30, "height": 20, "rule": "standard"})
    conversation.goes(
        """
        > RECTSTART 30,20
        < UNKNOWN
        = refused RECTSTART 30,20: UNKNOWN
        """
    )


def test_rectstart_is_followed_like_start() -> None:
    """Gomoku AI protocol, RECTSTART: `OK - parameters are good`; INFO rule 1 is exactly five."""
    opened({"width": 30, "height": 20, "rule": "standard"}).goes(
        """
        > RECTSTART 30,20
        < OK - parameters are good
        > INFO timeout_turn 5000
        > INFO timeout_match 120000
        > INFO max_memory 367001600
        > INFO game_type 1
        > INFO rule 1
        > ABOUT
        """
    )


def test_a_brain_that_never_answers_about_is_ready_when_the_courtesy_is_over() -> None:
    """ABOUT may never be answered; nothing waits for ever."""
    conversation = opened()
    conversation.goes(
        f"""
        > START 20
        < OK
        {INFOS}
        > ABOUT
        = await courtesy
        """
    )
    conversation.alarm()
    conversation.goes("= ready")


def test_an_answer_to_about_that_comes_too_late_is_set_aside() -> None:
    """Neither a late answer to ABOUT nor UNKNOWN lines to INFO are taken for a move."""
    conversation = opened()
    conversation.goes(
        f"""
        > START 20
        < OK
        {INFOS}
        > ABOUT
        """
    )
    conversation.alarm()
    conversation.goes("= ready")
    ask(conversation)
    conversation.goes(
        """
        > INFO time_left 90000
        > BEGIN
        < UNKNOWN to INFO
        < UNKNOWN to ABOUT
        < Old brain by somebody
        < 10,10
        = 10,10
        """
    )


def test_begin_then_turns() -> None:
    """Gomoku AI protocol, BEGIN and TURN: `BEGIN` -> 10,10; `TURN 10,10` -> 11,10. time_left comes before every
    move."""
    conversation = thinking()
    conversation.goes("< 10,10\n= 10,10")
    ask(conversation, (10, 10, 0), (11, 10, 1))
    conversation.goes(
        """
        > INFO time_left 90000
        > TURN 11,10
        < 9,9
        = 9,9
        """
    )


def test_the_second_brain_hears_the_first_move_as_a_turn() -> None:
    """Gomoku AI protocol, BEGIN: after that the other brain obtains TURN with the first opponent's move."""
    conversation = greeted()
    ask(conversation, (10, 10, 0), seat=1)
    conversation.goes(
        """
        > INFO time_left 90000
        > TURN 10,10
        < 11,10
        = 11,10
        """
    )


def test_an_opening_is_a_board_with_own_and_other_stones() -> None:
    """Gomoku AI protocol, BOARD: own stones are 1, the opponent's 2, ended by DONE."""
    conversation = greeted()
    stones = [(10, 10, 0), (10, 11, 1), (11, 11, 0), (9, 10, 1)]
    ask(conversation, *stones, opening=4)
    conversation.goes(
        """
        > INFO time_left 90000
        > BOARD
        > 10,10,1
        > 10,11,2
        > 11,11,1
        > 9,10,2
        > DONE
        < 9,9
        = 9,9
        """
    )


def test_opening_of_one_stone_is_sent_as_a_board() -> None:
    """With automatic openings both brains receive BOARD, never TURN or BEGIN."""
    conversation = greeted()
    ask(conversation, (7, 7, 0), seat=1, opening=1)
    conversation.goes("> INFO time_left 90000\n> BOARD\n> 7,7,2\n> DONE")


def test_suggest_is_answered_by_play_and_the_square_then_returned_counts() -> None:
    """Gomoku AI protocol, PLAY: the brain may answer another square; it is the one that counts. One turn clock."""
    thinking().goes(
        """
        < SUGGEST 10,10
        > PLAY 10,10
        = await turn
        < 12,10
        = 12,10
        """
    )


def test_a_suggestion_that_is_no_square_is_unreadable() -> None:
    thinking().goes("< SUGGEST here\n= unreadable SUGGEST here")


def test_two_suggestions_of_a_request_are_answered_and_the_rest_is_set_aside() -> None:
    """However many come, the judge does not write more often."""
    protocol = new_protocol("gomocup", {})
    protocol.feed(Open(0, FREESTYLE_20, ("one", "two"), ToldLimits(5000, 120000, 367001600)))
    protocol.feed(Bytes(b"OK\r\nname=x\r\n", Clock(5000, 90000)))
    stones: tuple[Placed, ...]
    for square, stones in (("10,10", ()), ("9,9", ((7, 7, 0), (8, 8, 1)))):
        protocol.feed(Ask(PlaceStone(0, stones, 0, 20, 20, 0), Clock(5000, 90000)))
        effects = protocol.feed(Bytes(f"SUGGEST {square}\r\n".encode() * 50, Clock(5000, 90000)))

        assert [f"PLAY {square}\r\n".encode()] * 2 == [e.data for e in effects if isinstance(e, Write)]
        assert 48 == sum(isinstance(effect, Note) for effect in effects)
        (answer,) = protocol.feed(Bytes(b"7,7\r\n", Clock(5000, 90000)))
        assert isinstance(answer, Answer)


def test_messages_are_kept_and_debug_is_private() -> None:
    """Gomoku AI protocol, DEBUG: not visible to the public."""
    thinking().goes(
        """
        < DEBUG The most promising move now is [10,14] alfa=10025 beta=8641
        = note The most promising move now is [10,14] alfa=10025 beta=8641
        < MESSAGE I will be the winner
        = note I will be the winner
        < 10,16
        = 10,16
        """
    )
    assert is_private(b"debug x")
    assert not is_private(b"MESSAGE DEBUG x")


@pytest.mark.parametrize("word", ["ok", "Ok", "OK"])
def test_words_of_a_brain_are_read_in_any_case(word: str) -> None:
    opened().goes(
        f"""
        > START 20
        < {word}
        {INFOS}
        > ABOUT
        """
    )


@pytest.mark.parametrize("end", ["\\r\\n\\", "\\n\\", "\\r\\"])
def test_a_reply_may_end_in_cr_lf_or_both(end: str) -> None:
    thinking().goes(f"< 7,7{end}\n= 7,7")


def test_a_blank_line_is_no_answer_to_about() -> None:
    """Blanks stand in a transcript for private lines that are withheld; its replay must go as the game did."""
    conversation = opened()
    conversation.goes(
        f"""
        > START 20
        < OK
        {INFOS}
        > ABOUT
        < \\x20\\x20\\x20
        < name="late"
        = ready name="late"
        """
    )


def test_a_line_that_is_not_ended_is_no_reply() -> None:
    """Not even when the stream ends; the deadline is the referee's."""
    thinking().goes("< 7,7\\")


def test_a_reply_in_pieces_is_one_reply() -> None:
    thinking().goes("< 1\\\n< 0,1\\\n< 0\n= 10,10")


def test_lines_end_in_lf_for_a_brain_that_asks_for_it() -> None:
    opened(line_ending="lf").goes("> START 20")


# One row for each reply of facts: what brains in the wild send while a move is awaited, what this judge does, and why.
REPLIES = [
    ("DEBUG x", "", "allowed at any time"),
    ("MESSAGE x", "", "allowed at any time"),
    ("message x", "", "in any case of letters"),
    ("UNKNOWN x", "", "the first may be the answer to INFO time_left"),
    ("ERROR x", "= wake after 1000", "the same, unless nothing follows: then INFO was too much for it"),
    ("3,4", "= 3,4", "plain"),
    ("+3,4", "= 3,4", "a sign is a number's"),
    ("3,4,1", "= unreadable 3,4,1", "meant as a move and not one: judged now, not at the deadline"),
    ("-" + "9" * 5000 + ",+3", "= -" + "9" * 199, "off every board, however long it is"),
    ("0" * 5000 + "7,07", "= 7,7", "zeros before a number change nothing"),
    ("3;4", "", "not a pair of numbers: text"),
    ("\\n\\n\\r\\n3,4", "= 3,4", "empty lines are skipped"),
]
"""tests/conformance/test_gomocup_misbehaviour.py has the others."""


@pytest.mark.parametrize(("said", "outcome", "why"), REPLIES)
def test_output_while_a_move_is_awaited(said: str, outcome: str, why: str) -> None:
    thinking().goes(f"< {said}\n{outcome}")


def test_one_unknown_more_than_there_were_infos_refuses_the_move() -> None:
    """INFO needs no answer, but brains answer it; the second UNKNOWN can only mean BEGIN."""
    thinking().goes("< UNKNOWN a\n= wake after 1000\n< UNKNOWN b\n= refused UNKNOWN b")


def test_an_error_to_a_move_refuses_it() -> None:
    thinking().goes("< ERROR unknown key\n= wake after 1000\n< ERROR out of memory\n= refused ERROR out of memory")


def test_an_error_to_the_first_move_refuses_it_when_no_move_follows_soon() -> None:
    """Gomoku AI protocol, INFO: an unachievable limit is told at the first TURN, BEGIN or BOARD. Chatter is no move."""
    conversation = thinking(refusal_ms=300)
    conversation.goes("< ERROR too little memory\n= wake after 300\n< MESSAGE sorry")
    conversation.alarm()
    conversation.goes("= refused ERROR too little memory")


@pytest.mark.parametrize("said", ["UNKNOWN", "UNKNOWN command", "ERROR", "ERROR I cannot play on"])
@pytest.mark.parametrize("moves", [0, 1, 3])
def test_one_refusal_of_any_move_is_judged_when_no_move_follows_soon(said: str, moves: int) -> None:
    """Gomoku AI protocol, UNKNOWN and ERROR: the reply to a command. This brain answered no INFO line."""
    conversation = thinking(refusal_ms=300)
    stones: list[Placed] = []
    for number in range(moves):
        conversation.goes(f"< {number},0\n= {number},0")
        stones += [(number, 0, 0), (number, 5, 1)]
        ask(conversation, *stones)
        conversation.goes(f"> INFO time_left 90000\n> TURN {number},5")
    conversation.goes(f"< {said}\n= wake after 300")
    conversation.alarm()
    conversation.goes(f"= refused {said}")


def test_refusal_before_a_move_is_taken_for_an_answer_to_info_from_then_on() -> None:
    """A brain that answers INFO lines may think for as long as its turn lasts."""
    conversation = thinking(refusal_ms=300)
    conversation.goes("< UNKNOWN command\n= wake after 300\n< 7,7\n= 7,7")
    ask(conversation, (7, 7, 0), (8, 8, 1))
    conversation.goes("> INFO time_left 90000\n> TURN 8,8\n< UNKNOWN command\n")
    conversation.alarm()
    conversation.goes("< 9,9\n= 9,9")


@pytest.mark.parametrize("said", ["10,10", "SUGGEST 10,10\n> PLAY 10,10\n< 10,10"])
def test_a_move_that_follows_an_error_counts(said: str) -> None:
    conversation = thinking()
    conversation.goes(f"< ERROR unknown key\n= wake after 1000\n< {said}\n= 10,10")
    conversation.alarm()
    conversation.goes("")


def test_an_error_to_a_later_move_may_be_chatter_to_the_end_of_the_turn() -> None:
    conversation = thinking()
    conversation.goes("< 10,10\n= 10,10")
    ask(conversation, (10, 10, 0), (11, 10, 1))
    conversation.goes("> INFO time_left 90000\n> TURN 11,10\n< ERROR hash full\n< 9,9\n= 9,9")


def test_a_brain_that_answers_info_lines_may_answer_time_left_and_think() -> None:
    """It has shown that it does: its first ERROR is not about BEGIN."""
    conversation = opened()
    conversation.goes(
        f"""
        > START 20
        < OK
        {INFOS}
        > ABOUT
        < ERROR INFO\\nERROR INFO\\nERROR INFO\\nERROR INFO\\nERROR INFO
        < name="x"
        = ready name="x"
        """
    )
    ask(conversation)
    conversation.goes("> INFO time_left 90000\n> BEGIN\n< ERROR INFO\n< 9,9\n= 9,9")


@pytest.mark.parametrize("infos", [0, 1, 5])
def test_an_ok_to_info_lines_is_no_answer_to_about(infos: int) -> None:
    conversation = opened()
    conversation.goes(f"> START 20\n< OK\n{INFOS}\n> ABOUT")
    for _ in range(infos):
        conversation.goes("< OK")
    conversation.goes('< name="SomeBrain"\n= ready name="SomeBrain"')


def test_an_ok_more_than_there_were_infos_is_an_answer_to_about() -> None:
    conversation = opened()
    conversation.goes(f"> START 20\n< OK\n{INFOS}\n> ABOUT\n< OK\\nOK\\nOK\\nOK\\nOK\\nOK\n= ready")


def test_a_board_that_a_brain_does_not_know_is_refused_and_the_rest_is_discarded() -> None:
    """A brain without BOARD answers one UNKNOWN a line: that must not desynchronise what comes later."""
    conversation = greeted()
    ask(conversation, (10, 10, 0), (10, 11, 1), opening=2)
    conversation.goes(
        """
        > INFO time_left 90000
        > BOARD
        > 10,10,1
        > 10,11,2
        > DONE
        < UNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN
        = wake after 1000
        = refused UNKNOWN
        = note discarded: 2 line(s) without a request, first 'UNKNOWN'
        """
    )


def test_a_second_move_in_one_go_is_not_the_answer_to_the_next_turn() -> None:
    """Stale output is accepted as a move by other managers; here it is discarded and noted."""
    conversation = thinking()
    conversation.goes("< 7,7\\n8,8\n= 7,7\n= note discarded: 1 line(s) without a request, first '8,8'")
    conversation.goes("< 9,9\n= note discarded: 1 line(s) without a request, first '9,9'")
    conversation.goes("< 1,\\")
    ask(conversation, (7, 7, 0), (11, 10, 1))
    conversation.goes("> INFO time_left 90000\n> TURN 11,10\n< 2,2\n= 2,2")


def test_long_line_is_cut_and_the_game_continues() -> None:
    """It must not crash if a line is too long, but it can silently cut very long lines (Gomoku AI protocol)."""
    conversation = greeted(line_bytes=64)
    ask(conversation)
    conversation.goes("> INFO time_left 90000\n> BEGIN")
    for _ in range(100):
        conversation.goes("< " + "MESSAGE" + "x" * 1000 + "\\")
    conversation.goes("< \n= note cut: a line of more than 64 bytes\n< 3,3\n= 3,3")


def test_a_new_position_is_imposed_by_restart_and_board() -> None:
    """Gomoku AI protocol, BOARD: if there is any open game, the manager sends RESTART before the BOARD command."""
    conversation = thinking()
    conversation.goes("< 10,10\n= 10,10")
    ask(conversation, (5, 5, 0), (6, 6, 1), opening=2)
    conversation.goes(
        """
        > RESTART
        = await start
        < OK
        > INFO time_left 90000
        > BOARD
        > 5,5,1
        > 6,6,2
        > DONE
        = await turn
        < 4,4
        = 4,4
        """
    )


def test_a_brain_without_restart_is_ended_and_executed_again() -> None:
    """Gomoku AI protocol, RESTART: if the brain answers UNKNOWN, the manager sends END and executes the brain again."""
    conversation = thinking()
    conversation.goes("< 10,10\n= 10,10")
    ask(conversation, (5, 5, 0), opening=1, seat=1)
    conversation.goes(
        f"""
        > RESTART
        < UNKNOWN
        > END
        = respawn
        > START 20
        = await start
        < OK
        {INFOS}
        > INFO time_left 90000
        > BOARD
        > 5,5,2
        > DONE
        = await turn
        < 4,4
        = 4,4
        """
    )


def test_late_output_of_a_replaced_brain_is_no_answer() -> None:
    conversation = thinking()
    conversation.goes("< 10,10\n= 10,10")
    ask(conversation, (5, 5, 0), opening=1, seat=1)
    conversation.goes(
        f"""
        > RESTART
        < UNKNOWN\\nOK\\n7,7\\nOK
        > END
        = respawn
        > START 20
        = await start
        = note discarded: 3 line(s) without a request, first 'OK'
        < OK
        {INFOS}
        > INFO time_left 90000
        > BOARD
        > 5,5,2
        > DONE
        """
    )


def test_end_is_sent_once_and_later_output_is_ignored() -> None:
    conversation = thinking()
    conversation.goes("< 1,1\n= 1,1")
    conversation.feed(Close())
    conversation.goes("> END\n= await close\n< bye")


def test_numbers_that_brains_read_into_32_bits_fit_them() -> None:
    """max_memory above 2 GiB and an unlimited game are told as 2147483647."""
    conversation = Conversation(Gomocup(GomocupOptions()))
    conversation.feed(Open(0, FREESTYLE_20, ("a", "b"), ToldLimits(0, 0, 4 << 30, "/data")))
    conversation.goes(
        """
        > START 20
        < OK
        > INFO timeout_turn 0
        > INFO timeout_match 0
        > INFO max_memory 2147483647
        > INFO game_type 1
        > INFO rule 0
        > INFO folder /data
        > ABOUT
        """
    )


def test_an_answer_to_about_is_read_by_keyword_or_kept_as_text() -> None:
    assert parse_about('name="A b", Version="1.0",country="X"') == {
        "name": "A b",
        "version": "1.0",
        "country": "X",
    }
    assert parse_about("Old brain by somebody") == {"text": "Old brain by somebody"}
    assert parse_about("") == {}
