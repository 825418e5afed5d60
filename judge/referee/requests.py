"""What the referee asks of the world: it yields a request, and is sent the answer of a wire, by `drive`.

Times: nanoseconds.

A wire is the referee's only source of time and bytes. Everything it observes or does is recorded.
"""

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from judge.games.types import NATURE, SEATS
from judge.record.transcript import Entry
from judge.sandbox.evidence import MAX_COUNT, Evidence

Result = TypeVar("Result")


def _count(value: object) -> int:
    """Raises ValueError or TypeError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"not a number: {value!r:.40}")
    if not 0 <= value < MAX_COUNT:
        raise ValueError(f"not a count: {value!r:.40}")
    return value


class RanOn(NamedTuple):
    """`cpu_ns` is None if unknown."""

    ns: int
    cpu_ns: int | None

    def encode(self) -> bytes:
        return json.dumps(self).encode()

    @classmethod
    def decode(cls, data: bytes) -> "RanOn":
        """Raises ValueError or TypeError."""
        ns, cpu_ns = json.loads(data)
        return cls(_count(ns), None if cpu_ns is None else _count(cpu_ns))


class StoppedCpu(NamedTuple):
    """CPU time of a stopped seat."""

    ns: int
    asked: int
    """The active seat; the seat itself at its next request, NATURE after the game."""

    def encode(self) -> bytes:
        return json.dumps(self).encode()

    @classmethod
    def decode(cls, data: bytes) -> "StoppedCpu":
        """Raises ValueError or TypeError."""
        ns, asked = json.loads(data)
        if asked != NATURE and asked not in SEATS:
            raise ValueError(f"no seat: {asked}")
        return cls(_count(ns), int(asked))


class MemoryUse(NamedTuple):
    """Peak of a box, and files in its folders."""

    peak_bytes: int
    file_bytes: int

    @property
    def own_bytes(self) -> int:
        return self.peak_bytes - self.file_bytes

    def encode(self) -> bytes:
        return json.dumps(self).encode()

    @classmethod
    def decode(cls, data: bytes) -> "MemoryUse":
        """Raises ValueError or TypeError."""
        peak_bytes, file_bytes = json.loads(data)
        return cls(_count(peak_bytes), _count(file_bytes))


class Wire(Protocol):
    """Both seats, as the referee observes them: a method for each request. Each may raise HostError."""

    def start(self, seat: int) -> int: ...
    def restart(self, seat: int) -> int: ...
    def write_input(self, seat: int, data: bytes) -> None: ...
    def thaw(self, seat: int) -> int: ...
    def freeze(self, seat: int) -> int | None: ...
    def await_stopped(self, seat: int, bound_ns: int) -> RanOn | None: ...
    def read_stopped_cpu(self, seat: int, asked: int) -> int: ...
    def read_pending(self) -> Sequence[Entry]: ...
    def await_event(self, until_ns: int) -> Entry: ...
    def measure(self, seat: int) -> Evidence: ...
    def read_memory(self, seat: int, limit_bytes: int) -> MemoryUse | None: ...
    def mute(self, seat: int) -> None: ...
    def kill(self, seat: int) -> None: ...
    def note_failure(self, why: str) -> None: ...


@dataclass(slots=True)
class SeatRequest:
    """A request about one agent."""

    seat: int


@dataclass(slots=True)
class Start(SeatRequest):
    """Let an agent run for the first time. Answer: the start of its time."""

    def carry_out(self, wire: Wire) -> int:
        return wire.start(self.seat)


@dataclass(slots=True)
class Restart(SeatRequest):
    """Start an agent again, in a new box. Answer: the start of its time."""

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
class Thaw(SeatRequest):
    """Let a frozen agent run. Answer: the start of its clock."""

    def carry_out(self, wire: Wire) -> int:
        return wire.thaw(self.seat)


@dataclass(slots=True)
class Freeze(SeatRequest):
    """Stop an agent, which `AwaitStopped` confirms. Answer: its memory in bytes; None: unknown."""

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
class Measure(SeatRequest):
    """Readings for a verdict (Evidence): its box, the use of its cores by others, and whether it was paused."""

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
class Mute(SeatRequest):
    """Stop reading an agent."""

    def carry_out(self, wire: Wire) -> None:
        wire.mute(self.seat)


@dataclass(slots=True)
class Kill(SeatRequest):
    """Kill an agent."""

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


class UnansweredError(Exception):
    """A wire has no answer yet; `drive` adds the request."""

    request: Request


def drive(requests: Requests[Result], wire: Wire, unanswered: Request | None = None) -> Result:
    """Answer all requests by `wire`, and return the result. Errors of the wire are raised where it was asked.

    Raises UnansweredError if the wire does; then call it again, with its request.
    """
    try:
        request = next(requests) if unanswered is None else unanswered
        while True:
            try:
                answer = request.carry_out(wire)
            except UnansweredError as waiting:  # mypyc confuses two errors of one name
                waiting.request = request
                raise
            except Exception as error:  # noqa: BLE001 the referee handles failures of the host
                request = requests.throw(error)
            else:
                request = requests.send(answer)
    except StopIteration as end:
        result: Result = end.value
        return result
