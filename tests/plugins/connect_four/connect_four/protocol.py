"""The protocol `drop`: one line a question and one line an answer, columns from 1.

judge   PLAY 4 4 3      these columns were played; choose the next
agent   3
judge   END             the game is over
"""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from judge.games.types import Event, Reply, ReplyKind, Request, decided
from judge.protocols.checks import END, GAMES, MEMORY, QUIET, START, TIME, Check
from judge.protocols.entry import ProtocolEntry
from judge.protocols.lines import LineReader
from judge.protocols.types import (
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
    Wait,
    Write,
)

from .rules import Column, Drop, Dropped

MAX_LINE_CHARACTERS = 200


class DropOptions(BaseModel):
    """There is nothing to choose."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DropProtocol:
    """The judge's side of a conversation."""

    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset({Drop, Dropped})

    def __init__(self, options: DropOptions) -> None:
        self._lines = LineReader(MAX_LINE_CHARACTERS)
        self._is_asked = False

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        """Take what happened, return what to do."""
        match stimulus:
            case Open():
                return [Ready()]
            case Ask(request=Drop(played=played)):
                self._is_asked = True
                line = " ".join(["PLAY", *(str(column + 1) for column in played)])
                return [Write(f"{line}\n".encode()), Await(Wait.TURN)]
            case Bytes(data=data):
                return self._read(data)
            case Close():
                self._is_asked = False
                return [Write(b"END\n"), Await(Wait.CLOSE)]
            case _:
                # What was played is told with the next question.
                return ()

    def _read(self, data: bytes) -> Sequence[Effect]:
        effects: list[Effect] = []
        for line in self._lines.feed(data):
            text = line.decode("ascii", "backslashreplace").strip()
            if self._is_asked:
                self._is_asked = False
                effects.append(Answer(read_answer(text)))
            else:
                effects.append(Note(f"discarded, nobody asked: {text!a}"))
        return effects


def read_answer(text: str) -> Reply:
    """The column that a line names."""
    if text == "RESIGN":
        return Reply(ReplyKind.RESIGNED, text)
    if not (text.isascii() and text.isdecimal() and len(text) < 4):
        return Reply(ReplyKind.UNREADABLE, text)
    return decided(Column(int(text) - 1), text)


ENTRY = ProtocolEntry(
    DropOptions,
    DropProtocol,
    games=("connect-four",),
    checks=(
        START,
        Check(
            "begin",
            "PLAY on an empty board and behind one disc",
            "answer PLAY by the number of a column and nothing else",
        ),
        Check("win", "wins where one disc wins", "see that you read PLAY from left to right"),
        Check("block", "blocks where one disc of the opponent's wins", "look one disc ahead"),
        TIME,
        MEMORY,
        QUIET,
        END,
        *GAMES,
    ),
)
