"""The wire: the referee's only source of time and bytes. Everything it observes or does is recorded."""

import json
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from judge.games.types import NATURE, SEATS
from judge.record.transcript import Entry
from judge.sandbox.evidence import MAX_COUNT, Evidence


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
    """Both seats, as the referee observes them: a method for each of `judge.referee.requests`.

    Every method may raise HostError.
    """

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
