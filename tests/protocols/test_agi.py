"""AGI as conversations (tests/protocols/talk.py). Facts are those of docs/agi.md, and the draft is its source."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.games.gomoku.requests import LayStones, Square, StonesRequest
from judge.games.types import Request
from judge.protocols import protocol_entry
from judge.protocols.agi import Agi, AgiOptions, by_keyword, objection, read_squares, write_squares
from judge.protocols.time_control import UNLIMITED_MS, TimeControl
from judge.protocols.types import (
    Answer,
    Ask,
    Await,
    Bytes,
    Clock,
    Close,
    Note,
    Open,
    Ready,
    Search,
    SeatLimits,
    Write,
)
from tests.examples import examples
from tests.protocols import talk
from tests.protocols.talk import Talk, request

ROOT = Path(__file__).parents[2]

RENJU = {"width": 15, "height": 15, "rule": "renju", "continuous": False}
RIF = RENJU | {"swap": "third", "fifths": 2}
CLOCK = Clock(30000, 180000)

SCRIPTS = {
    "rules": "> SETOPTION PONDER OFF | SETRULE FORBIDDEN | ISREADY",
    "ready": "> AGI\n< AGIOK\n@ rules\n= await start\n< READYOK\n= ready",
    "thinking": "@ ready\n? place\n> POSITION | GO TIME 30000\n= await turn",
    "played": "@ thinking\n< BESTMOVE 78\n= 7,7",
    "pondering": """
        > AGI
        < OPTION PONDER TRUE
        < AGIOK
        > SETOPTION PONDER ON | SETRULE FORBIDDEN | ISREADY
        < READYOK => ready ponder="true"
        @ ponders
    """,
    "ponders": """
        ? place => POSITION | GO TIME 30000
        < BESTMOVE 78 => 7,7
        ! stone 7,7 0
        ! ponder => DOMOVE 78 | GO PONDER
    """,
}


class Engine(Talk):
    """An engine that says READYOK to each request of a script; `?? ` is a request without it."""

    def ask(self, asked: Request) -> None:
        super().ask(asked)
        self.goes("> ISREADY\n= await sync")
        self.feed(Bytes(b"READYOK\n", self.clock))


def engine(game: dict[str, Any] = RENJU, *, ponders: bool = False, clock: Clock = CLOCK, **options: Any) -> Engine:
    opening = Open(0, game, ("one", "two"), SeatLimits(TimeControl.of_game(180000, 30000), 367001600, ponder=ponders))
    line_end = "\r\n" if options.get("line_ending") == "crlf" else "\n"
    return Engine(Agi(AgiOptions(**options)), opening, line_end, clock=clock, scripts=SCRIPTS)


TALKS = {
    # The other conversations of docs/agi.md are games in tests/referee/test_agi.py.
    "STOP is sent before the limit, and what is said of the search is kept": """
        * options.stop_before_ms = 500
        @ ready
        ? choose 78685A69 offers=67596A6B => POSITION MOVES 78685A69 | GO SEARCH 67596A6B TIME 30000
        = await turn
        = wake 500
        < INFO SEARCH 67596A6B => search search=67596A6B
        < INFO DEPTH 1 SCORE 3 PV 6789 => search depth=1, score=3, pv=6789
        < …… => note ignored: '……'
        < INFO …… => note INFO '……'
        ! alarm => STOP
        < BESTMOVE 67 PONDER 89
        = search ponder=89
        = 6,6
        ! close => QUIT
        = await close
        < BYE
    """,
    "lines end in CR LF for an engine that asks for it": '* options.line_ending = "crlf"\n> AGI',
    "an opening is a position": "@ ready\n? place 78686959\n> POSITION MOVES 78686959 | GO TIME 30000",
    "an unrelated position starts a new game": """
        @ ready
        ? place 78 => POSITION MOVES 78 | GO TIME 30000
        < BESTMOVE 01 => 0,0
        ? place 676801 => POSITION MOVES 676801 | GO TIME 30000
        < BESTMOVE 02 => 1,0
        ? place => POSITION | GO TIME 30000
    """,
    "the whole game is sent each time if the contest asks for it": """
        * options.resync = "position"
        @ played
        ? place 7868 => POSITION MOVES 7868 | GO TIME 30000
    """,
    # The engine answers a square that was left out of SEARCH all the same.
    "4 and 5, two fifths by two questions": """
        * game.fifths = 2
        > AGI
        < AGIOK
        > SETOPTION PONDER OFF | SETRULE FORBIDDEN FIVETWINE | ISREADY
        < READYOK => ready
        ? offer 7868695A => POSITION MOVES 7868695A | GO TIME 30000
        < BESTMOVE 67 => 6,6
        ? offer 7868695A offered=67 free=5958576A => GO SEARCH 5958576A TIME 30000
        < BESTMOVE 89 => 8,8
    """,
    "8, small letters, CRLF and an ID of two lines": r"""
        > AGI
        < id name small 1.0\r
        < id author letters\r
        < option ponder true ownbook true\r
        < agiok\r
        > SETOPTION OWNBOOK ON | SETOPTION PONDER OFF | SETRULE FORBIDDEN | ISREADY
        < readyok\r => ready name="small 1.0", author="letters", ponder="true", ownbook="true"
        ?? place 78 => ISREADY
        < ReadyOk\r
        > POSITION MOVES 78 | GO TIME 30000
        < info depth 3 pv 5a5B\r => search depth=3, pv=5a5B
        < bestmove 5a\r => 9,5
    """,
    "9, BESTMOVE with PONDER": "@ thinking\n< BESTMOVE 67 PONDER 89\n= search ponder=89\n= 6,6",
    "a line in pieces is one line": "@ thinking\n< BES\\\n< TMOVE\\\n<  7\\\n< 8\n= 7,7",
    # Half a line that came late, a second move, and a READYOK ahead of its question.
    "the rest of a turn's output does not answer the next": r"""
        @ thinking
        < BESTMOVE 78\nBESTMOVE 67\nBESTM\
        = 7,7
        = note discarded: 1 line(s) without a request, first 'BESTMOVE 67'
        < OVE 66\nREADYOK\nBEST\
        = note discarded: 2 line(s) without a request, first 'OVE 66'
        ?? place 7868 => ISREADY
        < MOVE 55 => note ignored: 'MOVE 55'
        < READYOK
        > DOMOVE 78 | DOMOVE 68 | GO TIME 30000
        < BESTMOVE 69 => 8,6
    """,
    # Neither before READYOK nor behind it in the same breath: GO was not written yet.
    "a move before GO is no answer to it": r"""
        @ ready
        ?? place 78 => ISREADY
        < BESTMOVE 67 => note ignored: 'BESTMOVE 67'
        < READYOK\nBESTMOVE 66\nBEST\
        > POSITION MOVES 78 | GO TIME 30000
        = note discarded: 1 line(s) without a request, first 'BESTMOVE 66'
        < MOVE 65 => note ignored: 'MOVE 65'
        < BESTMOVE 64 => 3,6
    """,
    "an engine that writes all answers ahead is not ready": r"""
        > AGI
        < AGIOK\nREADYOK\nREADYOK\nBESTMOVE 78
        @ rules
        = note discarded: 3 line(s) without a request, first 'READYOK'
    """,
    # The deadline is the referee's.
    "without READYOK there is no GO": """
        @ ready
        ?? place 78 => ISREADY
        = await sync
        < OK
        < INFO DEPTH 3
        < AGIOK
        ! alarm
        = nothing
    """,
    "STOP is sent only while a move is due": "* options.stop_before_ms = 0\n@ played\n! alarm\n= nothing",
    # Nothing of what the old one said or was told counts for it.
    "a new process is a new conversation": r"""
        > AGI
        < ID NAME old
        < OPTION OWNBOOK TRUE
        < ID AUTHOR\
        ! open => AGI
        < AGIOK
        @ rules
        < READYOK => ready
    """,
    "what it says of its search outside its turn is no part of any move": r"""
        @ played
        < INFO DEPTH 3
        < INFO DEPTH 4\nINFO DEP\
        ?? place 7868 => ISREADY
        < TH 5
        < INFO DEPTH 6 => note ignored: 'INFO DEPTH 6'
        < READYOK
        > DOMOVE 78 | DOMOVE 68 | GO TIME 30000
        < INFO DEPTH 7 => search depth=7
    """,
    "an engine ponders with its own stone until its next request": """
        * ponders = true
        @ pondering
        < INFO DEPTH 3
        ! stone 8,8 1
        ?? place 7868 => STOP | ISREADY
        < BESTMOVE 68 => note ignored: 'BESTMOVE 68'
        < READYOK
        > DOMOVE 68 | GO TIME 30000
    """,
    "pondering ends before the rules change and with the game": """
        * ponders = true
        * game.swap = "first"
        > AGI
        < OPTION PONDER TRUE
        < AGIOK
        > SETOPTION PONDER ON | SETRULE FORBIDDEN FIRSTCHANGE | ISREADY
        < READYOK => ready ponder="true"
        @ ponders
        ! ponder
        = nothing
        ! colours 1 => STOP | SETRULE FORBIDDEN
        ! ponder => GO PONDER
        ! close => QUIT
    """,
    "an engine that cannot ponder gets no commands for it": """
        * ponders = true
        > AGI
        < OPTION PONDER FALSE
        < AGIOK
        > SETRULE FORBIDDEN | ISREADY
        < READYOK => ready ponder="false"
        ? place => POSITION | GO TIME 30000
        < BESTMOVE 78 => 7,7
        ! ponder
        = nothing
    """,
}


@pytest.mark.parametrize("name", TALKS)
def test_conversation(name: str) -> None:
    values, script = talk.settings(TALKS[name])
    game = RENJU | values.get("game", {})
    engine(game, ponders=values.get("ponders", False), **values.get("options", {})).plays(script)


@pytest.mark.parametrize(
    ("said", "about"),
    [
        ("ID NAME A b 1.0 AUTHOR C d", 'name="A b 1.0", author="C d"'),
        ("ID NAME A b 1.0\\nID AUTHOR C d", 'name="A b 1.0", author="C d"'),
        ("id  name \t A  b   author C\\r", 'name="A b", author="C"'),
        ("ID NAME No Name\\n\\nnonsense\\nREADYOK", 'name="No Name"'),
        ("ID NAME", 'name=""'),
        ("ID", ""),
        (f"ID NAME {'x' * 1000}", f'name="{"x" * 450}"'),
        ("OPTION PONDER FALSE\\nOPTION OWNBOOK FALSE", 'ponder="false", ownbook="false"'),
        ("INFO DEPTH 1\\nBESTMOVE 78\\n\\x00\\xff", ""),
    ],
)
def test_engine_may_identify_itself_in_many_forms(said: str, about: str) -> None:
    """Facts 5.2, rows 4, 5 and 21: one line or two, any order, or nothing; what is unknown is ignored."""
    engine().plays(f"> AGI\n< {said}\n< AGIOK\n@ rules\n< READYOK\n= {f'ready {about}'.strip()}")


@pytest.mark.parametrize(
    ("announced", "options", "written"),
    [
        ("TRUE PONDER TRUE", {}, "SETOPTION OWNBOOK ON | SETOPTION PONDER OFF"),
        ("TRUE PONDER TRUE", {"own_book": False}, "SETOPTION OWNBOOK OFF | SETOPTION PONDER OFF"),
        ("FALSE PONDER FALSE", {"own_book": False}, "SETOPTION PONDER OFF"),
        ("FALSE PONDER TRUE", {"ponder": True}, "SETOPTION PONDER ON"),
        ("TRUE PONDER FALSE", {"ponder": True}, "SETOPTION OWNBOOK ON"),
        ("true", {}, "SETOPTION OWNBOOK ON | SETOPTION PONDER OFF"),
        ("maybe", {}, "SETOPTION PONDER OFF"),
    ],
)
def test_options_are_set_as_announced_and_pondering_is_off(
    announced: str, options: dict[str, Any], written: str
) -> None:
    """Facts 5.2, row 6: pondering is on by default, so PONDER OFF is always sent."""
    engine(**options).plays(f"> AGI\n< OPTION OWNBOOK {announced}\n< AGIOK\n> {written} | SETRULE FORBIDDEN | ISREADY")


@pytest.mark.parametrize(
    ("game", "rule", "settled"),
    [
        ({}, "FORBIDDEN", ""),
        ({"rule": "freestyle"}, "UNFORBIDDEN", ""),
        ({"rule": "standard", "swap": "none", "fifths": 1}, "UNFORBIDDEN", ""),
        ({"fifths": 2}, "FORBIDDEN FIVETWINE", ""),
        ({"fifths": 3}, "FORBIDDEN FIVEMULITY", ""),
        ({"rule": "freestyle", "swap": "first"}, "UNFORBIDDEN FIRSTCHANGE", "UNFORBIDDEN"),
        (
            {"rule": "freestyle", "swap": "first", "fifths": 8},
            "UNFORBIDDEN FIRSTCHANGE FIVEMULITY",
            "UNFORBIDDEN FIVEMULITY",
        ),
        ({"swap": "third"}, "FORBIDDEN THIRDCHANGE", "FORBIDDEN"),
        ({"swap": "third", "fifths": 2}, "FORBIDDEN THIRDCHANGE FIVETWINE", "FORBIDDEN FIVETWINE"),
        ({"swap": "third", "fifths": 4}, "FORBIDDEN THIRDCHANGE FIVEMULITY", "FORBIDDEN FIVEMULITY"),
    ],
)
def test_setrule_sends_rule_swap_and_fifths_and_again_after_colours_are_settled(
    game: dict[str, Any], rule: str, settled: str
) -> None:
    """Facts 5.2, rows 3 and 17, and the table of 5.4."""
    again = f"> SETRULE {settled}" if settled else "= nothing"
    engine(RENJU | game).plays(f"""
        > AGI
        < AGIOK
        > SETOPTION PONDER OFF | SETRULE {rule} | ISREADY
        < READYOK => ready
        ! colours 1
        {again}
        ! stone 7,7 0
        = nothing
    """)


@pytest.mark.parametrize(("fifths", "rule"), [(5, "FORBIDDEN FIVEMULITY 5"), (2, "FORBIDDEN FIVETWINE")])
def test_how_many_fifths_is_written_by_an_extension_only(fifths: int, rule: str) -> None:
    """Facts 5.2, row 18."""
    made = engine(RENJU | {"fifths": fifths}, multi_count=True)
    made.plays(f"> AGI\n< AGIOK\n> SETOPTION PONDER OFF | SETRULE {rule} | ISREADY")


@pytest.mark.parametrize(
    ("clock", "time_ms"),
    [
        (Clock(30000, 180000), 30000),
        (Clock(30000, 12345), 12345),
        (Clock(30000, UNLIMITED_MS), 30000),
        (Clock(30000, -500), 1),
        (Clock(0, 180000), 1),
        (Clock(1 << 40, 1 << 41), 2147483647),
    ],
)
def test_time_is_the_turn_limit_or_the_rest_of_the_game_clock(clock: Clock, time_ms: int) -> None:
    """Facts 5.2, rows 7 and 8: never INFINITE, never less than 1; a turn of 0 is as fast as possible."""
    engine(clock=clock).plays(f"@ ready\n? place 78\n> POSITION MOVES 78 | GO TIME {time_ms}")


def test_squares_are_a_row_and_a_column() -> None:
    """AGI draft, II: top left 01, bottom right EF, centre 78, four more points 34, 3C, B4, BC."""
    board = [(0, 0), (14, 14), (7, 7), (3, 3), (11, 3), (3, 11), (11, 11), (14, 0), (0, 14)]

    assert "01EF78343CB4BC0FE1" == write_squares(board)
    assert tuple(board) == read_squares(b"01ef78343cb4bc0fE1")


SAID = [
    ("BESTMOVE 78", "= 7,7", "plain"),
    ("bestmove 5a", "= 9,5", "any letter case"),
    ("  BESTMOVE \\t 78  ", "= 7,7", "any blanks"),
    ("BESTMOVE 78 ponder x y z", "= 7,7", "and is nobody's business"),
    ("BESTMOVE 7867", "= 7,7 6,6", "a list; that one was asked for is for the rules to say"),
    ("BESTMOVE CHANGE", "= SWAP", "that nobody offered it is for the rules to say"),
    ("BESTMOVE Change", "= SWAP", "any letter case"),
    ("BESTMOVE CHANGE 78", "= unreadable CHANGE 78", "a swap has no squares"),
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
    ("BESTMOVE -1", "= unreadable -1", "no sign"),
    ("BESTMOVE 78\\x00", "= unreadable 78\x00", "NUL is no blank"),
    ("BESTMOVE " + "78" * 226, "= unreadable " + "78" * 100, "more squares than there are"),
    ("\\x00BESTMOVE 78", "", "not the keyword"),
    ("BESTMOVE78", "", "not the keyword"),
    ("MOVE 78", "", "a word that AGI does not have"),
    ("78", "", "a square without its keyword"),
    ("RESIGN", "", "AGI has no such word"),
    ("READYOK", "", "the answer to another question"),
    ("INFO", "", "nothing of the search"),
    ("INFO string hello", "", "a message"),
    ("\\x00\\xff\\x1b[2J", "", "bytes that mean nothing"),
    ("BESTMOVE 78\\", "", "a line without an end"),
    ("BESTMOVE 78\\r\\", "= 7,7", "CR alone ends a line: engines need not know the judge's system"),
    ("\\n \\n\\r\\nBESTMOVE 78", "= 7,7", "empty lines are skipped"),
    ("BESTMOVE 78\\nBESTMOVE 67", "= 7,7", "the second is discarded"),
]


@pytest.mark.parametrize(("said", "outcome", "why"), SAID)
def test_output_while_a_move_is_awaited(said: str, outcome: str, why: str) -> None:
    """Facts 5.2, rows 11, 15, 16, 21, 22 and 23."""
    engine().plays(f"@ thinking\n< {said}\n{outcome}")


def test_long_line_is_cut_and_the_game_continues() -> None:
    made = engine(line_bytes=1024)
    made.plays("@ thinking")
    for _ in range(100):
        made.goes("< " + "INFO PV " + "78" * 500 + "\\")
    made.goes("< \n= note cut: a line of more than 1024 bytes\n= search pv=" + "78" * 225)
    made.goes("< BESTMOVE 78\n= 7,7")


REQUESTS = [
    *map(request, ("place 78", "place 786869", "swap 786869", "offer 7868695A")),
    *map(request, ("offer 7868695A offered=67 free=5958", "choose 7868695A offers=6759")),
]
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
    protocol.feed(Open(0, RIF, ("one", "two"), SeatLimits(TimeControl.of_game(180000, 30000), 0)))

    def ends(chunks: Sequence[bytes]) -> list[Answer | Ready]:
        effects = [effect for chunk in chunks for effect in protocol.feed(Bytes(chunk, CLOCK))]
        assert all(isinstance(effect, EXPECTED) for effect in effects)
        return [effect for effect in effects if isinstance(effect, Answer | Ready)]

    assert len(ends(greeting)) <= 1
    ends([b"\nAGIOK\n", b"READYOK\n"])
    assert [] == ends(greeting)
    for asked, said in turns:
        protocol.feed(Ask(asked, CLOCK))
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


def test_a_keyword_counts_once() -> None:
    keys = frozenset({b"DEPTH", b"PV"})

    assert ({"depth": "1 DEPTH 2", "pv": "78 69"}, "a b") == by_keyword(b"a  b depth 1 DEPTH 2 Pv 78\t69", keys)
    assert ({}, "") == by_keyword(b" ", keys)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("width", 20, "can only name the squares of a 15x15 board, not of 20x15"),
        ("rule", "caro", "has no words for the rule caro, only for renju, freestyle, standard"),
        ("continuous", True, "cannot play on after a five (continuous)"),
        ("swap", "swap2", "has no words for the swap swap2, only for none, first, third"),
        ("other_sizes", [20], "has boards of 15x15 only, but this game may continue with another size"),
        ("swap", "third", None),
    ],
)
def test_games_not_expressible_in_agi_are_known_before_play(key: str, value: object, words: str | None) -> None:
    assert words == objection(RENJU | {key: value})


def test_questions_not_expressible_in_agi_are_not_asked() -> None:
    """Swap2 lays and adds stones at once, which no line of AGI can ask for."""
    assert LayStones not in protocol_entry("agi").build(AgiOptions()).speaks
    with pytest.raises(TypeError, match="AGI has no words"):
        Agi(AgiOptions()).feed(Ask(request("swap 786869 adds=2"), CLOCK))


def test_the_norm_names_every_option() -> None:
    text = (ROOT / "docs/agi.md").read_text(encoding="utf-8")

    assert [] == [name for name in AgiOptions.model_fields if f"| `{name}` |" not in text]
