"""The Gomocup protocol as conversations (tests/protocols/talk.py). Quotations are from Gomoku AI protocol."""

from collections.abc import Mapping
from typing import Any

import pytest

from judge.protocols import protocol_entry
from judge.protocols.gomocup import Gomocup
from judge.protocols.gomocup_words import GomocupOptions, parse_about
from judge.protocols.time_control import TimeControl
from judge.protocols.types import Open, SeatLimits
from tests.protocols.talk import Talk, settings

FREESTYLE_20 = {"width": 20, "height": 20, "rule": "freestyle"}

SCRIPTS = {
    # INFO is in the order of the Czech text; commands are upper case and its keys lower case.
    "infos": "> INFO timeout_turn 5000 | INFO timeout_match 120000 | INFO max_memory 367001600 | INFO game_type 1",
    "started": "> START 20\n< OK\n@ infos\n> INFO rule 0 | ABOUT\n= await courtesy",
    "greeted": """
        @ started
        < name="SomeBrain", version="1.0", author="Nymand"
        = ready name="SomeBrain", version="1.0", author="Nymand"
    """,
    # INFO or ABOUT takes longer than the judge waits for it.
    "late": "@ started\n! alarm\n= ready",
    "late thinking": "@ late\n? place\n> INFO time_left 90000 | BEGIN\n= await turn",
    "thinking": "@ greeted\n? place\n> INFO time_left 90000 | BEGIN\n= await turn",
    "played": "@ thinking\n< 10,10\n= 10,10",
}

TALKS = {
    "words of a brain are read in any case": "> START 20\n< oK\n@ infos\n> INFO rule 0 | ABOUT",
    "a board that is not square is started by RECTSTART": r"""
        * game = {width = 30, height = 20, rule = "standard"}
        > RECTSTART 30,20
        < OK - parameters are good
        @ infos
        > INFO rule 1 | ABOUT
    """,
    "UNKNOWN to RECTSTART refuses": r"""
        * game = {width = 30, height = 20, rule = "standard"}
        > RECTSTART 30,20
        < UNKNOWN => refused RECTSTART 30,20: UNKNOWN
    """,
    # Blanks stand in a transcript for private lines that are withheld; its replay must go as the game did.
    "a blank line is no answer to ABOUT": '@ started\n< \\x20\\x20\\x20\n< name="late"\n= ready name="late"',
    "OK to each INFO is no answer to ABOUT": '@ started\n< OK\\nOK\\nOK\\nOK\\nOK\n< name="x"\n= ready name="x"',
    "one OK more than INFO lines is an answer to ABOUT": "@ started\n< OK\\nOK\\nOK\\nOK\\nOK\\nOK\n= ready",
    "lines end in LF for a brain that asks for it": '* options.line_ending = "lf"\n> START 20',
    "the second brain hears the first move as a TURN": r"""
        @ greeted
        ? place 10,10 => INFO time_left 90000 | TURN 10,10
        < 11,10 => 11,10
    """,
    "an opening of one stone is a BOARD, too": r"""
        @ greeted
        ? place 7,7 opening=1 => INFO time_left 90000 | BOARD | 7,7,2 | DONE
    """,
    "if the brain answers UNKNOWN, the manager sends END and executes the brain again": r"""
        @ played
        ? place 5,5 opening=1 => RESTART
        < UNKNOWN\nOK\n7,7\nOK
        > END
        = respawn
        > START 20
        = await start
        = note discarded: 3 line(s) without a request, first 'OK'
        < OK
        @ infos
        > INFO rule 0 | INFO time_left 90000 | BOARD | 5,5,2 | DONE
        = await turn
        < 4,4 => 4,4
    """,
    # However many come, the judge does not write more often.
    "two suggestions of a request are answered and the rest is set aside": r"""
        @ thinking
        < SUGGEST 10,10\nSUGGEST 10,10\nSUGGEST 10,10\nSUGGEST 10,10
        > PLAY 10,10 | PLAY 10,10
        = note ignored: 'SUGGEST 10,10', more than 2 suggestions to one request
        = note ignored: 'SUGGEST 10,10', more than 2 suggestions to one request
        < 7,7 => 7,7
        ? place 7,7 8,8 => INFO time_left 90000 | TURN 8,8
        < SUGGEST 9,9\nSUGGEST 9,9\nSUGGEST 9,9
        > PLAY 9,9 | PLAY 9,9
        < 6,6 => 6,6
    """,
    "messages are kept": r"""
        @ thinking
        < DEBUG The most promising move now is [10,14] => note The most promising move now is [10,14]
        < MESSAGE I will be the winner => note I will be the winner
        < 10,16 => 10,16
    """,
    # Other managers take it for a move.
    "output after a move is not the answer to the next TURN": r"""
        @ thinking
        < 7,7\n8,8 => 7,7
        = note discarded: 1 line(s) without a request, first '8,8'
        < 9,9 => note discarded: 1 line(s) without a request, first '9,9'
        < 1,\
        ? place 7,7 11,10 => INFO time_left 90000 | TURN 11,10
        < 2,2 => 2,2
    """,
    "END is sent once and later output is ignored": "@ played\n! close\n> END\n= await close\n< bye",
    "an unachievable limit is told at the first move, and chatter is no move": r"""
        * options.refusal_ms = 300
        @ thinking
        < ERROR too little memory => wake after 300
        < MESSAGE sorry
        ! alarm
        = refused ERROR too little memory
    """,
    "a refusal of a later move is judged if no move follows soon": r"""
        * options.refusal_ms = 300
        @ played
        ? place 10,10 0,5 => INFO time_left 90000 | TURN 0,5
        < 1,0 => 1,0
        ? place 10,10 0,5 1,0 1,5 => INFO time_left 90000 | TURN 1,5
        < UNKNOWN => wake after 300
        ! alarm
        = refused UNKNOWN
    """,
    # The brain may think for as long as its turn lasts.
    "a refusal before a move is an answer to INFO from then on": r"""
        * options.refusal_ms = 300
        @ thinking
        < UNKNOWN command => wake after 300
        < 7,7 => 7,7
        ? place 7,7 8,8 => INFO time_left 90000 | TURN 8,8
        < UNKNOWN command
        ! alarm
        < 9,9 => 9,9
    """,
    "UNKNOWN without an answer to ABOUT may be that answer, and excuses no later refusal": r"""
        * options.refusal_ms = 300
        @ started
        < UNKNOWN
        ! alarm
        = ready
        ? place => INFO time_left 90000 | BEGIN
        < UNKNOWN => wake after 300
        ! alarm
        = refused UNKNOWN
    """,
    # Rapfi does not know the rules 8 and 9, and allocates its memory before it answers.
    "a late answer to ABOUT shows that an ERROR was about INFO": r"""
        @ late thinking
        < ERROR Unknown rule id: 9 => wake after 1000
        < name="Rapfi", version="x" => note ignored: 'name="Rapfi", version="x"', taken for an answer to an earlier line
        ! alarm
        < 7,7 => 7,7
        ? place 7,7 8,8 => INFO time_left 90000 | TURN 8,8
        < ERROR INFO
        ! alarm
        < 9,9 => 9,9
    """,
    "a late answer to ABOUT without a request shows what an earlier ERROR was about": r"""
        @ late
        < ERROR rule\nname="Rapfi" => note discarded: 2 line(s) without a request, first 'ERROR rule'
        ? place => INFO time_left 90000 | BEGIN
        < ERROR INFO
        ! alarm
        < 7,7 => 7,7
    """,
    "after a late answer to ABOUT one ERROR is about INFO time_left and the next refuses": r"""
        @ late thinking
        < ERROR rule\nname="x"
        < ERROR time_left
        < name="x"
        < ERROR BEGIN => refused ERROR BEGIN
    """,
    "a late answer to ABOUT excuses no ERROR that follows": r"""
        @ late thinking
        < name="x"
        < ERROR I cannot play on => wake after 1000
        < name="x"
        ! alarm
        = refused ERROR I cannot play on
    """,
    "text that is no answer to ABOUT excuses no ERROR": r"""
        @ late thinking
        < ERROR I cannot play on\nname = x => wake after 1000
        ! alarm
        = refused ERROR I cannot play on
    """,
    "a second answer to ABOUT excuses no ERROR": r"""
        @ thinking
        < ERROR I cannot play on\nname="x" => wake after 1000
        ! alarm
        = refused ERROR I cannot play on
    """,
    "an answer to ABOUT after the first move excuses no ERROR": r"""
        @ late thinking
        < 7,7 => 7,7
        ? place 7,7 8,8 => INFO time_left 90000 | TURN 8,8
        < ERROR I cannot play on\nname="x" => wake after 1000
        ! alarm
        = refused ERROR I cannot play on
    """,
    "a move that follows an ERROR counts": "@ thinking\n< ERROR unknown key\n< 10,10\n= 10,10\n! alarm\n= nothing",
    "an ERROR to a later move may be chatter": r"""
        @ played
        ? place 10,10 11,10 => INFO time_left 90000 | TURN 11,10
        < ERROR hash full
        < 9,9 => 9,9
    """,
    "the first ERROR of a brain that answers INFO lines is not about BEGIN": r"""
        @ started
        < ERROR INFO\nERROR INFO\nERROR INFO\nERROR INFO\nERROR INFO
        < name="x" => ready name="x"
        ? place => INFO time_left 90000 | BEGIN
        < ERROR INFO
        < 9,9 => 9,9
    """,
    # A brain without BOARD answers one UNKNOWN a line: that must not desynchronise what comes later.
    "an unknown BOARD is refused and the rest is discarded": r"""
        @ greeted
        ? place 10,10 10,11 opening=2 => INFO time_left 90000 | BOARD | 10,10,1 | 10,11,2 | DONE
        < UNKNOWN\nUNKNOWN\nUNKNOWN\nUNKNOWN => wake after 1000
        = refused UNKNOWN
        = note discarded: 2 line(s) without a request, first 'UNKNOWN'
    """,
}


LIMITS = SeatLimits(TimeControl.of_game(120000, 5000), 367001600)


def plays(script: str, game: Mapping[str, Any] = FREESTYLE_20, scripts: Mapping[str, str] = SCRIPTS) -> None:
    values, script = settings(script)
    options = GomocupOptions.model_validate(values.get("options", {}))
    opening = Open(0, {**game, **values.get("game", {})}, ("one", "two"), LIMITS)
    Talk(Gomocup(options), opening, "\n" if options.line_ending == "lf" else "\r\n", scripts=scripts).plays(script)


@pytest.mark.parametrize("name", TALKS)
def test_conversation(name: str) -> None:
    plays(TALKS[name])


REPLIES = [
    ("DEBUG x", "", "allowed at any time"),
    ("MESSAGE x", "", "allowed at any time"),
    ("message x", "", "in any case of letters"),
    ("UNKNOWN x", "", "the first may be the answer to INFO time_left"),
    ("ERROR x", "= wake after 1000", "the same, unless nothing follows: then INFO was too much for it"),
    ("3,4\\r\\n\\", "= 3,4", "plain"),
    ("3,4\\n\\", "= 3,4", "LF alone ends a line"),
    ("3,4\\r\\", "= 3,4", "so does CR"),
    ("3,4\\", "", "without an end it is no line; the deadline is the referee's"),
    ("+3,4", "= 3,4", "a sign is a number's"),
    ("3,4,1", "= unreadable 3,4,1", "meant as a move and not one: judged now, not at the deadline"),
    ("SUGGEST here", "= unreadable SUGGEST here", "the same"),
    ("-" + "9" * 5000 + ",+3", "= -" + "9" * 199, "off every board, however long it is"),
    ("0" * 5000 + "7,07", "= 7,7", "zeros before a number change nothing"),
    ("3;4", "", "not a pair of numbers: text"),
    ("\\n\\n\\r\\n3,4", "= 3,4", "empty lines are skipped"),
]
"""tests/conformance/test_gomocup_misbehaviour.py has the others."""


@pytest.mark.parametrize(("said", "outcome", "why"), REPLIES)
def test_output_while_a_move_is_awaited(said: str, outcome: str, why: str) -> None:
    plays(f"@ thinking\n< {said}\n{outcome}")


@pytest.mark.parametrize("said", ["UNKNOWN", "UNKNOWN command", "ERROR", "ERROR I cannot play on"])
def test_one_refusal_is_judged_if_no_move_follows_soon(said: str) -> None:
    plays(f"@ thinking\n< {said}\n= wake after 1000\n! alarm\n= refused {said}")


def test_long_line_is_cut_and_the_game_continues() -> None:
    """It must not crash if a line is too long, but it can silently cut very long lines."""
    pieces = "\n".join(["< " + "MESSAGE" + "x" * 1000 + "\\"] * 100)
    plays(f"""
        * options.line_bytes = 64
        @ thinking
        {pieces}
        < \\n\\
        = note cut: a line of more than 64 bytes
        < 3,3 => 3,3
    """)


def test_numbers_that_brains_read_into_32_bits_fit_them() -> None:
    """max_memory above 2 GiB and an unlimited game are told as 2147483647."""
    opening = Open(0, FREESTYLE_20, ("a", "b"), SeatLimits(TimeControl(turn_ms=0), 4 << 30, "/data"))
    Talk(Gomocup(GomocupOptions()), opening, "\r\n").plays("""
        > START 20
        < OK
        > INFO timeout_turn 0 | INFO timeout_match 0 | INFO max_memory 2147483647 | INFO game_type 1 | INFO rule 0
        > INFO folder /data | ABOUT
    """)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ('name="A b", Version="1.0",country="X"', {"name": "A b", "version": "1.0", "country": "X"}),
        ("Old brain by somebody", {"text": "Old brain by somebody"}),
        ("", {}),
    ],
)
def test_answer_to_about_is_read_by_keyword_or_kept_as_text(text: str, about: dict[str, str]) -> None:
    assert about == parse_about(text)


@pytest.mark.parametrize(
    ("protocol", "line", "is_private"),
    [
        *(("gomocup", b"debug x", True), ("gomocup", b"MESSAGE DEBUG x", False)),
        *((protocol, b"DEBUG x", False) for protocol in ("agi", "qchess", "stratego")),
    ],
)
def test_debug_lines_of_gomocup_alone_are_private(protocol: str, line: bytes, is_private: bool) -> None:
    assert is_private is protocol_entry(protocol).is_private(line)
