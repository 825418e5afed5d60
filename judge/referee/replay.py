"""Replays a transcript: returns its reads, checks the referee's actions against it, and shows a game without agents."""

import re
import struct
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from judge.base.errors import HostError, InputError
from judge.base.text import printable
from judge.games.types import NATURE, SEATS, Event, Game, Request
from judge.protocols.types import AgentProtocol, Ask, Clock, Effect, Note, Search, Stimulus, Tell
from judge.referee.referee import Referee
from judge.referee.setup import build_referee
from judge.referee.side import Ply
from judge.referee.spec import GameSpec
from judge.referee.transcript import Entry, EntryKind, decode_kernel, decode_memory, decode_span
from judge.referee.wire import Happening, Measured, MemoryUse, RanOn, StoppedCpu
from judge.sandbox.box import ProcessReport

_SEEN = frozenset(
    {
        EntryKind.READ,
        EntryKind.STDERR,
        EntryKind.REPORT,
        EntryKind.OOM,
        EntryKind.KERNEL,
        EntryKind.EXPIRED,
        EntryKind.PAUSED,
        EntryKind.OVERSLEPT,
    }
)


@contextmanager
def replaying(wire: "ReplayWire | None" = None) -> Iterator[None]:
    """Any error that a forged transcript causes in the block becomes an InputError."""
    try:
        yield
    except (LookupError, TypeError, ValueError, RuntimeError, ArithmeticError, struct.error) as error:
        where = "" if wire is None else f"entry {wire.position} "
        raise InputError(
            f"{_NOT_OURS}: {where}causes an error of the replay ({type(error).__name__}: {printable(str(error), 150)})"
        ) from error
    except HostError as error:
        raise InputError(f"the host failed before the game was over, which is a void: {error}") from error


_NOT_OURS = "not a transcript written by judge"

_SEATS_OF = {
    **dict.fromkeys((EntryKind.READ, EntryKind.STDERR, EntryKind.REPORT, EntryKind.OOM, EntryKind.KERNEL), SEATS),
    **dict.fromkeys((EntryKind.EXPIRED, EntryKind.PAUSED, EntryKind.OVERSLEPT), (NATURE, *SEATS)),
}
_DECODE: dict[EntryKind, Callable[[bytes], object]] = {
    EntryKind.REPORT: ProcessReport.decode,
    EntryKind.FROZEN: decode_memory,
    EntryKind.PAUSED: decode_span,
    EntryKind.OVERSLEPT: decode_span,
    EntryKind.RAN_ON: RanOn.decode,
    EntryKind.STOPPED_CPU: StoppedCpu.decode,
    EntryKind.EVIDENCE: Measured.decode,
    EntryKind.MEMORY: MemoryUse.decode,
    EntryKind.KERNEL: decode_kernel,
}


def _check_entries(entries: Sequence[Entry]) -> None:
    for number, (_, seat, kind, data, _) in enumerate(entries):
        if kind in _SEATS_OF and seat not in _SEATS_OF[kind]:
            raise InputError(f"{_NOT_OURS}: entry {number} is {kind.name} of seat {seat}, which does not exist")
        if kind in _DECODE:
            try:
                _DECODE[kind](data)
            except (ValueError, TypeError, LookupError, RuntimeError, ArithmeticError):
                shown = printable(repr(data), 100)
                raise InputError(f"{_NOT_OURS}: entry {number} is {kind.name} with invalid data: {shown}") from None


_FOLDER = re.compile(rb"^INFO folder [^\r\n]*", re.MULTILINE)


class ReplayWire:
    """A `Wire` on recorded entries. Raises InputError if the referee departs from them."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        _check_entries(entries)
        self._entries = rejoined(entries)
        self._next = 0

    @property
    def position(self) -> int:
        return max(0, self._next - 1)

    @property
    def is_finished(self) -> bool:
        return self._next == len(self._entries)

    @property
    def unused(self) -> Sequence[Entry]:
        return self._entries[self._next :]

    @property
    def now_ns(self) -> int:
        return self._entries[self._next - 1].ns if self._next else 0

    def start(self, seat: int) -> int:
        return self._expect(seat, EntryKind.STARTED).ns

    def write(self, seat: int, data: bytes) -> None:
        """A folder's path depends on the box, and is not compared."""
        entry = self._expect(seat, EntryKind.WROTE)
        if entry.data != data and _FOLDER.sub(b"", entry.data) != _FOLDER.sub(b"", data):
            raise self._departs(f"the judge would write {data!r:.100}, the record has {entry.data!r:.100}")

    def thaw(self, seat: int) -> int:
        return self._expect(seat, EntryKind.THAWED).ns

    def freeze(self, seat: int) -> int | None:
        return decode_memory(self._expect(seat, EntryKind.FROZEN).data)

    def await_still(self, seat: int, bound_ns: int) -> RanOn | None:  # noqa: ARG002 the record knows how long it was
        return RanOn.decode(self._take().data) if self._is_next(seat, EntryKind.RAN_ON) else None

    def stopped_cpu(self, seat: int, asked: int) -> int:
        if not self._is_next(seat, EntryKind.STOPPED_CPU):
            return 0
        used = StoppedCpu.decode(self._entries[self._next].data)
        if used.asked != asked:
            return 0
        self._take()
        return used.ns

    def look(self) -> Sequence[Happening]:
        end = self._next
        while (kind := self._kind_of(end)) in _SEEN:
            end += 1
        if kind is not EntryKind.LOOKED:
            return ()
        seen = [Happening(e.ns, e.seat, e.kind, e.data) for e in self._entries[self._next : end]]
        self._next = end + 1
        return seen

    def wait(self, until_ns: int) -> Happening:  # noqa: ARG002 the record knows when it was
        entry = self._take()
        if entry.kind not in _SEEN:
            raise self._departs(f"the judge would wait, the record has {entry.kind.name}")
        return Happening(*entry[:4])

    def measure(self, seat: int) -> Measured:
        return Measured.decode(self._expect(seat, EntryKind.EVIDENCE).data)

    def memory_beyond(self, seat: int, limit_bytes: int) -> MemoryUse | None:
        if not self._is_next(seat, EntryKind.MEMORY):
            return None
        use = MemoryUse.decode(self._take().data)
        if use.own_bytes <= limit_bytes:
            raise self._departs(f"the judge notes memory above {limit_bytes} bytes, the record has {use.own_bytes}")
        return use

    def respawn(self, seat: int) -> int:
        self._expect(seat, EntryKind.RESPAWNED)
        return self.start(seat)

    def mute(self, seat: int) -> None: ...

    def kill(self, seat: int) -> None:
        self._expect(seat, EntryKind.KILLED)

    def fail(self, why: str) -> None: ...

    def _kind_of(self, number: int) -> EntryKind | None:
        return self._entries[number].kind if self._has(number) else None

    def _is_next(self, seat: int, kind: EntryKind) -> bool:
        return self._kind_of(self._next) is kind and self._entries[self._next].seat == seat

    def _has(self, number: int) -> bool:
        return number < len(self._entries)

    def _take(self) -> Entry:
        if not self._has(self._next):
            raise InputError("the record departs from the rules: it ends before the game is over")
        entry = self._entries[self._next]
        self._next += 1
        if entry.kind is EntryKind.FAILED:
            raise HostError(entry.data.decode(errors="replace"))
        return entry

    def _expect(self, seat: int, kind: EntryKind) -> Entry:
        entry = self._take()
        if entry.kind is not kind or entry.seat != seat:
            raise self._departs(
                f"the judge would do {kind.name} of seat {seat}, the record has {entry.kind.name} of seat {entry.seat}"
            )
        return entry

    def _departs(self, how: str) -> InputError:
        return InputError(f"the record departs from the rules at entry {self._next - 1}: {how}")


def rejoined(entries: Sequence[Entry]) -> list[Entry]:
    """Join chunks that were split at the borders of private lines.

    Their parts share a time, which no other read of the seat has, and alternate between private and public.
    """
    if not any(entry.private and entry.kind is EntryKind.READ for entry in entries):
        return list(entries)
    joined: list[Entry] = []
    for entry in entries:
        last = joined[-1] if joined else None
        if (
            last is not None
            and entry.kind is last.kind is EntryKind.READ
            and (entry.ns, entry.seat) == (last.ns, last.seat)
            and entry.private is not last.private
            and entry.data
            and last.data
        ):
            joined[-1] = entry._replace(data=last.data + entry.data)
        else:
            joined.append(entry)
    return joined


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
    ) -> None:
        self.seats = (SeatView(), SeatView())
        self.referee: Referee = build_referee(spec, wire, self._on_ply)
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
