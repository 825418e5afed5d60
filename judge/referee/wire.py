"""All that the referee knows of the world comes through a wire, and each thing it learns or does is recorded.

A live wire (`judge.referee.live_wire`) watches two boxes; a replay wire (`judge.referee.replay`) reads a transcript.
The referee has no other source of time or bytes, so the same referee on the same entries reaches the same end.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from judge.referee.transcript import EntryKind
from judge.sandbox.box import Readings

_FIRST_READINGS = ("memory_peak_bytes", "memory_cap_bytes", "oom_kills", "cpu_ns")
"""The readings of a box at the beginning of an EVIDENCE entry."""


class Happening(NamedTuple):
    """Something the judge saw: when (monotonic ns), of which seat (-1: of none), what, and its bytes."""

    ns: int
    seat: int
    kind: EntryKind
    data: bytes


class RanOn(NamedTuple):
    """How long a seat ran on after it was frozen, and the CPU time that it used (None if unknown)."""

    ns: int
    cpu_ns: int | None

    def encode(self) -> bytes:
        """JSON, as in a transcript."""
        return json.dumps(self).encode()

    @classmethod
    def decode(cls, data: bytes) -> "RanOn":
        """The inverse of `encode`; ValueError or TypeError for anything else."""
        ns, cpu_ns = json.loads(data)
        return cls(int(ns), None if cpu_ns is None else int(cpu_ns))


class StoppedCpu(NamedTuple):
    """CPU time that a seat used while it was stopped."""

    ns: int
    asked: int
    """The seat that was asked meanwhile; the seat itself at its next request, NATURE when the game was over."""

    def encode(self) -> bytes:
        """JSON, as in a transcript."""
        return json.dumps(self).encode()

    @classmethod
    def decode(cls, data: bytes) -> "StoppedCpu":
        """The inverse of `encode`; ValueError or TypeError for anything else."""
        ns, asked = json.loads(data)
        if ns < 0:
            raise ValueError(f"negative CPU time: {ns}")
        return cls(int(ns), int(asked))


class Measured(NamedTuple):
    """Readings for a verdict; see `judge.referee.blame.Evidence`."""

    readings: Readings
    others_share: float | None
    held_by_others: bool | None
    opponent_cpu_ns: int | None = None
    """CPU time that the other seat used in this seat's wait; only in older records, which have no STOPPED_CPU entry."""
    waited_share: float | None = None
    stalled_share: float | None = None
    slept_share: float | None = None
    game_stalled_share: float | None = None
    game_slept_share: float | None = None
    pressure_share: float | None = None
    host_pressure_share: float | None = None
    interrupt_share: float | None = None

    def encode(self) -> bytes:
        """JSON, as in a transcript: what older records lack is at the end."""
        values = [getattr(self.readings, name) for name in _FIRST_READINGS]
        return json.dumps([*values, *self[1:], self.readings.reached_cap]).encode()

    @classmethod
    def decode(cls, data: bytes) -> "Measured":
        """The inverse of `encode`; fields that are newer than the record are None."""
        values = json.loads(data)
        first = len(_FIRST_READINGS)
        whole = first + len(cls._fields) - 1
        return cls(Readings(*values[:first], *values[whole:]), *values[first:whole])


class Wire(Protocol):
    """Both seats, as the referee sees them. Every method may raise HostError."""

    def start(self, seat: int) -> int:
        """Start the agent; returns the moment at which its time begins."""

    def write(self, seat: int, data: bytes) -> None:
        """Queue bytes for the agent's stdin; what the pipe does not take now is written during waits."""

    def thaw(self, seat: int) -> int:
        """Thaw the agent; returns the moment from which its clock runs."""

    def freeze(self, seat: int) -> int | None:
        """Stop the whole box of a seat; `await_still` confirms. The memory that it uses, in bytes; None if unknown."""

    def await_still(self, seat: int, bound_ns: int) -> RanOn | None:
        """Wait until a seat that was frozen stands still, for `bound_ns` at most; None: it does so at once.

        No clock of the other seat runs meanwhile.
        """

    def stopped_cpu(self, seat: int, asked: int) -> int:
        """CPU time in nanoseconds that a seat used since `await_still` saw it stopped, or since the last call.

        `asked` says which step of the game this is, see `StoppedCpu`. 0 if the seat is not stopped, if the time is not
        known, or if it is so little that stopping itself may take it.
        """

    def look(self) -> Sequence[Happening]:
        """What has happened already, before a request; does not wait. Nothing if that was seen by the call before."""

    def wait(self, until_ns: int) -> Happening:
        """The next observation; one of kind EXPIRED if nothing happens until `until_ns`."""

    def measure(self, seat: int) -> Measured:
        """Readings of a seat's box; what others used of its cores since its wait began, and whether they paused it."""

    def respawn(self, seat: int) -> int:
        """Close the agent's box and start it in a new one; returns the moment at which its time begins."""

    def mute(self, seat: int) -> None:
        """Read nothing more of a seat."""

    def kill(self, seat: int) -> None:
        """End the agent now."""

    def fail(self, why: str) -> None:
        """Note that the host failed after the game was over."""
