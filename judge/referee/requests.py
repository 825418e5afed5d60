"""What the referee asks of the world: it yields a request, and is sent the answer. Times are in nanoseconds."""

from collections.abc import Generator
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")


class Start(NamedTuple):
    """Let an agent run for the first time. Answer: the start of its time."""

    seat: int


class Restart(NamedTuple):
    """Start an agent again, in a new box. Answer: the start of its time."""

    seat: int


class WriteInput(NamedTuple):
    """Queue bytes for an agent's stdin; the rest of a full pipe is written while the judge waits."""

    seat: int
    data: bytes


class Thaw(NamedTuple):
    """Let a frozen agent run. Answer: the start of its clock."""

    seat: int


class Freeze(NamedTuple):
    """Stop an agent, which `AwaitStopped` confirms. Answer: its memory in bytes; None: unknown."""

    seat: int


class AwaitStopped(NamedTuple):
    """Wait at most `bound_ns` until a frozen or killed agent is stopped. Answer: RanOn; None: it was so at once."""

    seat: int
    bound_ns: int


class ReadStoppedCpu(NamedTuple):
    """CPU time of a stopped agent since `AwaitStopped` or the last reading; `asked` is as in `StoppedCpu`.

    0: it runs, its time is unknown, or the freeze itself may have taken it.
    """

    seat: int
    asked: int


class ReadPending(NamedTuple):
    """Events (Happening) so far, without waiting."""


class AwaitEvent(NamedTuple):
    """The next event (Happening), or one of kind EXPIRED at `until_ns`."""

    until_ns: int


class Measure(NamedTuple):
    """Readings for a verdict (Evidence): its box, the use of its cores by others, and whether it was paused."""

    seat: int


class ReadMemory(NamedTuple):
    """Memory of a box without the files in its folders (MemoryUse); None: at most `limit_bytes`."""

    seat: int
    limit_bytes: int


class Mute(NamedTuple):
    """Stop reading an agent."""

    seat: int


class Kill(NamedTuple):
    """Kill an agent."""

    seat: int


class NoteFailure(NamedTuple):
    """Record that the host failed after the game."""

    why: str


WireRequest = (
    Start
    | Restart
    | WriteInput
    | Thaw
    | Freeze
    | AwaitStopped
    | ReadStoppedCpu
    | ReadPending
    | AwaitEvent
    | Measure
    | ReadMemory
    | Mute
    | Kill
    | NoteFailure
)

Requests = Generator[WireRequest, Any, Result]
"""Yields requests, is sent their answers, and returns a result."""
