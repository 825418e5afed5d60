"""Keeps the output of both agents that the referee has not received yet, in bounded memory."""

import time
from collections import deque
from collections.abc import Sequence

from judge.games.types import SEATS
from judge.record.transcript import Entry, EntryKind

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

    def take_first(self) -> Entry | None:
        return self._news.popleft() if self._news else None

    def take_all(self) -> Sequence[Entry]:
        taken = list(self._news)
        self._news.clear()
        return taken

    def note(self, now: int, kind: EntryKind, span_ns: int) -> None:
        self._news.append(Entry(now, -1, kind, b"%d" % span_ns))

    def add(self, now: int, seat: int, kind: EntryKind, data: bytes) -> None:
        if kind is EntryKind.READ and self._is_unended(seat, data):
            return
        if kind is EntryKind.STDERR:
            kept = data[: max(0, self._stderr_room[seat])]
            self._stderr_room[seat] -= max(len(kept), self._least_bytes)
            if data and not kept:
                return
            data = kept
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
        else:
            self._news.append(Entry(now, seat, kind, data))

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
