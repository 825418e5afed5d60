"""How a half-move is written: `X Y DIRECTION [MULTIPLIER]`, NO_MOVE or SURRENDER, read as the field's manager reads it.

The manager of 2011 and 2012 takes a reply apart by C++ stream extraction, and agents rely on it: any blank, tab or
carriage return separates, numbers may have a sign and leading zeros, a multiplier that is no number is 0, and what
follows it is not looked at. Directions and words are upper case and SURRENDER and NO_MOVE stand alone on their line.
"""

import re

from judge.games.stratego.types import Direction, Move, NoMove
from judge.games.types import Reply, ReplyKind, decided

NO_MOVE, SURRENDER = "NO_MOVE", "SURRENDER"

INT_MIN, INT_MAX = -(1 << 31), (1 << 31) - 1

_MOVE = re.compile(r"\s*+([+-]?+\d++)\s*+([+-]?+\d++)\s*+(UP|DOWN|LEFT|RIGHT)(?!\S)\s*+(.*)", re.ASCII | re.DOTALL)
_NUMBER = re.compile(r"[+-]?+\d++", re.ASCII)
_DIRECTIONS = {direction.value: direction for direction in Direction}


def read_reply(said: str, longest: int = 1024) -> Reply:
    """What the text of a reply to `HalfMove` means; more than `longest` characters mean nothing. `said` is kept."""
    if len(said) > longest:
        return Reply(ReplyKind.UNREADABLE, said)
    match = _MOVE.fullmatch(said)
    if match is not None:
        x, y = int(match[1]), int(match[2])
        if INT_MIN <= x <= INT_MAX and INT_MIN <= y <= INT_MAX:
            steps = _steps(match[4]) if match[4] else 1
            return decided(Move(x, y, _DIRECTIONS[match[3]], steps), said)
    elif said == SURRENDER:
        return Reply(ReplyKind.RESIGNED, said)
    elif said == NO_MOVE:
        return decided(NoMove(), said)
    return Reply(ReplyKind.UNREADABLE, said)


def write_move(move: Move) -> str:
    """The one way to write a move: single blanks, the multiplier only where it is not 1."""
    multiplier = "" if move.steps == 1 else f" {move.steps}"
    return f"{move.x} {move.y} {move.direction}{multiplier}"


def _steps(text: str) -> int:
    """The multiplier: 0 if there is no number, the nearest 32-bit number if it is too large."""
    match = _NUMBER.match(text)
    return 0 if match is None else max(INT_MIN, min(INT_MAX, int(match[0])))
