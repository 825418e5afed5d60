"""What a viewer sees of a game that is refereed."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from judge.games.types import Event
from judge.protocols.types import Clock, Note
from judge.referee.side import Ply


class Observer:
    """Sees what the referee and the protocols exchange; each method may be overridden."""

    def see_request(self, seat: int, clock: Clock) -> None:
        """The seat is asked; `clock` is the one sent to it."""

    def see_event(self, seat: int, event: Event) -> None:
        """The seat's protocol receives an event of the game."""

    def see_search(self, seat: int, values: Mapping[str, str]) -> None:
        """The agent reports figures of its search."""

    def see_note(self, seat: int, note: Note) -> None:
        """A message of the agent, or of the judge on it."""

    def see_answer(self, ply: Ply) -> None:
        """The game has not yet applied it."""


class AnswerObserver(Observer):
    """Passes answers on."""

    def __init__(self, watch: Callable[[Ply], None]) -> None:
        self._watch = watch

    def see_answer(self, ply: Ply) -> None:
        self._watch(ply)


MAX_STORED_MESSAGES = 50


@dataclass(slots=True)
class SeatView:
    """Visible state of one seat."""

    clock: Clock | None = None
    is_asked: bool = False
    ply: Ply | None = None
    search: dict[str, str] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    messages: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_STORED_MESSAGES))
    """Also the judge's public notes on it; unescaped."""


class SeatViews(Observer):
    """Visible state of both seats."""

    def __init__(self) -> None:
        self.seats = (SeatView(), SeatView())

    def see_request(self, seat: int, clock: Clock) -> None:
        seen = self.seats[seat]
        seen.clock, seen.is_asked, seen.search = clock, True, {}

    def see_event(self, seat: int, event: Event) -> None:
        self.seats[seat].events.append(event)

    def see_search(self, seat: int, values: Mapping[str, str]) -> None:
        seen = self.seats[seat]
        seen.search = {**seen.search, **values}

    def see_note(self, seat: int, note: Note) -> None:
        if not note.private:
            self.seats[seat].messages.append(note.text)

    def see_answer(self, ply: Ply) -> None:
        seen = self.seats[ply.seat]
        seen.ply, seen.is_asked = ply, False
