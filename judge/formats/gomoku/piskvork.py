"""Shared parts of Piskvork's two formats.

Stones of the opening have time 0, so it ends at the first stone with a time. A first played stone of 0 ms is written as
1. Lines end in CR LF. Output is ASCII; for input see `judge.base.text_files`.

The code gives how a game ended, not the winner: 0 by the rules, 15 by time, -2 by another fault (in both the side to
move lost), -1 unknown. After code 0 the winner is read from the stones (`outcome_on_board`).
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from judge.formats.gomoku.record import WINNERS, FiveRecord, Laying, Move, Outcome, outcome_on_board
from judge.games.types import Verdict

MAX_NAME_CHARACTERS = 100

BY_RULES, BY_TIME, BY_FAULT, UNKNOWN = 0, 15, -2, -1

_CODES = {
    **dict.fromkeys((Verdict.WIN, Verdict.DRAW, Verdict.FOUL), BY_RULES),
    **dict.fromkeys((Verdict.START_TIME, Verdict.TURN_TIME, Verdict.MATCH_TIME), BY_TIME),
}
"""Other verdicts are faults, also a resignation: code 0 promises a row of five."""

Line = tuple[int, str]

_MOVE = re.compile(r"([0-9]{1,3})[ \t]*,[ \t]*([0-9]{1,3})(?:[ \t]*,[ \t]*(-?[0-9]{1,12}))?")
_MOVE_START = re.compile(r"[+-]?[0-9]+[ \t]*,")
_CODE = re.compile(r"-?[0-9]{1,9}")


def encode(lines: Iterable[str]) -> bytes:
    """CR LF, ASCII."""
    return "".join(f"{line}\r\n" for line in lines).encode("ascii")


def move_lines(record: FiveRecord, first: int) -> Sequence[str]:
    """`first` numbers the first column and row."""
    times = [0] * record.opening + [ms for _, _, ms in record.moves[record.opening :]]
    if record.opening < len(times):
        times[record.opening] = max(1, times[record.opening])
    return [f"{x + first},{y + first},{ms}" for (x, y, _), ms in zip(record.moves, times, strict=True)]


def name_lines(record: FiveRecord) -> Sequence[str]:
    """Black's and white's lines."""
    return [safe_name(name) for name in record.names or ("", "")]


def safe_name(name: str) -> str:
    """`name` as a line that cannot be read as anything else.

    It begins with a letter or `_`: Piskvork would consume a digit after the moves.
    """
    safe = piskvork_name(name)
    return (safe if re.match(r"[A-Za-z_]", safe) else f"_{safe}")[:MAX_NAME_CHARACTERS].rstrip()


def piskvork_name(text: str) -> str:
    """Keep letters, digits, blanks and `_.+()#@-`, without accents; others become `_`."""
    plain = unicodedata.normalize("NFKD", text[:MAX_NAME_CHARACTERS])
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    words = " ".join(letters.split())[:MAX_NAME_CHARACTERS]
    return re.sub(r"[^A-Za-z0-9 _.+()#@-]", "_", words).rstrip()


def code_of(record: FiveRecord) -> int:
    """UNKNOWN if any other would give the wrong winner."""
    if not record.outcome or record.verdict == Verdict.VOID:
        return UNKNOWN
    if record.verdict:
        code = _CODES.get(Verdict(record.verdict), BY_FAULT)
    else:
        code = BY_RULES if record.outcome == outcome_on_board(record) else BY_FAULT
    is_unlike = code != BY_RULES and record.outcome != _winner_if_to_move_lost(record)
    return UNKNOWN if is_unlike else code


def _winner_if_to_move_lost(record: FiveRecord) -> Outcome:
    return WINNERS[1 - (len(record.moves) & 1)]


def split_lines(text: str) -> list[Line]:
    """Lines without blank ones. Line ends must be LF."""
    # str.splitlines also splits at control characters.
    numbered = enumerate(text.split("\n"), 1)
    return [(number, line.strip(" \t")) for number, line in numbered if line.strip(" \t")]


def is_move(text: str) -> bool:
    """Whether a line is a stone."""
    return _MOVE.fullmatch(text) is not None


def is_broken_move(text: str) -> bool:
    """Starts like a stone; names cannot."""
    return _MOVE_START.match(text) is not None


def is_code(text: str) -> bool:
    """Whether a line is a result code."""
    return _CODE.fullmatch(text) is not None


def read_moves(lines: Sequence[Line], first: int, laying: Laying) -> tuple[tuple[Move, ...], int]:
    """Leading stones, and length of the opening. A stone without a time was played."""
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
    """`record` with a code's outcome and verdict. A missing code is 0."""
    outcome: Outcome = ""
    verdict = ""
    if code in (BY_RULES, None):
        outcome = outcome_on_board(record)
        verdict = {"": "", "draw": Verdict.DRAW.value}.get(outcome, Verdict.WIN.value)
    elif code in (BY_TIME, BY_FAULT):
        outcome = _winner_if_to_move_lost(record)
        verdict = Verdict.TURN_TIME.value if code == BY_TIME else ""
    return replace(record, outcome=outcome, verdict=verdict)
