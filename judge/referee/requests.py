"""What the referee asks of the world: it yields a request, and is sent the answer.

`judge.referee.wire.Wire` describes each answer, and `judge.referee.drive` carries requests out.
"""

from collections.abc import Generator
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")


class Start(NamedTuple):
    """Let an agent run for the first time."""

    seat: int


class Restart(NamedTuple):
    """Start an agent again, in a new box."""

    seat: int


class WriteInput(NamedTuple):
    """Send bytes to an agent's stdin."""

    seat: int
    data: bytes


class Thaw(NamedTuple):
    """Let a frozen agent run."""

    seat: int


class Freeze(NamedTuple):
    """Stop an agent."""

    seat: int


class AwaitStopped(NamedTuple):
    """Wait until a frozen or killed agent does not run."""

    seat: int
    bound_ns: int


class ReadStoppedCpu(NamedTuple):
    """CPU time of a stopped agent."""

    seat: int
    asked: int


class ReadPending(NamedTuple):
    """All events so far."""


class AwaitEvent(NamedTuple):
    """The next event, at the latest at `until_ns`."""

    until_ns: int


class Measure(NamedTuple):
    """Readings for a verdict."""

    seat: int


class ReadMemory(NamedTuple):
    """Memory of a box, if it is above a limit."""

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

Moves = Generator[WireRequest, Any, Result]
"""Yields requests, is sent their answers, and returns a result."""
