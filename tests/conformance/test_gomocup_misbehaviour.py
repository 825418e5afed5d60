"""What brains and engines do wrong in the wild, and what this judge makes of each: one row a misbehaviour.

Black does what the row says at its first move, and plays on where it can; white is well-behaved. `None` is a game that
goes on as if nothing had been: it ends by the rules, and black wins it. What other managers of the field do of it
stands beside the verdict.
"""

from collections.abc import Sequence

import pytest

from judge.games.types import Verdict
from judge.record.transcript import EntryKind
from judge.testing import Act, Agent, Do, Say, dies, exits
from tests.referee.games import BLACK_ROW, WHITE_ROW, Game, brain, play, spec

CLOCK = {"turn_ms": 1000, "tolerance_ms": 0, "match_ms": 60000, "start_ms": 5000}
BYTES = {"game_bytes": 200_000}

Row = tuple[str, dict[str, Sequence[Act]], Verdict | None, str]


def says(*texts: str, ms: float = 1.0) -> list[Act]:
    """Each text as a read of its own."""
    return [Say(text.encode("latin-1"), ms) for text in texts]


AT_THE_FIRST_MOVE: list[tuple[str, Sequence[Act], Verdict | None, str]] = [
    ("blanks around the numbers", says(" 0 , 0 \n"), None, "read; others differ"),
    ("a line in three reads", says("0", ",", "0\r\n"), None, "one line; others cut it"),
    ("a late end of line", says("0,0") + says("\n", ms=900), None, "in time"),
    ("a line end too late", says("0,0") + says("\n", ms=1100), Verdict.TURN_TIME, "no line, no move"),
    ("no end of line", says("0,0"), Verdict.TURN_TIME, "time; all do so"),
    ("CR alone", says("0,0\r"), None, "a line; others wait for LF"),
    ("trailing rubbish", says("0,0 rubbish\n"), Verdict.UNREADABLE, "at once; others wait or take it"),
    ("a third number", says("0,0,1\n"), Verdict.UNREADABLE, "at once"),
    ("two squares", says("0,0 1,1\n"), Verdict.ILLEGAL, "one stone was asked for"),
    ("a comma and nothing", says("0,\n"), Verdict.UNREADABLE, "at once"),
    ("another language", says("h8\n"), Verdict.TURN_TIME, "text, like any chatter"),
    ("NUL and escapes", says("\x00\x1b[2J\xff\n0,0\n"), None, "set aside"),
    ("off the board", says("15,0\n"), Verdict.ILLEGAL, "others call it a crash"),
    ("negative", says("-1,0\n"), Verdict.ILLEGAL, "others wrap it around"),
    ("a huge number", says("99999999999999999999,0\n"), Verdict.ILLEGAL, "a number, off every board"),
    ("two moves at once", says("0,0\n14,14\n"), None, "the second is discarded; others play it"),
    ("two moves, two reads", says("0,0\n", "14,14\n", ms=0), None, "the same"),
    ("a flood of messages", says(*["MESSAGE x\n"] * 500) + says("0,0\n"), None, "kept, bounded"),
    ("a line without end", says(*["x" * 1000] * 20) + says("\n0,0\n"), None, "cut; others keep it all"),
    ("a flood without end", says(*["MESSAGE x\n" * 1000] * 20), Verdict.OUTPUT, "others hang"),
    ("dribble for ever", says(*["x"] * 2000, ms=50), Verdict.TURN_TIME, "the deadline does not move"),
    ("chatter for ever", says(*["MESSAGE x\n"] * 2000, ms=50), Verdict.TURN_TIME, "the same"),
    ("OK to a move", says("OK\n0,0\n"), None, "ignored"),
    ("text before the move", says("thinking hard\n0,0\n"), None, "ignored; Piskvork: loss"),
    ("UNKNOWN once", says("UNKNOWN\n0,0\n"), None, "may be the answer to INFO time_left"),
    ("UNKNOWN twice", says("UNKNOWN\nUNKNOWN\n"), Verdict.REFUSED, "others wait for the time"),
    ("ERROR twice", says("ERROR a\nERROR b\n"), Verdict.REFUSED, "others wait for the time"),
    ("SUGGEST and nothing", says("SUGGEST 0,0\n"), Verdict.TURN_TIME, "PLAY was its answer"),
    ("SUGGEST of no square", says("SUGGEST a\n"), Verdict.UNREADABLE, "at once"),
    ("SWAP", says("SWAP\n0,0\n"), None, "no swap was offered: text"),
    ("silence", [], Verdict.TURN_TIME, "and no longer than the limit"),
    ("exit without a move", exits(0), Verdict.CRASH, "others call it a timeout"),
    ("exit with a code", exits(3), Verdict.CRASH, "with the code"),
    ("killed by itself", dies(9), Verdict.CRASH, "a signal is no void"),
    ("a segmentation fault", dies(11), Verdict.CRASH, "with the signal"),
    ("stdout closed", says(""), Verdict.CRASH, "no answer can come"),
    ("a move, then the exit", [*says("0,0\n"), *exits(0)], Verdict.CRASH, "the move stands first"),
    ("half a move, then the exit", [*says("0,0"), *exits(0)], Verdict.CRASH, "an end is no line end"),
    ("memory", [Do(EntryKind.OOM), *says("0,0\n", ms=5)], Verdict.MEMORY, "at once, the move too late"),
]  # fmt: skip


@pytest.mark.parametrize("row", AT_THE_FIRST_MOVE, ids=lambda row: row[0])
def test_at_its_first_move(row: tuple[str, Sequence[Act], Verdict | None, str]) -> None:
    """Black's BEGIN is answered by the row; then it plays on along its row of five."""
    _, acts, verdict, _ = row
    assert_judged(brain(*BLACK_ROW[1:], BEGIN=acts), verdict)


AT_OTHER_TIMES: list[Row] = [
    ("silent on ABOUT", {"ABOUT": []}, None, "c-gomoku-cli waits for ever"),
    ("UNKNOWN to ABOUT", {"ABOUT": says("UNKNOWN\n")}, None, "an answer"),
    ("free text on ABOUT", {"ABOUT": says("my brain 1.0\n")}, None, "kept as it is"),
    ("a megabyte on ABOUT", {"ABOUT": says("x" * 90_000 + "\n")}, None, "cut"),
    ("chatter before OK", {"START": says("MESSAGE hi\nhello\nOK\n")}, None, "ignored"),
    ("OK and more", {"START": says("OK - fine\n")}, None, "Piskvork: not OK"),
    ("OK twice", {"START": says("OK\nOK\n")}, None, "an answer to ABOUT"),
    ("a move instead of OK", {"START": says("7,7\n")}, Verdict.START_TIME, "never ready"),
    ("no OK", {"START": []}, Verdict.START_TIME, "others wait for a move"),
    ("OK without end", {"START": says("OK")}, Verdict.START_TIME, "no line"),
    ("ERROR to START", {"START": says("ERROR size\n")}, Verdict.REFUSED, "after the other sizes"),
    ("UNKNOWN to START", {"START": says("UNKNOWN\n")}, Verdict.REFUSED, "a mandatory command"),
    ("exit at START", {"START": exits(1)}, Verdict.CRASH, "at once"),
    ("an answer to every INFO", {"INFO": says("UNKNOWN\n", ms=0)}, None, "forgiven, one each"),
    ("DEBUG to every INFO", {"INFO": says("DEBUG got it\n", ms=0)}, None, "private"),
    ("a move to every INFO", {"INFO": says("0,0\n", ms=0)}, Verdict.ILLEGAL, "time_left begins a turn"),
    ("deaf to END", {"END": []}, None, "killed after the grace, and has won"),
    ("chatter after END", {"END": [*says("bye\n"), *exits(0)]}, None, "discarded"),
    ("a crash after END", {"END": dies(11)}, None, "the game is over"),
]


@pytest.mark.parametrize("row", AT_OTHER_TIMES, ids=lambda row: row[0])
def test_at_another_time(row: Row) -> None:
    """Before and after the game."""
    _, lines, verdict, _ = row
    assert_judged(brain(*BLACK_ROW, ms=1.0, **lines), verdict)


def assert_judged(black: Agent, verdict: Verdict | None) -> Game:
    played = play(black, brain(*WHITE_ROW), spec(clock=CLOCK, bytes=BYTES))
    if verdict is None:
        played.assert_won()
    else:
        played.assert_lost(0, verdict)
    return played


def test_activity_in_the_opponents_turn_does_not_harm_the_opponent() -> None:
    """Moves, messages and a death out of turn: white plays on, and black is judged when it is asked."""
    acts = [*says("0,0\n"), *says("5,5\n", "MESSAGE x\n", "UNKNOWN\n", ms=0), *exits(1, ms=0)]
    played = assert_judged(brain(BEGIN=acts), Verdict.CRASH)
    assert ["0,0", "0,1"] == played.said
