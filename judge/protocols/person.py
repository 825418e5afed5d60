"""A person at a seat, in the game's words (`judge.games.person`).

After an unreadable line the reason is shown and the person is asked again. Lines without a request are discarded.
"""

from collections.abc import Sequence

from judge.base.parsing import FrozenModel
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
    Note,
    Open,
    Ponder,
    Ready,
    Stimulus,
    Tell,
    Wait,
    Write,
)

LINE_BYTES = 1024

MAX_COMPLAINTS = 1000
"""More than a person types, fewer than a program."""


class PersonOptions(FrozenModel):
    """Options of a person."""

    clock: bool = False
    """The policy's limits apply to the person's turns."""


class Person:
    """The judge's side."""

    def __init__(self, options: PersonOptions, words: PersonWords) -> None:
        self._words = words
        self._complained = 0
        self._lines = LineReader(LINE_BYTES)
        self._names = ("", "")
        self._request: Request | None = None
        self._turn = Wait.TURN if options.clock else Wait.PERSON

    @property
    def speaks(self) -> frozenset[type[Request] | type[Event]]:
        return self._words.speaks

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        match stimulus:
            case Bytes(data):
                return self._read(data)
            case Tell(event):
                return [_say(self._words.tell(event, self._names))]
            case Ask(request):
                self._request, self._complained = request, 0
                return [_say(f"? {self._words.question(request)}"), Await(self._turn)]
            case Open(names=names, seat=seat):
                self._names = names
                return [_say(f"{names[seat]} - {names[1 - seat]}"), Ready()]
            case Close(result):
                self._request = None
                return [_say(f"the game is over {result}".rstrip()), Await(Wait.CLOSE)]
            case Ponder() | Alarm():
                return ()

    def _read(self, data: bytes) -> Sequence[Effect]:
        effects: list[Effect] = []
        for line in self._lines.feed(data):
            text = line.decode("latin-1")
            if self._request is None:
                effects.append(Note(f"discarded: {text[:80]!a} was typed before it was asked for"))
                continue
            try:
                reply = self._words.answer(self._request, text)
            except UnclearError as error:
                self._complained += 1
                if self._complained <= MAX_COMPLAINTS:
                    effects.append(_say(f"! {error}"))
                continue
            self._request = None
            effects.append(Answer(reply))
        return effects


def _say(text: str) -> Write:
    return Write(f"{text}\n".encode())


ENTRY = ProtocolEntry(PersonOptions, Person, is_for_people=True)
