"""AGI as conversations: `>` the judge writes, `<` the engine writes, `=` what comes of it."""

import re
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.games.gomoku.requests import (
    AnswerSwap,
    ChooseFifth,
    ColoursSettled,
    LayStones,
    OfferFifths,
    Placed,
    PlaceStone,
    Square,
    Stone,
    StonePlaced,
    Stones,
    StonesRequest,
    Swap,
)
from judge.games.types import Decision, ReplyKind
from judge.protocols import protocol_entry
from judge.protocols.agi import Agi, AgiOptions
from judge.protocols.agi_words import (
    by_keyword,
    objection,
    read_answer,
    read_squares,
    write_squares,
)
from judge.protocols.types import (
    UNLIMITED_MS,
    Answer,
    Ask,
    Await,
    Bytes,
    Clock,
    Close,
    Eof,
    Note,
    Open,
    Ponder,
    Ready,
    Search,
    Stimulus,
    Tell,
    ToldLimits,
    Write,
)
from judge.testing import Conversation
from tests.examples import examples

ROOT = Path(__file__).parents[2]

RENJU = {"width": 15, "height": 15, "rule": "renju", "continuous": False}
RIF = RENJU | {"swap": "third", "fifths": 2}
CLOCK = Clock(30000, 180000)


def stones(moves: str) -> list[Placed]:
    """The stones of a `moves` string, colours in turn."""
    return [(x, y, number & 1) for number, (x, y) in enumerate(read_squares(moves.encode()))]


def squares(moves: str) -> tuple[Square, ...]:
    return read_squares(moves.encode())


def place(moves: str, seat: int | None = None) -> PlaceStone:
    """The next stone is to be placed behind `moves`."""
    position = stones(moves)
    colour = len(position) & 1
    return PlaceStone(colour if seat is None else seat, position, 0, 15, 15, colour)


def answer_swap(moves: str) -> AnswerSwap:
    position = stones(moves)
    return AnswerSwap(1, position, 0, 15, 15, len(position) & 1)


def offer(moves: str, offered: str = "", free: str = "", count: int = 2) -> OfferFifths:
    return OfferFifths(0, stones(moves), 0, 15, 15, 0, count, squares(offered), squares(free))


def choose(moves: str, offers: str) -> ChooseFifth:
    return ChooseFifth(1, stones(moves), 0, 15, 15, 1, squares(offers))


class Talk(Conversation):
    """A conversation with an engine to which AGI was sent."""

    def __init__(self, game: dict[str, Any] = RENJU, **options: Any) -> None:
        self.protocol = Agi(AgiOptions(**options))
        super().__init__(self.protocol, "\r\n" if options.get("line_ending") == "crlf" else "\n")
        self.feed(Open(0, game, ("one", "two"), ToldLimits(30000, 180000, 367001600)))
        self.goes("> AGI\n= await start")

    def ask(self, request: StonesRequest, clock: Clock = CLOCK) -> None:
        """Make a request and let the engine say that it listens."""
        self.feed(Ask(request, clock))
        self.goes("> ISREADY\n= await sync")
        self.feed(Bytes(b"READYOK\n", self.clock))


def ready(rule: str = "FORBIDDEN", game: dict[str, Any] = RENJU, **options: Any) -> Talk:
    """A conversation with an engine that says as little as it may, and is ready."""
    talk = Talk(game, **options)
    talk.goes(
        f"""
        < AGIOK
        > SETOPTION PONDER OFF
        > SETRULE {rule}
        > ISREADY
        = await start
        < READYOK
        = ready
        """
    )
    return talk


def thinking(**options: Any) -> Talk:
    """A conversation in which the engine thinks about its first stone."""
    talk = ready(**options)
    talk.ask(place(""))
    talk.goes("> POSITION\n> GO TIME 30000\n= await turn")
    return talk


# --- the seed's conversation and the start ---------------------------------------------------------------------------


def test_the_conversation_of_the_seed() -> None:
    """AGI draft, IV, with the blank that it lost, with ISREADY and a time where it has INFINITE, and with STOP."""
    talk = Talk(stop_before_ms=500)
    talk.goes(
        """
        < ID NAME Amoyman 1.0
        < ID AUTHOR Amoyman KUA
        < OPTION OWNBOOK TRUE PONDER TRUE
        < AGIOK
        > SETOPTION OWNBOOK ON
        > SETOPTION PONDER OFF
        > SETRULE FORBIDDEN
        > ISREADY
        < READYOK
        = ready name="Amoyman 1.0", author="Amoyman KUA", ownbook="true", ponder="true"
        """
    )
    talk.ask(choose("78685A69", "67596A6B"))
    talk.goes(
        """
        > POSITION MOVES 78685A69
        > GO SEARCH 67596A6B TIME 30000
        = await turn
        = wake 500
        < INFO SEARCH 67596A6B
        = search search=67596A6B
        < INFO DEPTH 1
        = search depth=1
        < INFO DEPTH 1 SCORE 3 PV 6789
        = search depth=1, score=3, pv=6789
        < INFO DEPTH 2
        < INFO NPS 786000
        = search nps=786000
        < ……
        = note ignored: '……'
        """
    )
    talk.alarm()
    talk.goes("> STOP\n< BESTMOVE 67 PONDER 89\n= search ponder=89\n= 6,6")
    talk.ask(place("78685A6967"))
    talk.goes("> DOMOVE 67\n> GO TIME 30000\n= wake 500\n< INFO ……\n= note INFO '……'")
    talk.alarm()
    talk.goes("> STOP\n< BESTMOVE 89 PONDER 79\n= 8,8")
    talk.feed(Close())
    talk.goes("> QUIT\n= await close\n< BYE")


@pytest.mark.parametrize(
    ("said", "about"),
    [
        ("ID NAME A b 1.0 AUTHOR C d", 'name="A b 1.0", author="C d"'),
        ("ID NAME A b 1.0\\nID AUTHOR C d", 'name="A b 1.0", author="C d"'),
        ("id  name \t A  b   author C\\r", 'name="A b", author="C"'),
        ("ID NAME No Name\\n\\nnonsense\\nREADYOK", 'name="No Name"'),
        ("ID NAME", 'name=""'),
        ("ID", ""),
        ("OPTION PONDER FALSE\\nOPTION OWNBOOK FALSE", 'ponder="false", ownbook="false"'),
        ("INFO DEPTH 1\\nBESTMOVE 78\\n\\x00\\xff", ""),
    ],
)
def test_engine_may_identify_itself_in_many_forms(said: str, about: str) -> None:
    """Facts 5.2, rows 4, 5 and 21: one line or two, any order, or nothing; what is unknown is ignored."""
    talk = Talk()
    talk.goes(f"< {said}")
    talk.goes("< AGIOK\n> SETOPTION PONDER OFF\n> SETRULE FORBIDDEN\n> ISREADY")
    talk.goes(f"< READYOK\n= {f'ready {about}'.strip()}")


def test_a_new_process_is_a_new_conversation() -> None:
    """Nothing of what the old one said or was told counts for it."""
    talk = Talk()
    talk.goes("< ID NAME old\n< OPTION OWNBOOK TRUE\n< ID AUTHOR\\")
    talk.feed(Open(0, RENJU, ("one", "two"), ToldLimits(30000, 180000, 367001600)))
    talk.goes("> AGI\n< AGIOK\n> SETOPTION PONDER OFF\n> SETRULE FORBIDDEN\n> ISREADY")
    talk.goes("< READYOK\n= ready")


def test_a_long_name_is_cut() -> None:
    """Facts 5.2, row 21: all that an engine says is bounded."""
    talk = Talk()
    talk.goes(f"< ID NAME {'x' * 1000}")
    talk.goes("< AGIOK\n> SETOPTION PONDER OFF\n> SETRULE FORBIDDEN\n> ISREADY")
    talk.goes(f'< READYOK\n= ready name="{"x" * 450}"')


@pytest.mark.parametrize(
    ("announced", "options", "written"),
    [
        ("TRUE PONDER TRUE", {}, ["OWNBOOK ON", "PONDER OFF"]),
        ("TRUE PONDER TRUE", {"own_book": False}, ["OWNBOOK OFF", "PONDER OFF"]),
        ("FALSE PONDER FALSE", {"own_book": False}, ["PONDER OFF"]),
        ("FALSE PONDER TRUE", {"ponder": True}, ["PONDER ON"]),
        ("TRUE PONDER FALSE", {"ponder": True}, ["OWNBOOK ON"]),
        ("true", {}, ["OWNBOOK ON", "PONDER OFF"]),
        ("maybe", {}, ["PONDER OFF"]),
    ],
)
def test_options_are_set_as_announced_and_pondering_is_off(
    announced: str, options: dict[str, Any], written: list[str]
) -> None:
    """Facts 5.2, row 6: pondering is on by default, so PONDER OFF is always sent."""
    talk = Talk(**options)
    lines = "\n".join(f"> SETOPTION {line}" for line in written)
    talk.goes(f"< OPTION OWNBOOK {announced}\n< AGIOK\n{lines}\n> SETRULE FORBIDDEN\n> ISREADY")


@pytest.mark.parametrize(
    ("game", "rule", "settled"),
    [
        ({"rule": "renju"}, "FORBIDDEN", ""),
        ({"rule": "freestyle"}, "UNFORBIDDEN", ""),
        ({"rule": "standard", "swap": "none", "fifths": 1}, "UNFORBIDDEN", ""),
        ({"rule": "renju", "fifths": 2}, "FORBIDDEN FIVETWINE", ""),
        ({"rule": "renju", "fifths": 3}, "FORBIDDEN FIVEMULITY", ""),
        ({"rule": "freestyle", "swap": "first"}, "UNFORBIDDEN FIRSTCHANGE", "UNFORBIDDEN"),
        (
            {"rule": "freestyle", "swap": "first", "fifths": 8},
            "UNFORBIDDEN FIRSTCHANGE FIVEMULITY",
            "UNFORBIDDEN FIVEMULITY",
        ),
        ({"rule": "renju", "swap": "third"}, "FORBIDDEN THIRDCHANGE", "FORBIDDEN"),
        (
            {"rule": "renju", "swap": "third", "fifths": 2},
            "FORBIDDEN THIRDCHANGE FIVETWINE",
            "FORBIDDEN FIVETWINE",
        ),
        (
            {"rule": "renju", "swap": "third", "fifths": 4},
            "FORBIDDEN THIRDCHANGE FIVEMULITY",
            "FORBIDDEN FIVEMULITY",
        ),
    ],
)
def test_setrule_sends_rule_swap_and_fifths_and_again_after_colours_are_settled(
    game: dict[str, Any], rule: str, settled: str
) -> None:
    """Facts 5.2, rows 3 and 17, and the table of 5.4."""
    talk = ready(rule, RENJU | game)
    talk.feed(Tell(ColoursSettled(None, 1)))
    talk.goes(f"> SETRULE {settled}" if settled else "")
    talk.feed(Tell(StonePlaced(None, 7, 7, 0, 0)))
    talk.goes("")


def test_how_many_fifths_is_written_by_an_extension_only() -> None:
    """Facts 5.2, row 18."""
    ready("FORBIDDEN FIVEMULITY 5", RENJU | {"fifths": 5}, multi_count=True)
    ready("FORBIDDEN FIVETWINE", RENJU | {"fifths": 2}, multi_count=True)


def test_lines_end_in_crlf_for_an_engine_that_asks_for_it() -> None:
    """Facts 5.2, row 21."""
    Talk(line_ending="crlf")


# --- positions and times ---------------------------------------------------------------------------------------------


def test_every_stone_is_sent_by_domove_including_the_agents_own() -> None:
    """Facts 5.2, rows 9 and 10: BESTMOVE does not change the position."""
    talk = thinking()
    talk.goes("< BESTMOVE 78\n= 7,7")
    talk.ask(place("7868"))
    talk.goes("> DOMOVE 78\n> DOMOVE 68\n> GO TIME 30000\n< BESTMOVE 69\n= 8,6")
    talk.ask(place("7868695A"))
    talk.goes("> DOMOVE 69\n> DOMOVE 5A\n> GO TIME 30000")


def test_an_opening_is_a_position() -> None:
    """Colours alternate, so stones of an opening are moves; both engines are sent it."""
    talk = ready()
    talk.ask(place("78686959"))
    talk.goes("> POSITION MOVES 78686959\n> GO TIME 30000")


def test_unrelated_position_starts_a_new_game() -> None:
    talk = ready()
    talk.ask(place("78"))
    talk.goes("> POSITION MOVES 78\n> GO TIME 30000\n< BESTMOVE 01\n= 0,0")
    talk.ask(place("676801"))
    talk.goes("> POSITION MOVES 676801\n> GO TIME 30000\n< BESTMOVE 02\n= 1,0")
    talk.ask(place(""))
    talk.goes("> POSITION\n> GO TIME 30000")


def test_whole_game_is_sent_each_time_if_the_contest_asks_for_it() -> None:
    """Facts 5.2, row 10: useful to an engine without a memory."""
    talk = thinking(resync="position")
    talk.goes("< BESTMOVE 78\n= 7,7")
    talk.ask(place("7868"))
    talk.goes("> POSITION MOVES 7868\n> GO TIME 30000")


@pytest.mark.parametrize(
    ("clock", "told"),
    [
        (Clock(30000, 180000), 30000),
        (Clock(30000, 12345), 12345),
        (Clock(30000, UNLIMITED_MS), 30000),
        (Clock(30000, -500), 1),
        (Clock(0, 180000), 1),
        (Clock(1 << 40, 1 << 41), 2147483647),
    ],
)
def test_time_is_the_turn_limit_or_the_rest_of_the_game_clock(clock: Clock, told: int) -> None:
    """Facts 5.2, rows 7 and 8: never INFINITE, never less than 1; a turn of 0 is as fast as possible."""
    talk = ready()
    talk.ask(place("78"), clock)
    talk.goes(f"> POSITION MOVES 78\n> GO TIME {told}")


def test_squares_are_a_row_and_a_column() -> None:
    """AGI draft, II: top left 01, bottom right EF, centre 78, four more points 34, 3C, B4, BC."""
    board = [(0, 0), (14, 14), (7, 7), (3, 3), (11, 3), (3, 11), (11, 11), (14, 0), (0, 14)]

    assert "01EF78343CB4BC0FE1" == write_squares(board)
    assert tuple(board) == read_squares(b"01ef78343cb4bc0fE1")


# --- the ten transcripts of facts 5.4 --------------------------------------------------------------------------------


def test_1_black_makes_an_overline_at_move_9() -> None:
    """The stone is read and answered: that it is a foul is for the rules to say."""
    talk = ready()
    talk.ask(place("747376757977787A"))
    talk.goes("> POSITION MOVES 747376757977787A\n> GO TIME 30000\n< BESTMOVE 75\n= 4,7")


def test_2_a_change_and_then_a_second_one() -> None:
    """B takes black; A, asked as white, says CHANGE too: a swap that nobody offered, for the rules to refuse."""
    second = ready("FORBIDDEN THIRDCHANGE", RENJU | {"swap": "third"})
    second.ask(answer_swap("786869"))
    second.goes("> POSITION MOVES 786869\n> GO TIME 30000\n< BESTMOVE CHANGE\n= SWAP")
    second.feed(Tell(ColoursSettled(None, 1)))
    second.goes("> SETRULE FORBIDDEN")

    first = ready("FORBIDDEN THIRDCHANGE", RENJU | {"swap": "third"})
    for number, move in enumerate(("78", "68", "69")):
        known = "786869"[: 2 * number]
        first.ask(place(known, 0))
        first.goes(
            ("> POSITION" if number == 0 else f"> DOMOVE {known[-2:]}")
            + f"\n> GO TIME 30000\n< BESTMOVE {move}\n= {write_xy(move)}"
        )
    first.feed(Tell(ColoursSettled(None, 1)))
    first.goes("> SETRULE FORBIDDEN")
    first.ask(place("786869", 0))
    first.goes("> DOMOVE 69\n> GO TIME 30000\n< BESTMOVE CHANGE\n= SWAP")


def test_3_two_fifths_in_one_list() -> None:
    talk = ready("FORBIDDEN FIVETWINE", RENJU | {"fifths": 2})
    talk.ask(offer("7868695A"))
    talk.goes("> POSITION MOVES 7868695A\n> GO TIME 30000\n< BESTMOVE 6759\n= 6,6 8,5")
    talk.ask(place("7868695A5979"))
    talk.goes("> DOMOVE 59\n> DOMOVE 79\n> GO TIME 30000")


def test_4_two_fifths_by_two_questions() -> None:
    talk = ready("FORBIDDEN FIVETWINE", RENJU | {"fifths": 2})
    talk.ask(offer("7868695A"))
    talk.goes("> POSITION MOVES 7868695A\n> GO TIME 30000\n< BESTMOVE 67\n= 6,6")
    talk.ask(offer("7868695A", "67", "5958576A"), Clock(30000, 9000))
    talk.goes("> GO SEARCH 5958576A TIME 9000\n< BESTMOVE 59\n= 8,5")


def test_5_a_second_offer_that_is_symmetric_is_read_and_left_to_the_rules() -> None:
    """It was left out of SEARCH; the engine answers it all the same."""
    talk = ready("FORBIDDEN FIVETWINE", RENJU | {"fifths": 2})
    talk.ask(offer("7868695A", "67", "59"))
    talk.goes("> POSITION MOVES 7868695A\n> GO SEARCH 59 TIME 30000\n< BESTMOVE 89\n= 8,8")


def test_6_white_chooses_among_the_offers_or_does_not() -> None:
    """A square that was not offered is read and left to the rules."""
    talk = ready("FORBIDDEN FIVETWINE", RENJU | {"fifths": 2})
    talk.ask(choose("7868695A", "6759"))
    talk.goes("> POSITION MOVES 7868695A\n> GO SEARCH 6759 TIME 30000\n< BESTMOVE 01\n= 0,0")


def test_7_no_change_after_the_first_stone() -> None:
    talk = ready("UNFORBIDDEN FIRSTCHANGE", RENJU | {"rule": "freestyle", "swap": "first"})
    talk.ask(answer_swap("34"))
    talk.goes("> POSITION MOVES 34\n> GO TIME 30000\n< BESTMOVE 78\n= 7,7")
    talk.feed(Tell(StonePlaced(None, 7, 7, 1, 1)))
    talk.feed(Tell(ColoursSettled(None, 0)))
    talk.goes("> SETRULE UNFORBIDDEN")


def test_8_small_letters_crlf_and_an_id_of_two_lines() -> None:
    talk = Talk()
    talk.goes(
        """
        < id name small 1.0\\r
        < id author letters\\r
        < option ponder true ownbook true\\r
        < agiok\\r
        > SETOPTION OWNBOOK ON
        > SETOPTION PONDER OFF
        > SETRULE FORBIDDEN
        > ISREADY
        < readyok\\r
        = ready name="small 1.0", author="letters", ponder="true", ownbook="true"
        """
    )
    talk.feed(Ask(place("78"), CLOCK))
    talk.goes("> ISREADY\n< ReadyOk\\r\n> POSITION MOVES 78\n> GO TIME 30000")
    talk.goes("< info depth 3 pv 5a5B\\r\n= search depth=3, pv=5a5B\n< bestmove 5a\\r\n= 9,5")


def test_9_bestmove_with_ponder() -> None:
    thinking().goes("< BESTMOVE 67 PONDER 89\n= search ponder=89\n= 6,6")


def test_10_a_readyok_that_comes_late_is_no_answer_to_go() -> None:
    thinking().goes("< READYOK\n= note ignored: 'READYOK'\n< BESTMOVE 67\n= 6,6")


def write_xy(move: str) -> str:
    ((x, y),) = read_squares(move.encode())
    return f"{x},{y}"


# --- what engines do wrong -------------------------------------------------------------------------------------------

SAID = [
    ("BESTMOVE 78", "= 7,7", "plain"),
    ("bestmove 5a", "= 9,5", "any letter case"),
    ("  BESTMOVE \\t 78  ", "= 7,7", "any blanks"),
    ("BESTMOVE 78 PONDER", "= 7,7", "PONDER is optional, and what it says too"),
    ("BESTMOVE 78 ponder x y z", "= 7,7", "and is nobody's business"),
    ("BESTMOVE 7867", "= 7,7 6,6", "a list; that one was asked for is for the rules to say"),
    ("BESTMOVE CHANGE", "= SWAP", "that nobody offered it is for the rules to say"),
    ("BESTMOVE change PONDER 78", "= SWAP", "any letter case"),
    ("BESTMOVE 70", "= -1,7", "column 0: off the board, for the rules to say"),
    ("BESTMOVE F8", "= 7,15", "row F: the same"),
    ("BESTMOVE 7G", "= unreadable 7G", "G is no digit"),
    ("BESTMOVE 7", "= unreadable 7", "half a square"),
    ("BESTMOVE 786", "= unreadable 786", "a square and a half"),
    ("BESTMOVE", "= unreadable", "nothing"),
    ("BESTMOVE H8", "= unreadable H8", "another notation"),
    ("BESTMOVE 7,7", "= unreadable 7,7", "another protocol"),
    ("BESTMOVE 67 89", "= unreadable 67 89", "a list has no blanks"),
    ("BESTMOVE 67 thanks", "= unreadable 67 thanks", "trailing rubbish"),
    ("BESTMOVE PONDER 67", "= unreadable PONDER 67", "no move"),
    ("BESTMOVE -1", "= unreadable -1", "no sign"),
    ("BESTMOVE 78\\x00", "= unreadable 78\x00", "NUL is no blank"),
    ("BESTMOVE " + "78" * 226, "= unreadable " + "78" * 100, "more squares than there are"),
    ("\\x00BESTMOVE 78", "", "not the keyword"),
    ("BESTMOVE78", "", "not the keyword"),
    ("MOVE 78", "", "a word that AGI does not have"),
    ("78", "", "a square without its keyword"),
    ("7,7", "", "another protocol"),
    ("RESIGN", "", "AGI has no such word"),
    ("READYOK", "", "the answer to another question"),
    ("BYE", "", "the answer to another question; that the process ends is seen"),
    ("INFO", "", "nothing of the search"),
    ("INFO string hello", "", "a message"),
    ("\\x00\\xff\\x1b[2J", "", "bytes that mean nothing"),
    ("BESTMOVE 78\\", "", "a line without an end"),
    ("BESTMOVE 78\\r\\", "= 7,7", "CR alone ends a line: engines need not know the judge's system"),
    ("\\n \\n\\r\\nBESTMOVE 78", "= 7,7", "empty lines are skipped"),
    ("BESTMOVE 78\\nBESTMOVE 67", "= 7,7", "the second is discarded"),
    ("BESTMOVE 78\\nBESTMOVE xx", "= 7,7", "what is discarded is not judged"),
]


@pytest.mark.parametrize(("said", "outcome", "why"), SAID)
def test_output_while_a_move_is_awaited(said: str, outcome: str, why: str) -> None:
    """Facts 5.2, rows 11, 15, 16, 21, 22 and 23."""
    thinking().goes(f"< {said}\n{outcome}")


def test_a_line_in_pieces_is_one_line() -> None:
    thinking().goes("< BES\\\n< TMOVE\\\n<  7\\\n< 8\n= 7,7")


def test_rest_of_a_turns_output_does_not_answer_the_next() -> None:
    """Half a line that came late, a second move, and a READYOK ahead of its question."""
    talk = thinking()
    talk.goes(
        """
        < BESTMOVE 78\\nBESTMOVE 67\\nBESTM\\
        = 7,7
        = note discarded: 1 line(s) without a request, first 'BESTMOVE 67'
        < OVE 66\\nREADYOK\\nBEST\\
        = note discarded: 2 line(s) without a request, first 'OVE 66'
        """
    )
    talk.feed(Ask(place("7868"), CLOCK))
    talk.goes("> ISREADY\n< MOVE 55\n= note ignored: 'MOVE 55'")
    talk.goes("< READYOK\n> DOMOVE 78\n> DOMOVE 68\n> GO TIME 30000\n< BESTMOVE 69\n= 8,6")


def test_a_move_before_go_is_no_answer_to_it() -> None:
    """Neither before READYOK nor behind it in the same breath: GO was not written yet."""
    talk = ready()
    talk.feed(Ask(place("78"), CLOCK))
    talk.goes(
        """
        > ISREADY
        < BESTMOVE 67
        = note ignored: 'BESTMOVE 67'
        < READYOK\\nBESTMOVE 66\\nBEST\\
        > POSITION MOVES 78
        > GO TIME 30000
        = note discarded: 1 line(s) without a request, first 'BESTMOVE 66'
        < MOVE 65
        = note ignored: 'MOVE 65'
        < BESTMOVE 64
        = 3,6
        """
    )


def test_agent_writing_all_answers_ahead_is_not_ready() -> None:
    Talk().goes(
        """
        < AGIOK\\nREADYOK\\nREADYOK\\nBESTMOVE 78
        > SETOPTION PONDER OFF
        > SETRULE FORBIDDEN
        > ISREADY
        = note discarded: 3 line(s) without a request, first 'READYOK'
        """
    )


def test_without_readyok_there_is_no_go() -> None:
    """Facts 5.2, row 13: the deadline is the referee's."""
    talk = ready()
    talk.feed(Ask(place("78"), CLOCK))
    talk.goes("> ISREADY\n= await sync\n< OK\n< INFO DEPTH 3\n< AGIOK")
    talk.alarm()
    talk.feed(Eof())
    talk.goes("")


def test_stop_is_sent_once_and_only_while_a_move_is_due() -> None:
    """Facts 5.2, row 12."""
    talk = thinking(stop_before_ms=0)
    talk.goes("< BESTMOVE 78\n= 7,7")
    talk.alarm()
    talk.goes("")


def test_long_line_is_cut_and_the_game_continues() -> None:
    talk = thinking(line_bytes=1024)
    for _ in range(100):
        talk.goes("< " + "INFO PV " + "78" * 500 + "\\")
    talk.goes("< \n= note cut: a line of more than 1024 bytes\n= search pv=" + "78" * 225)
    talk.goes("< BESTMOVE 78\n= 7,7")


def test_a_pondering_engine_may_report_at_any_time() -> None:
    """What it says of its search outside its turn is no part of any move."""
    talk = thinking()
    talk.goes("< BESTMOVE 78\n= 7,7\n< INFO DEPTH 3\n< INFO DEPTH 4\\nINFO DEP\\")
    talk.feed(Ask(place("7868"), CLOCK))
    talk.goes("> ISREADY\n< TH 5\n< INFO DEPTH 6\n= note ignored: 'INFO DEPTH 6'")
    talk.goes("< READYOK\n> DOMOVE 78\n> DOMOVE 68\n> GO TIME 30000\n< INFO DEPTH 7\n= search depth=7")


def pondering(swap: str = "none", announced: str = "TRUE") -> Conversation:
    """An engine that has played 78, and may ponder."""
    talk = Conversation(Agi(AgiOptions()), "\n")
    limits = ToldLimits(30000, 180000, 367001600, ponder=True)
    talk.feed(Open(0, {**RENJU, "swap": swap}, ("one", "two"), limits))
    rule = "FORBIDDEN FIRSTCHANGE" if swap == "first" else "FORBIDDEN"
    option = "> SETOPTION PONDER ON\n" if announced == "TRUE" else ""
    greeting = f"> AGI\n< OPTION PONDER {announced}\n< AGIOK\n"
    talk.goes(f'{greeting}{option}> SETRULE {rule}\n> ISREADY\n< READYOK\n= ready ponder="{announced.lower()}"')
    talk.feed(Ask(place(""), CLOCK))
    talk.goes("> ISREADY\n< READYOK\n> POSITION\n> GO TIME 30000\n< BESTMOVE 78\n= 7,7")
    talk.feed(Tell(StonePlaced(None, 7, 7, 0, 0)))
    talk.feed(Ponder(CLOCK, CLOCK))
    return talk


def test_engine_ponders_with_its_own_stone_until_its_next_request() -> None:
    talk = pondering()
    talk.goes("> DOMOVE 78\n> GO PONDER\n< INFO DEPTH 3")
    talk.feed(Tell(StonePlaced(None, 8, 8, 1, 1)))
    talk.feed(Ask(place("7868"), CLOCK))
    talk.goes(
        "> STOP\n> ISREADY\n< BESTMOVE 68\n= note ignored: 'BESTMOVE 68'\n< READYOK\n> DOMOVE 68\n> GO TIME 30000"
    )


def test_pondering_ends_before_the_rules_change_and_with_the_game() -> None:
    talk = pondering("first")
    talk.goes("> DOMOVE 78\n> GO PONDER")
    talk.feed(Ponder(CLOCK, CLOCK))  # the opponent is asked again
    talk.goes("")
    talk.feed(Tell(ColoursSettled(None, 1)))
    talk.goes("> STOP\n> SETRULE FORBIDDEN")
    talk.feed(Ponder(CLOCK, CLOCK))
    talk.goes("> GO PONDER")
    talk.feed(Close(""))
    talk.goes("> QUIT")


def test_engine_that_cannot_ponder_gets_no_ponder_commands() -> None:
    pondering(announced="FALSE").goes("")


# --- any bytes -------------------------------------------------------------------------------------------------------

REQUESTS = (
    place("78"),
    place("786869"),
    answer_swap("786869"),
    offer("7868695A"),
    offer("7868695A", "67", "5958"),
    choose("7868695A", "6759"),
)
WORDS = (
    b"AGIOK", b"READYOK", b"BESTMOVE", b"BESTMOVE 78", b"BESTMOVE CHANGE", b"INFO", b"PONDER", b"DEPTH", b"PV",
    b"ID NAME", b"AUTHOR", b"OPTION OWNBOOK TRUE", b"7", b"8A", b"zz", b" ", b"\t", b"\r", b"\n", b"\n", b"\n", b"\0",
)  # fmt: skip
EXPECTED = (Write, Await, Answer, Ready, Note, Search)
chunks = st.lists(st.one_of(st.binary(max_size=20), st.sampled_from(WORDS)), max_size=12)


@settings(max_examples=examples(300))
@given(chunks, st.lists(st.tuples(st.sampled_from(REQUESTS), chunks), max_size=4))
def test_each_question_has_one_answer_for_any_output(
    greeting: list[bytes], turns: list[tuple[StonesRequest, list[bytes]]]
) -> None:
    """No bytes raise anything, and nothing but what was said after its question ends it."""
    protocol = Agi(AgiOptions(line_bytes=1024))
    protocol.feed(Open(0, RIF, ("one", "two"), ToldLimits(30000, 180000, 0)))

    def ends(chunks: Sequence[bytes]) -> list[Answer | Ready]:
        effects = [effect for chunk in chunks for effect in protocol.feed(Bytes(chunk, CLOCK))]
        assert all(isinstance(effect, EXPECTED) for effect in effects)
        return [effect for effect in effects if isinstance(effect, Answer | Ready)]

    assert len(ends(greeting)) <= 1
    ends([b"\nAGIOK\n", b"READYOK\n"])
    assert [] == ends(greeting)
    for request, said in turns:
        protocol.feed(Ask(request, CLOCK))
        answers = ends(said)
        if not answers:
            answers = ends([b"\nREADYOK\n", b"BESTMOVE 78\n"])
        assert 1 == len(answers)
        assert isinstance(answers[0], Answer)
    protocol.feed(Close())
    assert [] == ends([b"BESTMOVE 78\nREADYOK\n"])


@given(st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), min_size=1, max_size=225))
def test_written_squares_are_read_again(board: list[Square]) -> None:
    assert tuple(board) == read_squares(write_squares(board).lower().encode())


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        (b"78", Stone(7, 7)),
        (b"0fE1", Stones(((14, 0), (0, 14)))),
        (b"Change", Swap()),
        (b"", None),
        (b"CHANGE 78", None),
    ],
)
def test_an_answer_is_a_stone_or_stones_or_a_swap(text: bytes, decision: Decision | None) -> None:
    reply, _ = read_answer(text)

    assert decision == reply.decision
    assert (reply.kind is ReplyKind.UNREADABLE) is (decision is None)


def test_a_keyword_counts_once() -> None:
    keys = frozenset({b"DEPTH", b"PV"})

    assert ({"depth": "1 DEPTH 2", "pv": "78 69"}, "a b") == by_keyword(b"a  b depth 1 DEPTH 2 Pv 78\t69", keys)
    assert ({}, "") == by_keyword(b" ", keys)


def test_games_not_expressible_in_agi_are_known_before_play() -> None:
    cannot = {
        "width": 20, "rule": "caro", "continuous": True, "swap": "swap2", "other_sizes": [20],
    }  # fmt: skip
    said = [objection(RENJU | {key: value}) for key, value in cannot.items()]

    assert [
        "can only name the squares of a 15x15 board, not of 20x15",
        "has no words for the rule caro, only for renju, freestyle, standard",
        "cannot play on after a five (continuous)",
        "has no words for the swap swap2, only for none, first, third",
        "has boards of 15x15 only, but this game may continue with another size",
    ] == said
    assert None is objection(RENJU)
    assert None is objection(RIF)


def test_questions_not_expressible_in_agi_are_not_asked() -> None:
    """Swap2 lays and adds stones at once, which no line of AGI can ask for."""
    talk = ready()
    assert LayStones not in protocol_entry("agi").build(AgiOptions()).speaks
    with pytest.raises(TypeError, match="AGI has no words"):
        talk.feed(Ask(AnswerSwap(1, stones("786869"), 0, 15, 15, 1, adds=2), CLOCK))


def test_no_line_is_private() -> None:
    assert not protocol_entry("agi").is_private(b"INFO DEPTH 1")


# --- the norm --------------------------------------------------------------------------------------------------------


def example(name: str) -> list[str]:
    """The lines of an example conversation in docs/agi.md."""
    text = (ROOT / "docs/agi.md").read_text(encoding="utf-8")
    match = re.search(rf"^```agi {name}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert match is not None
    return match[1].splitlines()


EXAMPLES: list[tuple[str, dict[str, Any], list[Stimulus], list[Decision]]] = [
    (
        "plain",
        RENJU,
        [Ask(place("78"), CLOCK), Ask(place("786869"), CLOCK), Close()],
        [Stone(7, 6), Stone(9, 5)],
    ),
    (
        "first",
        RIF,
        [
            Ask(place("", 0), CLOCK),
            Ask(place("78", 0), CLOCK),
            Ask(place("7868", 0), CLOCK),
            Tell(ColoursSettled(None, 1)),
            Ask(place("786869", 0), CLOCK),
            Ask(choose("7868695A", "6759"), CLOCK),
            Ask(place("7868695A59", 0), CLOCK),
            Close(),
        ],
        [Stone(7, 7), Stone(7, 6), Stone(8, 6), Stone(9, 5), Stone(8, 5), Stone(8, 7)],
    ),
    (
        "second",
        RIF,
        [
            Ask(answer_swap("786869"), CLOCK),
            Tell(ColoursSettled(None, 1)),
            Ask(offer("7868695A"), CLOCK),
            Ask(place("7868695A5979", 1), CLOCK),
            Close(),
        ],
        [Swap(), Stones(((6, 6), (8, 5))), Stone(8, 5)],
    ),
]


@pytest.mark.parametrize(("name", "game", "stimuli", "decisions"), EXAMPLES)
def test_the_examples_of_the_norm_are_true(
    name: str, game: dict[str, Any], stimuli: list[Stimulus], decisions: list[Decision]
) -> None:
    """The judge writes what docs/agi.md shows, line by line, and reads the engine's lines as meant."""
    protocol = Agi(AgiOptions())
    left = deque([Open(0, game, ("one", "two"), ToldLimits(30000, 180000, 0)), *stimuli])
    written: deque[str] = deque()
    decided: list[Decision | None] = []

    def feed(stimulus: Stimulus) -> None:
        for effect in protocol.feed(stimulus):
            if isinstance(effect, Write):
                written.extend(effect.data.decode().splitlines())
            elif isinstance(effect, Answer):
                decided.append(effect.reply.decision)

    for line in example(name):
        if line.startswith("< "):
            feed(Bytes(line[2:].encode() + b"\n", CLOCK))
        else:
            if not written:
                feed(left.popleft())
            assert line == f"> {written.popleft()}"
    assert decisions == decided
    assert ([], []) == (list(left), list(written))


def test_the_norm_names_every_option() -> None:
    text = (ROOT / "docs/agi.md").read_text(encoding="utf-8")

    assert [] == [name for name in AgiOptions.model_fields if f"| `{name}` |" not in text]
