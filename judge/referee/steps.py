"""The steps of a game: its referee on the entries of a transcript, which may arrive one by one."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.games.types import Event
from judge.protocols.types import Clock, Note
from judge.record.spec import GameSpec
from judge.record.transcript import Entry
from judge.referee.observer import Observer
from judge.referee.replay import Replay
from judge.referee.setup import build_referee
from judge.referee.side import Ply

MS = 1_000_000

MAX_STORED_MESSAGES = 50

log = get_logger()


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


class FollowedGame(SeatViews):
    """A game, as far as its transcript has arrived."""

    def __init__(self, spec: GameSpec, entries: Sequence[Entry] = ()) -> None:
        """Raises InputError for an invalid spec or entry."""
        super().__init__()
        self.spec = spec
        self.referee = build_referee(spec, self)
        self.replay = Replay(self.referee, entries)
        self._is_broken = False

    @property
    def is_over(self) -> bool:
        """It has ended, or can be followed no further: voids end early, and `judge verify` reports other deviations."""
        return self._is_broken or self.replay.end is not None

    def follow(self, entries: Sequence[Entry]) -> bool:
        """Continue the game with these entries; returns whether others may follow. Never raises."""
        if self.is_over:
            return False
        try:
            self.replay.feed(entries)
        except (InputError, HostError):
            self._is_broken = True
        except Exception as error:  # noqa: BLE001 viewers lose this game only
            self._is_broken = True
            log.warning("a running game cannot be followed", game=self.spec.id, error=repr(error))
        return not self.is_over


@dataclass(slots=True)
class GameStep:
    """An answer, and the events of its effect. The first step of a game has no answer.

    `left_ms`: times by seat; None: unlimited. `messages`: of its seat since its previous answer.
    """

    ply: Ply | None
    left_ms: tuple[int | None, int | None]
    read_ns: int = 0
    """In transcript time."""
    messages: Sequence[str] = ()
    events: list[Event] = field(default_factory=list)


class SteppedGame(FollowedGame):
    """Also divides the game into steps: `see_step` gets each one when its effect is visible."""

    def __init__(self, spec: GameSpec, entries: Sequence[Entry] = ()) -> None:
        super().__init__(spec, entries)
        self._step: GameStep | None = GameStep(None, self.left_ms())

    def see_step(self, step: GameStep) -> None:
        """The game has applied the step's answer, and nothing later."""

    def end_step(self) -> None:
        """The last answer, if any, is applied."""
        step, self._step = self._step, None
        if step is not None:
            self.see_step(step)

    def see_event(self, seat: int, event: Event) -> None:
        super().see_event(seat, event)
        if self._step is not None and seat == (event.only or 0):  # an event for both seats is seen twice
            self._step.events.append(event)

    def see_answer(self, ply: Ply) -> None:
        self.end_step()
        super().see_answer(ply)
        messages = self.seats[ply.seat].messages
        self._step = GameStep(ply, self.left_ms(), self.replay.now_ns, tuple(messages))
        messages.clear()

    def left_ms(self) -> tuple[int | None, int | None]:
        """Times on the clocks, by seat."""
        first, second = (side.clock.left_ns() for side in self.referee.sides)
        return None if first is None else first // MS, None if second is None else second // MS
