"""What a wire observes: events and readings.

`Inbox` keeps the output of both agents that the referee has not received yet, in bounded memory.
"""

import json
import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from judge.games.types import NATURE, SEATS
from judge.referee.transcript import Entry, EntryKind
from judge.sandbox.evidence import MAX_COUNT


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


UNENDED_BYTES = 4096
"""An incomplete line of this size is reported."""


class Inbox:
    """Events in order. Incomplete lines are kept back until `end_lines`."""

    def __init__(self, stderr_bytes: int, least_bytes: int) -> None:
        """`stderr_bytes` are kept per seat; each read counts at least `least_bytes`."""
        self._news: deque[Entry] = deque()
        self._unended = [bytearray(), bytearray()]
        self._stderr_room = [stderr_bytes, stderr_bytes]
        self._least_bytes = least_bytes

    def __len__(self) -> int:
        return len(self._news)

    def take_first(self) -> Entry:
        """Raises IndexError."""
        return self._news.popleft()

    def take_all(self) -> Sequence[Entry]:
        taken = list(self._news)
        self._news.clear()
        return taken

    def note(self, now: int, kind: EntryKind, span_ns: int) -> None:
        self._news.append(Entry(now, -1, kind, b"%d" % span_ns))

    def add(self, now: int, seat: int, kind: EntryKind, data: bytes) -> None:
        if kind is EntryKind.READ and self._is_unended(seat, data):
            return
        kept = self._bounded(seat, data) if kind is EntryKind.STDERR else data
        if kept or not data:
            self._add(now, seat, kind, kept)

    def end_lines(self) -> None:
        for seat in SEATS:
            if self._unended[seat]:
                data = bytes(self._unended[seat])
                self._unended[seat].clear()
                self._news.append(Entry(time.monotonic_ns(), seat, EntryKind.READ, data))

    def forget(self, seat: int) -> None:
        self._news = deque(item for item in self._news if item.seat != seat)
        self._unended[seat].clear()

    def has_stderr_room(self, seat: int) -> bool:
        return self._stderr_room[seat] > 0

    def _is_unended(self, seat: int, data: bytes) -> bool:
        """Writing single characters must not make more entries than writing lines."""
        unended = self._unended[seat]
        if not data or b"\n" in data or b"\r" in data or len(unended) + len(data) > UNENDED_BYTES:
            return False
        unended += data
        return True

    def _add(self, now: int, seat: int, kind: EntryKind, data: bytes) -> None:
        unended = self._unended[seat]
        if unended and kind is not EntryKind.STDERR:
            if kind is EntryKind.READ and data:
                data = bytes(unended) + data
            else:
                self._news.append(Entry(now, seat, EntryKind.READ, bytes(unended)))
            unended.clear()
        last = self._news[-1] if self._news else None
        if data and last and last.data and (now, seat, kind) == last[:3] and kind is EntryKind.READ:
            # One read per seat and moment: `judge.referee.replay` joins the parts of a chunk by time.
            self._news[-1] = last._replace(data=last.data + data)
            return
        self._news.append(Entry(now, seat, kind, data))

    def _bounded(self, seat: int, data: bytes) -> bytes:
        kept = data[: max(0, self._stderr_room[seat])]
        self._stderr_room[seat] -= max(len(kept), self._least_bytes)
        return kept
