"""A person at a seat: requests and events in the game's own words (`judge.games.person`), and typed lines that answer.

Theory of operation. A person is asked and types a line. If it cannot be read, the reason is shown and the person is
asked again: nobody loses by a typing error. A protocol knows no rules; the process that reads the keyboard
(`judge.terminal.person_view`) does not send what the rules forbid.

    phase     what the manager waits for     left by
    IDLE      nothing                        a request
    ASKED     a line that can be read        that line
    ENDING    nothing                        -

Unless the option `clock` is set a person plays without a clock: the wait is one of its own, which nobody pays for.
"""

from collections.abc import Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from judge.games.person import PersonWords, UnclearError
from judge.games.types import Event, Request
from judge.protocols.entry import ProtocolEntry
from judge.protocols.lines import LineReader
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

LINE_BYTES = 1024

COMPLAINTS = 1000
"""How many unreadable lines of one request get the reason back: more than anybody types, and fewer than a program."""


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

    def __init__(self, options: PersonOptions, words: PersonWords, complaints: int = COMPLAINTS) -> None:
        self._words = words
        self._complaints = complaints
        self._complained = 0
        """How many lines of the present request were answered by the reason why they cannot be read."""
        self._lines = LineReader(LINE_BYTES)
        self._phase = PersonPhase.IDLE
        self._names = ("", "")
        self._request: Request | None = None
        self._turn = Wait.TURN if options.clock else Wait.PERSON

    @property
    def speaks(self) -> frozenset[type[Request] | type[Event]]:
        """What the game has words for."""
        return self._words.speaks

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        """Take what happened, return what to do."""
        match stimulus:
            case Bytes(data):
                return self._read(data)
            case Tell(event):
                return [_say(self._words.tell(event, self._names))]
            case Ask(request):
                self._phase, self._request = PersonPhase.ASKED, request
                self._complained = 0
                return [_say(f"? {self._words.question(request)}"), Await(self._turn)]
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
                reply = self._words.answer(self._request, text)
            except UnclearError as error:
                self._complained += 1
                if self._complained <= self._complaints:
                    effects.append(_say(f"! {error}"))
                continue
            self._phase = PersonPhase.IDLE
            effects.append(Answer(reply))
        return effects


def _say(text: str) -> Write:
    return Write(f"{text}\n".encode())


ENTRY = ProtocolEntry(PersonOptions, Person, is_for_people=True)
