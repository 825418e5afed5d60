r"""The Stratego protocol of UCC's contest. Source: its manual.

Every line answers one request: the open one, or the next. Early lines are kept in order and may answer a later request
at once, which is sent nevertheless.

    phase       what the manager waits for     sent on entering                        left by
    IDLE        nothing                        -                                       a request
    SETTING_UP  a row of the set-up            `RED opponent 10 10`, first row only    any line
    MOVING      a half-move                    the board as this side sees it          any line
    ENDING      the exit                       `QUIT` and the result                   -

START and confirmations are sent in any phase. A line ends with `\n` only, so a reply cut off by a crash is no reply.
An opponent's name is sent as one word of at most 127 bytes.
"""

import re
from collections import deque
from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from judge.base.parsing import FrozenModel
from judge.base.text import sentence
from judge.games.stratego.types import COLOURS, Confirmed, HalfMove, SetUpRow, SetupRow, Started, one_word, read_reply
from judge.games.types import Event, Request, decided
from judge.protocols.entry import ProtocolEntry
from judge.protocols.lines import LineReader
from judge.protocols.squares import intended_square
from judge.protocols.types import (
    Alarm,
    Answer,
    Ask,
    Await,
    Bytes,
    Close,
    Effect,
    Note,
    Open,
    Ready,
    Stimulus,
    Tell,
    Wait,
    Write,
)


class StrategoProtocolOptions(FrozenModel):
    """Protocol options of a contest or an agent's manifest."""

    carriage_return: Literal["keep", "strip"] = "strip"
    r"""A final `\r` is removed, or kept (both managers; it invalidates set-up rows, SURRENDER and NO_MOVE)."""
    line_bytes: int = Field(default=1024, ge=64, le=4000)
    """Longer lines are unreadable; their beginning is kept."""
    lines_ahead: int = Field(default=8192, ge=4)
    """Maximum number of early lines; more are dropped with a note."""


class StrategoPhase(StrEnum):
    """See the module."""

    IDLE = "idle"
    SETTING_UP = "setting up"
    MOVING = "moving"
    ENDING = "ending"


class StrategoProtocol:
    """The manager's side."""

    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset({SetupRow, HalfMove, Started, Confirmed})

    def __init__(self, options: StrategoProtocolOptions) -> None:
        self._options = options
        # Detects longer lines.
        self._reader = LineReader(options.line_bytes + 1)
        self._lines: deque[bytes] = deque()
        self._phase = StrategoPhase.IDLE
        self._greeting = ""
        self._has_dropped = False

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        match stimulus:
            case Bytes(data=data):
                return self._read(data)
            case Tell(Confirmed(text=text)):
                return [_line(text)]
            case Ask(HalfMove(board=board)):
                return self._ask(StrategoPhase.MOVING, Wait.TURN, [_text(board)])
            case Ask(SetupRow(row=row)):
                greeting: list[Effect] = [_line(self._greeting)] if row == 0 else []
                return self._ask(StrategoPhase.SETTING_UP, Wait.ROW, greeting)
            case Tell(Started()):
                return [_line("START")]
            case Open(seat=seat, game=game, names=names):
                self._greeting = f"{COLOURS[seat]} {one_word(names[1 - seat])} {game['width']} {game['height']}"
                return [Ready()]
            case Close(result):
                self._phase = StrategoPhase.ENDING
                return [_line(f"QUIT {result}".rstrip()), Await(Wait.CLOSE)]
            case Alarm():
                return ()
            case _:
                raise TypeError(f"the Stratego protocol has no words for {stimulus!r}")

    def _ask(self, phase: StrategoPhase, wait: Wait, said: list[Effect]) -> Sequence[Effect]:
        self._phase = phase
        said.append(self._answer() if self._lines else Await(wait))
        return said

    def _read(self, data: bytes) -> Sequence[Effect]:
        lines = self._reader.feed(data)
        if self._phase is StrategoPhase.ENDING:
            return ()
        self._lines.extend(lines)
        effects: list[Effect] = []
        while len(self._lines) > self._options.lines_ahead:
            self._lines.pop()
            if not self._has_dropped:
                effects.append(Note(f"dropped: lines beyond the {self._options.lines_ahead} that may be sent ahead"))
            self._has_dropped = True
        if self._lines and self._phase is not StrategoPhase.IDLE:
            effects.append(self._answer())
        return effects

    def _answer(self) -> Answer:
        said = self._lines.popleft().decode("latin-1")
        if self._options.carriage_return == "strip":
            said = said.removesuffix("\r")
        is_row = self._phase is StrategoPhase.SETTING_UP
        self._phase = StrategoPhase.IDLE
        return Answer(decided(SetUpRow(said), said) if is_row else read_reply(said, self._options.line_bytes))


def _line(text: str) -> Write:
    return _text(f"{text}\n")


def _text(text: str) -> Write:
    return Write(text.encode("latin-1"))


_DIRECTION = re.compile(r"(?i)(?<![a-z])(up|down|left|right|north|south|west|east|[udlr])(?![a-z\d])")
_DIRECTIONS = {"u": "UP", "n": "UP", "d": "DOWN", "s": "DOWN", "l": "LEFT", "w": "LEFT", "r": "RIGHT", "e": "RIGHT"}


def _probable_answer(said: str) -> str:
    before, *found = _DIRECTION.split(said)
    square = intended_square(before.strip())
    if square is None or len(found) != 2:
        return ""
    steps = re.fullmatch(r"\W*(\d?)\W*", found[1])
    return f"{square[0]} {square[1]} {_DIRECTIONS[found[0][0].lower()]} {steps[1]}".rstrip() if steps else ""


ENTRY = ProtocolEntry(
    StrategoProtocolOptions,
    StrategoProtocol,
    games=("stratego",),
    answer_forms={
        "": sentence(
            "a row of the set-up such as 8BFB887B95, later COLUMN ROW DIRECTION, counted from 0, in capitals: 3 6 UP"
        )
    },
    probable_answer=_probable_answer,
)
