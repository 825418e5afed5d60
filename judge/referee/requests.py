"""What the referee asks of the world: it yields a request, and is sent the answer of a wire. Times: nanoseconds."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from judge.games.types import SEATS
from judge.record.transcript import Entry
from judge.referee.wire import MemoryUse, RanOn, Wire
from judge.sandbox.evidence import Evidence

Result = TypeVar("Result")


@dataclass(slots=True)
class Start:
    """Let an agent run for the first time. Answer: the start of its time."""

    seat: int

    def carry_out(self, wire: Wire) -> int:
        return wire.start(self.seat)


@dataclass(slots=True)
class Restart:
    """Start an agent again, in a new box. Answer: the start of its time."""

    seat: int

    def carry_out(self, wire: Wire) -> int:
        return wire.restart(self.seat)


@dataclass(slots=True)
class WriteInput:
    """Queue bytes for an agent's stdin; the rest of a full pipe is written while the judge waits."""

    seat: int
    data: bytes

    def carry_out(self, wire: Wire) -> None:
        wire.write_input(self.seat, self.data)


@dataclass(slots=True)
class Thaw:
    """Let a frozen agent run. Answer: the start of its clock."""

    seat: int

    def carry_out(self, wire: Wire) -> int:
        return wire.thaw(self.seat)


@dataclass(slots=True)
class Freeze:
    """Stop an agent, which `AwaitStopped` confirms. Answer: its memory in bytes; None: unknown."""

    seat: int

    def carry_out(self, wire: Wire) -> int | None:
        return wire.freeze(self.seat)


@dataclass(slots=True)
class AwaitStopped:
    """Wait at most `bound_ns` until a frozen or killed agent is stopped. Answer: RanOn; None: it was so at once."""

    seat: int
    bound_ns: int

    def carry_out(self, wire: Wire) -> RanOn | None:
        return wire.await_stopped(self.seat, self.bound_ns)


@dataclass(slots=True)
class ReadStoppedCpu:
    """CPU time of a stopped agent since `AwaitStopped` or the last reading; `asked` is as in `StoppedCpu`.

    0: it runs, its time is unknown, or the freeze itself may have taken it.
    """

    seat: int
    asked: int

    def carry_out(self, wire: Wire) -> int:
        return wire.read_stopped_cpu(self.seat, self.asked)


@dataclass(slots=True)
class ReadPending:
    """Events (Entry) so far, without waiting."""

    def carry_out(self, wire: Wire) -> Sequence[Entry]:
        return wire.read_pending()


@dataclass(slots=True)
class AwaitEvent:
    """The next event (Entry), or one of kind EXPIRED at `until_ns`."""

    until_ns: int

    def carry_out(self, wire: Wire) -> Entry:
        return wire.await_event(self.until_ns)


@dataclass(slots=True)
class Measure:
    """Readings for a verdict (Evidence): its box, the use of its cores by others, and whether it was paused."""

    seat: int

    def carry_out(self, wire: Wire) -> Evidence:
        return wire.measure(self.seat)


@dataclass(slots=True)
class ReadMemory:
    """Memory of a box without the files in its folders (MemoryUse); None: at most `limit_bytes`."""

    seat: int
    limit_bytes: int

    def carry_out(self, wire: Wire) -> MemoryUse | None:
        return wire.read_memory(self.seat, self.limit_bytes)


@dataclass(slots=True)
class Mute:
    """Stop reading an agent."""

    seat: int

    def carry_out(self, wire: Wire) -> None:
        wire.mute(self.seat)


@dataclass(slots=True)
class Kill:
    """Kill an agent."""

    seat: int

    def carry_out(self, wire: Wire) -> None:
        wire.kill(self.seat)


@dataclass(slots=True)
class NoteFailure:
    """Record that the host failed after the game."""

    why: str

    def carry_out(self, wire: Wire) -> None:
        wire.note_failure(self.why)


class Request(Protocol):
    """One of the classes above."""

    def carry_out(self, wire: Wire) -> Any: ...


THAW, FREEZE = [Thaw(seat) for seat in SEATS], [Freeze(seat) for seat in SEATS]
READ_PENDING = ReadPending()

Requests = Generator[Request, Any, Result]
"""Yields requests, is sent their answers, and returns a result."""
