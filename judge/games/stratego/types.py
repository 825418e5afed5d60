"""Requests, decisions and events of Stratego.

Seat 0 is RED, owns rows 0 to 3 (the top) and moves first; seat 1 is BLUE and owns rows 6 to 9. x counts columns from
the left, y rows from the top, both from 0 (UCC's manual, PROTOCOL).

A half-move is `X Y DIRECTION [MULTIPLIER]`, NO_MOVE or SURRENDER. Replies are parsed like the C++ streams of the
managers of 2011 and 2012: any blank, tab or carriage return separates, numbers may have a sign and leading zeros, a
multiplier that is not a number is 0, and the rest is ignored. Words are upper case. SURRENDER and NO_MOVE are alone on
their line.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from judge.base.text import quote, sentence
from judge.games.types import AgentFault, Decision, Event, Reply, ReplyKind, Request, Verdict, decided

RED, BLUE = 0, 1
COLOURS = ("RED", "BLUE")
SIZE = 10

SETUP_ROWS = 4

NAME_BYTES = 127
"""Agents of 2012 read a name into 128 bytes, including the terminator."""


class Direction(StrEnum):
    """y grows downwards."""

    UP = "UP"
    DOWN = "DOWN"
    LEFT = "LEFT"
    RIGHT = "RIGHT"


@dataclass(slots=True)
class SetupRow(Request):
    """`seat` must give one row of its set-up: `row` 0 to 3, from the board's top."""

    row: int


@dataclass(slots=True)
class HalfMove(Request):
    """`seat` must move in turn `turn` (from 1; a half-move of each side).

    `board` is its view: ten lines of ten characters and a newline; own pieces as letters, enemies `#`, lakes `+`, empty
    squares `.`.
    """

    turn: int
    board: str


@dataclass(slots=True)
class SetUpRow(Decision):
    """One row, not yet checked."""

    pieces: str


@dataclass(slots=True)
class Move(Decision):
    """A piece from x, y over `steps` squares, not yet checked."""

    x: int
    y: int
    direction: Direction
    steps: int = 1


@dataclass(slots=True)
class NoMove(Decision):
    """The side has no move (UCC's manual, NO_MOVE)."""


@dataclass(slots=True)
class Started(Event):
    """Both set-ups are complete; only for RED (UCC's manual, START)."""


@dataclass(slots=True)
class Confirmed(Event):
    """`text` is the line for both sides."""

    seat: int
    turn: int
    text: str


class PlayedMove(NamedTuple):
    """`text` is the reply with its outcome; empty: no reply."""

    turn: int
    seat: int
    text: str


_NO_WORD = re.compile(r"[^!-~]+")


def one_word(name: str) -> str:
    """At most 127 printable ASCII characters; others become `_`."""
    return _NO_WORD.sub("_", name)[:NAME_BYTES] or "_"


def no_decision(seat: int, reply: Reply, wanted: str) -> AgentFault:
    """`wanted` describes the request."""
    said = quote(reply.said)
    match reply.kind:
        case ReplyKind.RESIGNED:
            return AgentFault(Verdict.RESIGNED, seat, sentence(f"surrendered, saying {said}"))
        case ReplyKind.REFUSED:
            return AgentFault(Verdict.REFUSED, seat, sentence(f"refused to play on, saying {said}"))
        case _:
            return AgentFault(Verdict.UNREADABLE, seat, sentence(f"{said} cannot be read as {wanted}"))


NO_MOVE, SURRENDER = "NO_MOVE", "SURRENDER"

INT_MIN, INT_MAX = -(1 << 31), (1 << 31) - 1

_MOVE = re.compile(r"\s*+([+-]?+\d++)\s*+([+-]?+\d++)\s*+(UP|DOWN|LEFT|RIGHT)(?!\S)\s*+(.*)", re.ASCII | re.DOTALL)
_NUMBER = re.compile(r"[+-]?+\d++", re.ASCII)
_DIRECTIONS = {direction.value: direction for direction in Direction}


def read_reply(said: str, longest: int = 1024) -> Reply:
    """More than `longest` characters are unreadable."""
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
    """Without a multiplier of 1."""
    multiplier = "" if move.steps == 1 else f" {move.steps}"
    return f"{move.x} {move.y} {move.direction}{multiplier}"


def _steps(text: str) -> int:
    match = _NUMBER.match(text)
    return 0 if match is None else max(INT_MIN, min(INT_MAX, int(match[0])))


class ResultLine(NamedTuple):
    """The last line of a log and of the manager's stdout. `colour` is RED, BLUE or BOTH."""

    name: str
    colour: str
    outcome: str
    turn: int
    red_value: int
    blue_value: int

    @property
    def points_word(self) -> str:
        """Row of the policy's points; BOTH_ILLEGAL only for two bad set-ups."""
        if self.colour == "BOTH":
            return "BOTH_ILLEGAL"
        # In 2011 also a single bad set-up, with the offender's name.
        return "ILLEGAL" if self.outcome == "BOTH_ILLEGAL" else self.outcome


_RESULT = re.compile(r"(\S+) (RED|BLUE|BOTH) ([A-Z_]+) ([0-9]{1,9}) ([0-9]{1,9}) ([0-9]{1,9})")


def read_result(line: str) -> ResultLine | None:
    """None if `line` has another form."""
    match = _RESULT.fullmatch(line)
    if match is None:
        return None
    return ResultLine(match[1], match[2], match[3], int(match[4]), int(match[5]), int(match[6]))
