r"""The text protocol of UCC's Quantum Chess: lines to an agent, and reading of its lines.

Source: UCC's page on its text API.

An agent has one kind of line. The table gives its effect in each phase.

    phase      what the manager waits for       a line of the agent            left by
    IDLE       nothing                          kept, or unrequested (options) a request or the end
    ANSWERING  a square (SELECTION?, MOVE?)     answers                        the line
    ENDING     the exit                         ignored with a note            -

docs/protocols.md has an example. Requests are for a square only, and only the first two numbers of a line are read, so
`x y` and `x y index type` are the same answer (UCC's text API, Request: Selection).

`QchessOptions` has the differences between the text and the program of that time. `strict`: an unrequested line answers
the next request, as UNASKED; blank lines are skipped. The start position (BOARD ... END BOARD) is unknown to the text.

Bytes are Latin-1, so all are valid. A line ends with `\n` only; the end of the stream does not end a line.
"""

from collections import deque
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, ClassVar, Literal

from pydantic import Field

from judge.base.parsing import FrozenModel
from judge.base.text import quote, sentence
from judge.games.quantum_chess.board import COLOURS
from judge.games.quantum_chess.words import Destination, Moved, Selected, Selection, TurnLost, announcement, read_square
from judge.games.types import Event, Reply, ReplyKind, Request
from judge.protocols.entry import ProtocolEntry
from judge.protocols.lines import LineReader
from judge.protocols.squares import intended_square, is_letter_and_number
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


class QchessOptions(FrozenModel):
    """Protocol options of a contest or an agent's manifest."""

    quit: Literal["result", "bare"] = "result"
    """`QUIT white DRAW` (the program of 2013), or `QUIT` alone (UCC's text API, Game ends)."""
    unasked: Literal["strict", "lenient"] = "lenient"
    """Illegal (UCC's text API, Game start), or kept as the next answer (the program)."""
    board_at: Literal["original", "spaced"] = "original"
    """A BOARD line ends `['pawn', 'unknown']at 0,1`, or has a blank before `at`."""
    line_bytes: int = Field(default=1024, ge=64, le=4096)
    """Longer lines are truncated."""
    kept_lines: int = Field(default=1000, ge=1)
    """Maximum number of kept lines (lenient); more are dropped with a note."""


class QchessPhase(StrEnum):
    """See the module."""

    IDLE = "idle"
    ANSWERING = "answering"
    ENDING = "ending"


class Qchess:
    """The manager's side."""

    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset(
        {Selection, Destination, Selected, Moved, TurnLost}
    )

    def __init__(self, options: QchessOptions) -> None:
        self._options = options
        self._lines = LineReader(options.line_bytes)
        self._phase = QchessPhase.IDLE
        self._kept: deque[bytes] = deque()
        self._unasked: bytes | None = None

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        match stimulus:
            case Bytes(data=data):
                return self._read(data)
            case Tell(Selected() | Moved() as event):
                return [_say(announcement(event))]
            case Tell(TurnLost(words=words)):
                return [_say(words)]
            case Ask(Selection()):
                return self._ask("SELECTION?")
            case Ask(Destination()):
                return self._ask("MOVE?")
            case Open():
                return [_say(COLOURS[stimulus.seat], *self._position(stimulus.game)), Ready()]
            case Close(result):
                self._phase = QchessPhase.ENDING
                is_bare = self._options.quit == "bare" or not result
                return [_say("QUIT" if is_bare else f"QUIT {result}"), Await(Wait.CLOSE)]
            case Alarm():
                return ()
            case _:
                raise TypeError(f"the qchess protocol has no words for {stimulus!r}")

    def _ask(self, question: str) -> Sequence[Effect]:
        if self._unasked is not None:
            return [Answer(Reply(ReplyKind.UNASKED, _text(self._unasked)))]
        if self._kept:
            # Agents may count requests.
            return [_say(question), Answer(read_square(_text(self._kept.popleft())))]
        self._phase = QchessPhase.ANSWERING
        return [_say(question), Await(Wait.TURN)]

    def _position(self, game: dict[str, Any]) -> list[str]:
        if "board" not in game:
            return []
        blank = " " if self._options.board_at == "spaced" else ""
        pieces = [
            f"{piece['colour']} {piece['current']} [{', '.join(map(repr, piece['types']))}]{blank}"
            f"at {piece['x']},{piece['y']}"
            for piece in game["board"]
        ]
        return ["BOARD", *pieces, "", "END BOARD", *game["played"]]

    def _read(self, data: bytes) -> Sequence[Effect]:
        if self._phase is QchessPhase.ENDING:
            return [Note(f"discarded after QUIT: {quote(_text(data), 80)}")]
        lines = self._lines.feed(data)
        effects: list[Effect] = [*self._lines.take_cut()]
        if self._options.unasked == "strict":
            lines = [line for line in lines if line.strip()]
        if self._phase is QchessPhase.ANSWERING and lines:
            self._phase = QchessPhase.IDLE
            effects.append(Answer(read_square(_text(lines.pop(0)))))
        if self._phase is QchessPhase.IDLE:
            effects += self._set_aside(lines, data.rpartition(b"\n")[2])
        return effects

    def _set_aside(self, lines: Sequence[bytes], rest: bytes) -> Sequence[Effect]:
        if self._options.unasked == "strict":
            said = [*lines, rest] if rest.strip() else lines
            if not said:
                return ()
            if self._unasked is None:
                self._unasked = said[0][: self._options.line_bytes]
            return [Note(f"unasked: {quote(_text(b'; '.join(said)), 80)}")]
        room = self._options.kept_lines - len(self._kept)
        self._kept.extend(lines[:room])
        if len(lines) > room:
            return [Note(f"dropped: {len(lines) - room} line(s) too many before their request")]
        return ()


def _say(*lines: str) -> Write:
    return Write("".join(f"{line}\n" for line in lines).encode("latin-1"))


def _text(line: bytes) -> str:
    return line.decode("latin-1")


def _probable_answer(said: str) -> str:
    if (square := intended_square(said)) is None or max(square) > 7:
        return ""
    return f"{square[0]} {7 - square[1] if is_letter_and_number(said) else square[1]}"


ENTRY = ProtocolEntry(
    QchessOptions,
    Qchess,
    games=("quantum-chess",),
    answer_forms={"": sentence("two numbers with a blank between them, column and row from 0, such as 4 6")},
    probable_answer=_probable_answer,
)
