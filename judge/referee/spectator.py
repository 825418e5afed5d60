"""Runs the referee again on a game's transcript, live or afterwards, without agents."""

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

MAX_STORED_MESSAGES = 50


@dataclass(slots=True)
class SeatView:
    """Visible state of one seat."""

    clock: Clock | None = None
    is_asked: bool = False
    runs_since_ns: int | None = None
    """When its box was thawed, in transcript time; None while frozen."""
    ply: Ply | None = None
    search: dict[str, str] = field(default_factory=dict)
    told: list[Event] = field(default_factory=list)
    messages: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_STORED_MESSAGES))
    """Also the judge's public notes on it; unescaped."""


class Spectator:
    """Runs the referee again on `wire`.

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
            side.protocol = _ReplayedProtocol(side.protocol, self.seats[seat])
        wire.seats = self.seats

    @property
    def game(self) -> Game:
        return self.referee.game

    def _on_ply(self, ply: Ply) -> None:
        seen = self.seats[ply.seat]
        seen.ply, seen.is_asked = ply, False
        if self._watch is not None:
            self._watch(ply)


class _ReplayedProtocol:
    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset()

    def __init__(self, inside: AgentProtocol, seen: SeatView) -> None:
        self._inside = inside
        self._seen = seen

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
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


def collect_messages(referee: Referee) -> Sequence[deque[str]]:
    """Deques, by seat, that receive the public messages."""
    collected: list[deque[str]] = []
    for side in referee.sides:
        messages = deque[str](maxlen=MAX_STORED_MESSAGES)
        side.protocol = _Overheard(side.protocol, messages)
        collected.append(messages)
    return collected


class _Overheard:
    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset()

    def __init__(self, inside: AgentProtocol, messages: deque[str]) -> None:
        self._feed = inside.feed
        self._messages = messages

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        effects = self._feed(stimulus)
        for effect in effects:
            if type(effect) is Note and not effect.private:
                self._messages.append(effect.text)
        return effects


class RecordedWire(ReplayWire):
    """A replay wire that notes the running clock."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        super().__init__(entries)
        self.seats = (SeatView(), SeatView())

    def start(self, seat: int) -> int:
        self.seats[seat].runs_since_ns = since = super().start(seat)
        return since

    def thaw(self, seat: int) -> int:
        self.seats[seat].runs_since_ns = since = super().thaw(seat)
        return since

    def freeze(self, seat: int) -> int | None:
        used = super().freeze(seat)
        self.seats[seat].runs_since_ns = None
        return used


class TailingWire(RecordedWire):
    """A wire on a growing transcript. At its end, `more` waits for entries, or raises."""

    def __init__(self, more: Callable[[], Sequence[Entry]]) -> None:
        super().__init__([])
        self._more = more

    def _has(self, number: int) -> bool:
        while not super()._has(number):
            self._entries.extend(self._more())
        return True
