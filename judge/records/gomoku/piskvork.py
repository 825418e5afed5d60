"""What the two formats of Piskvork share: lines `x,y,ms`, names that are safe between them, the code of an end.

A stone of the opening has taken 0 ms, so the opening is the stones before the first with a time; a played first stone
that took none is written as 1. Lines end in CR LF. What is written is ASCII, which is the same in every code page that
a Windows program may open the file with; for what is read see `judge.records.text_files`. There is no escape, so a name
is reduced to characters that mean nothing (`safe_name`).

The code says how a game ended, not who won: 0 by the rules, 15 by time, -2 by another fault (in both the side to move
lost), -1 unknown. The winner of a game that ended by the rules is read from the stones (`outcome_on_board`).
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from judge.games.types import Verdict
from judge.records.gomoku.record import WINNERS, FiveRecord, Laying, Move, Outcome, outcome_on_board

LONGEST_NAME = 100

BY_RULES, BY_TIME, BY_FAULT, UNKNOWN = 0, 15, -2, -1
"""The codes."""

_CODES = {
    Verdict.WIN: BY_RULES,
    Verdict.DRAW: BY_RULES,
    Verdict.FOUL: BY_RULES,
    Verdict.START_TIME: BY_TIME,
    Verdict.TURN_TIME: BY_TIME,
    Verdict.MATCH_TIME: BY_TIME,
    Verdict.ILLEGAL: BY_FAULT,
    Verdict.UNREADABLE: BY_FAULT,
    # Piskvork has no resignation. With code 0 a reader would look for a five and find none.
    Verdict.RESIGNED: BY_FAULT,
    Verdict.MEMORY: BY_FAULT,
    Verdict.OUTPUT: BY_FAULT,
    Verdict.CRASH: BY_FAULT,
    Verdict.REFUSED: BY_FAULT,
    Verdict.VOID: UNKNOWN,
}

Line = tuple[int, str]
"""A line's number in the file, from 1, and its text without blanks around it."""

_MOVE = re.compile(r"([0-9]{1,3})[ \t]*,[ \t]*([0-9]{1,3})(?:[ \t]*,[ \t]*(-?[0-9]{1,12}))?")
_MOVE_START = re.compile(r"[+-]?[0-9]+[ \t]*,")
_CODE = re.compile(r"-?[0-9]{1,9}")


# --- writing ---------------------------------------------------------------------------------------------------------


def encode(lines: Iterable[str]) -> bytes:
    """The file of these lines."""
    return "".join(f"{line}\r\n" for line in lines).encode("ascii")


def move_lines(record: FiveRecord, first: int) -> Sequence[str]:
    """A line a stone; `first` is the number of the first column and row."""
    times = [0] * record.opening + [ms for _, _, ms in record.moves[record.opening :]]
    if record.opening < len(times):
        times[record.opening] = max(1, times[record.opening])
    return [f"{x + first},{y + first},{ms}" for (x, y, _), ms in zip(record.moves, times, strict=True)]


def name_lines(record: FiveRecord) -> Sequence[str]:
    """Black and white, a line each."""
    return [safe_name(name) for name in record.names or ("", "")]


def safe_name(name: str) -> str:
    """`name` as a line that means nothing else.

    At most 100 characters of `piskvork_name`, of which the first is a letter or `_`: Piskvork looks for
    another number where the moves end, and would eat it.
    """
    safe = piskvork_name(name)
    return (safe if re.match(r"[A-Za-z_]", safe) else f"_{safe}")[:LONGEST_NAME].rstrip()


def piskvork_name(text: str) -> str:
    """Letters, digits, blanks and `_.+()#@-`; accents are taken off and everything else becomes `_`."""
    plain = unicodedata.normalize("NFKD", text[:LONGEST_NAME])
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    words = " ".join(letters.split())[:LONGEST_NAME]
    return re.sub(r"[^A-Za-z0-9 _.+()#@-]", "_", words).rstrip()


def code_of(record: FiveRecord) -> int:
    """The code of the game's end; UNKNOWN if every other code would give the wrong winner."""
    if not record.outcome or record.verdict == Verdict.VOID:
        return UNKNOWN
    if record.verdict:
        code = _CODES[Verdict(record.verdict)]
    else:
        code = BY_RULES if record.outcome == outcome_on_board(record) else BY_FAULT
    is_unlike = code != BY_RULES and record.outcome != _winner_if_to_move_lost(record)
    return UNKNOWN if is_unlike else code


def _winner_if_to_move_lost(record: FiveRecord) -> Outcome:
    return WINNERS[1 - (len(record.moves) & 1)]


# --- reading ---------------------------------------------------------------------------------------------------------


def split_lines(text: str) -> list[Line]:
    """The lines that are not blank; `text` has LF for every line end."""
    # str.splitlines would also split at control characters.
    numbered = enumerate(text.split("\n"), 1)
    return [(number, line.strip(" \t")) for number, line in numbered if line.strip(" \t")]


def is_move(text: str) -> bool:
    """Whether a line is a stone."""
    return _MOVE.fullmatch(text) is not None


def is_broken_move(text: str) -> bool:
    """Whether a line that is no stone begins as one, as no name does."""
    return _MOVE_START.match(text) is not None


def is_code(text: str) -> bool:
    """Whether a line is a code."""
    return _CODE.fullmatch(text) is not None


def read_moves(lines: Sequence[Line], first: int, laying: Laying) -> tuple[tuple[Move, ...], int]:
    """The stones that `lines` begin with, one a line, and how many of them are the opening's.

    A stone of two numbers has no time and was played.
    """
    opening = 0
    for number, text in lines:
        match = _MOVE.fullmatch(text)
        if match is None:
            break
        laying.add(int(match[1]) - first, int(match[2]) - first, int(match[3] or 0), number, text)
        if opening == len(laying.moves) - 1 and int(match[3] or 1) == 0:
            opening += 1
    return tuple(laying.moves), opening


def ended(record: FiveRecord, code: int | None) -> FiveRecord:
    """`record` with the outcome and the verdict that a code means; no code is taken for 0."""
    outcome: Outcome = ""
    verdict = ""
    if code in (BY_RULES, None):
        outcome = outcome_on_board(record)
        verdict = {"": "", "draw": Verdict.DRAW.value}.get(outcome, Verdict.WIN.value)
    elif code in (BY_TIME, BY_FAULT):
        outcome = _winner_if_to_move_lost(record)
        verdict = Verdict.TURN_TIME.value if code == BY_TIME else ""
    return replace(record, outcome=outcome, verdict=verdict)
