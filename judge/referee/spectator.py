"""A spectator referees the transcript of a game again, while it grows or afterwards, without asking any agent.

The judge of a game sends the bytes of its transcript and nothing else. A spectator rebuilds the rest from them: the
position, the clocks, what each seat is asked and its messages. So a game costs next to nothing to show, and a running
game looks the same as a replayed one.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from judge.games.types import SEATS, Event, Game, Request
from judge.protocols.types import AgentProtocol, Ask, Clock, Effect, Note, Search, Stimulus, Tell
from judge.referee.referee import Referee
from judge.referee.replay import ReplayWire
from judge.referee.setup import build_referee
from judge.referee.side import Ply
from judge.referee.spec import RECORD_FORMAT, GameSpec
from judge.referee.transcript import Entry

KEPT_MESSAGES = 50
"""How many of the last messages of a seat are kept."""


@dataclass(slots=True)
class SeatView:
    """What a spectator sees of one seat."""

    clock: Clock | None = None
    """The clock that its last request carried."""
    is_asked: bool = False
    runs_since_ns: int | None = None
    """When its box was thawed, in the transcript's time; None while it is frozen."""
    ply: Ply | None = None
    """Its last answer."""
    search: dict[str, str] = field(default_factory=dict)
    """What it reported of its search since its last request: the latest value of each keyword."""
    told: list[Event] = field(default_factory=list)
    """The events that it may see: all that it knows of the game besides its own answers and requests."""
    messages: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_MESSAGES))
    """Its messages and the judge's notes on it, without private ones. The caller escapes them."""


class Spectator:
    """Referees a game again on `wire` and collects what can be seen of it.

    `watch` is called with each answer before the game applies it.
    """

    def __init__(
        self,
        spec: GameSpec,
        wire: "RecordedWire",
        watch: Callable[[Ply], None] | None = None,
        record_format: int = RECORD_FORMAT,
    ) -> None:
        self.seats = (SeatView(), SeatView())
        self.referee: Referee = build_referee(spec, wire, self._on_ply, record_format=record_format)
        self._watch = watch
        for seat in SEATS:
            side = self.referee.sides[seat]
            side.protocol = _Overheard(side.protocol, self.seats[seat])
        wire.seats = self.seats

    @property
    def game(self) -> Game:
        """The game in its present position."""
        return self.referee.game

    def _on_ply(self, ply: Ply) -> None:
        seen = self.seats[ply.seat]
        seen.ply, seen.is_asked = ply, False
        if self._watch is not None:
            self._watch(ply)


class _Overheard:
    """Passes everything on to the protocol inside, and notes for a spectator what goes in and out."""

    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset()
    """Not used: `build_referee` checks the protocol inside."""

    def __init__(self, inside: AgentProtocol, seen: SeatView) -> None:
        self._inside = inside
        self._seen = seen

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        """Pass the stimulus on; note it and the effects."""
        if isinstance(stimulus, Ask):
            self._seen.clock, self._seen.is_asked = stimulus.clock, True
            self._seen.search = {}
        elif isinstance(stimulus, Tell):
            self._seen.told.append(stimulus.event)
        effects = self._inside.feed(stimulus)
        for effect in effects:
            if isinstance(effect, Search):
                self._seen.search = {**self._seen.search, **effect.values}
            elif isinstance(effect, Note) and not effect.private:
                self._seen.messages.append(effect.text)
        return effects


class RecordedWire(ReplayWire):
    """A replay wire that notes which clock runs."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        super().__init__(entries)
        self.seats = (SeatView(), SeatView())

    def start(self, seat: int) -> int:
        """The recorded moment."""
        self.seats[seat].runs_since_ns = since = super().start(seat)
        return since

    def thaw(self, seat: int) -> int:
        """The recorded moment."""
        self.seats[seat].runs_since_ns = since = super().thaw(seat)
        return since

    def freeze(self, seat: int) -> int | None:
        """Check that the seat was frozen here; its recorded memory."""
        used = super().freeze(seat)
        self.seats[seat].runs_since_ns = None
        return used


class TailingWire(RecordedWire):
    """A wire on a transcript that still grows: at its end, `more` waits for the next entries.

    `more` raises if there are none to come, which ends the referee too.
    """

    def __init__(self, more: Callable[[], Sequence[Entry]]) -> None:
        super().__init__([])
        self._more = more

    def _has(self, number: int) -> bool:
        while not super()._has(number):
            self._entries.extend(self._more())
        return True
