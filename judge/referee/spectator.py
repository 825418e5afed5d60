"""Whoever looks on referees the same transcript again, while it grows or afterwards, and asks nobody for anything.

The judge of a game hands out the bytes of its transcript and nothing more. An onlooker rebuilds the rest from them: the
position, the clocks, what each seat is asked and what it says meanwhile. So showing a game costs it next to nothing,
and what is shown of a game that runs and of one that is replayed is the same.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from judge.games.types import SEATS, Event, Game, Request
from judge.protocols.types import AgentProtocol, Ask, Clock, Effect, Note, Search, Stimulus, Tell
from judge.referee.match import Referee
from judge.referee.replay import ReplayWire
from judge.referee.setup import build_referee
from judge.referee.side import Ply
from judge.referee.spec import MatchSpec
from judge.referee.transcript import Entry

KEPT_MESSAGES = 50
"""How many of the last messages of a seat are kept."""


@dataclass(slots=True)
class SeatView:
    """What is seen of one seat."""

    clock: Clock | None = None
    """What it was told of its clock with its last request."""
    is_asked: bool = False
    runs_since_ns: int | None = None
    """When its box was let go, in the transcript's time; None while it stands still."""
    ply: Ply | None = None
    """Its last answer."""
    search: dict[str, str] = field(default_factory=dict)
    """What it says of its search, the latest of each keyword, since its last request."""
    told: list[Event] = field(default_factory=list)
    """What it was told of the game: all that it may know of it beside its own answers and requests."""
    messages: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_MESSAGES))
    """What it said beside its answers, and what the judge noted of it; nothing private. As said, so to be escaped."""


class Spectator:
    """Referees a match again on `wire` and keeps what is seen of it.

    `watch` hears of each answer, before it has its effect.
    """

    def __init__(self, spec: MatchSpec, wire: "RecordedWire", watch: Callable[[Ply], None] | None = None) -> None:
        self.seats = (SeatView(), SeatView())
        self.referee: Referee = build_referee(spec, wire, self._heed)
        self._watch = watch
        for seat in SEATS:
            side = self.referee.sides[seat]
            side.protocol = _Overheard(side.protocol, self.seats[seat])
        wire.seats = self.seats

    @property
    def game(self) -> Game:
        """The game as it stands."""
        return self.referee.game

    def _heed(self, ply: Ply) -> None:
        seen = self.seats[ply.seat]
        seen.ply, seen.is_asked = ply, False
        if self._watch is not None:
            self._watch(ply)


class _Overheard:
    """A protocol that somebody listens to; it says and does what the one inside does."""

    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset()
    """Of no use here: the one inside was asked when it was seated."""

    def __init__(self, inside: AgentProtocol, seen: SeatView) -> None:
        self._inside = inside
        self._seen = seen

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        """Pass it on, and note what comes of it."""
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
    """A replay wire that notes whose clock runs."""

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

    def freeze(self, seat: int) -> None:
        """Check that the seat was frozen here."""
        super().freeze(seat)
        self.seats[seat].runs_since_ns = None


class TailingWire(RecordedWire):
    """A wire on a transcript that still grows: where it ends, `more` waits for what comes next.

    `more` raises where nothing will come; that ends the referee too.
    """

    def __init__(self, more: Callable[[], Sequence[Entry]]) -> None:
        super().__init__([])
        self._more = more

    def _has(self, number: int) -> bool:
        while not super()._has(number):
            self._entries.extend(self._more())
        return True
