"""A person at a seat: what is asked and told in plain words, and lines that answer.

Theory of operation. A person is asked and types a line. What cannot be read is explained and asked for again, for
nobody loses by a slip of the fingers; what the rules do not allow is kept from being said by whoever reads the keyboard
(`judge.cli.seated`), for a protocol knows no rule.

    phase     what the manager waits for     left by
    IDLE      nothing                        a request
    ASKED     a line that can be read        that line
    ENDING    nothing                        -

Unless the option `clock` is set a person plays without a clock: the wait is one of its own, which nobody pays for.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from judge.games.gomoku.requests import (
    AnswerSwap,
    ChooseFifth,
    ColoursSettled,
    LayStones,
    OfferFifths,
    PlaceStone,
    StonePlaced,
)
from judge.games.quantum_chess.words import Destination, Moved, Selected, Selection, TurnLost
from judge.games.stratego.types import Confirmed, HalfMove, SetupRow, Started
from judge.games.types import Event, Request
from judge.protocols.entry import ProtocolEntry
from judge.protocols.lines import LineReader
from judge.protocols.person_words import UnclearError, question, read_answer, told
from judge.protocols.types import (
    Alarm,
    Answer,
    Ask,
    Await,
    Bytes,
    Close,
    Effect,
    Eof,
    Note,
    Open,
    Ready,
    Stimulus,
    Tell,
    Wait,
    Write,
)

NAME = "person"
"""What records call this protocol, and the runtime of whoever speaks it: a seat with it was a person's."""

LINE_BYTES = 1024


class PersonOptions(BaseModel):
    """What may be chosen for a person."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    clock: bool = False
    """Whether the person's turns have the policy's limits, as an agent's have."""


class PersonPhase(StrEnum):
    """Where the conversation is; see the theory of operation."""

    IDLE = "idle"
    ASKED = "asked"
    ENDING = "ending"


class Person:
    """The judge's side of a conversation with a person."""

    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset(
        {
            PlaceStone,
            LayStones,
            AnswerSwap,
            OfferFifths,
            ChooseFifth,
            StonePlaced,
            ColoursSettled,
            SetupRow,
            HalfMove,
            Started,
            Confirmed,
            Selection,
            Destination,
            Selected,
            Moved,
            TurnLost,
        }
    )

    def __init__(self, options: PersonOptions) -> None:
        self._lines = LineReader(LINE_BYTES)
        self._phase = PersonPhase.IDLE
        self._names = ("", "")
        self._request: Request | None = None
        self._turn = Wait.TURN if options.clock else Wait.PERSON

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        """Take what happened, return what to do."""
        match stimulus:
            case Bytes(data):
                return self._read(data)
            case Tell(event):
                return [_say(told(event, self._names))]
            case Ask(request):
                self._phase, self._request = PersonPhase.ASKED, request
                return [_say(f"? {question(request)}"), Await(self._turn)]
            case Open(names=names, seat=seat):
                self._names = names
                return [_say(f"{names[seat]} - {names[1 - seat]}"), Ready()]
            case Close(result):
                self._phase = PersonPhase.ENDING
                return [_say(f"the game is over {result}".rstrip()), Await(Wait.CLOSE)]
            case Eof() | Alarm():
                return ()

    def _read(self, data: bytes) -> Sequence[Effect]:
        effects: list[Effect] = []
        for line in self._lines.feed(data):
            text = line.decode("latin-1")
            if self._phase is not PersonPhase.ASKED or self._request is None:
                effects.append(Note(f"discarded: {text[:80]!a} was typed before it was asked for"))
                continue
            try:
                reply = read_answer(self._request, text)
            except UnclearError as error:
                effects.append(_say(f"! {error}"))
                continue
            self._phase = PersonPhase.IDLE
            effects.append(Answer(reply))
        return effects


def _say(text: str) -> Write:
    return Write(f"{text}\n".encode())


ENTRY = ProtocolEntry(PersonOptions, Person)
