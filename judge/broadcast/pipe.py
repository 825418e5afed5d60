"""Sends a judge's games to the process that displays them, as frames, without blocking.

    frame   kind (1 byte), length (4 bytes, little-endian), data

Frames of the live view of `judge match` (others are in `judge.broadcast.sender`):

    S       the series begins: JSON of names and number of games
    B       a game begins: its GameSpec as JSON
    T       new part of its transcript, packed (`judge.referee.transcript.unpack`)
    E       the game is over: JSON of its result

Data that the pipe does not accept is queued. A closed or too slow reader is abandoned.
"""

import os
import select
import struct
from collections.abc import Iterator

_HEADER = struct.Struct("<cI")

SERIES, BEGIN, TRANSCRIPT, END = b"S", b"B", b"T", b"E"

MAX_BACKLOG_BYTES = 64 << 20
"""Maximum backlog of a reader before it is abandoned."""

LAST_WAIT_S = 5.0
"""Maximum time for a reader to take the rest after the last game."""


class Feed:
    """The writer; it owns `fd`."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._behind = bytearray()

    @property
    def is_open(self) -> bool:
        """Whether the reader is still served."""
        return self._fd >= 0

    def send(self, kind: bytes, data: bytes) -> None:
        """Write a frame as far as possible; queue the rest."""
        if self._fd >= 0:
            self._behind += _HEADER.pack(kind, len(data)) + data
            self._write()

    def close(self, wait_s: float = LAST_WAIT_S) -> None:
        """Write the rest within `wait_s` seconds; end the feed."""
        waiting = select.poll()
        if self._fd >= 0:
            waiting.register(self._fd, select.POLLOUT)
        while self._behind and self._fd >= 0 and waiting.poll(wait_s * 1000):
            self._write()
        self._forget()

    def _write(self) -> None:
        try:
            taken = os.write(self._fd, self._behind)
        except BlockingIOError:
            taken = 0
        except OSError:
            self._forget()
            return
        del self._behind[:taken]
        if len(self._behind) > MAX_BACKLOG_BYTES:
            self._forget()

    def _forget(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self._behind.clear()


def frames(read: bytearray) -> Iterator[tuple[bytes, bytes]]:
    """Remove and yield complete frames from the buffer."""
    offset = 0
    while len(read) - offset >= _HEADER.size:
        kind, length = _HEADER.unpack_from(read, offset)
        end = offset + _HEADER.size + length
        if len(read) < end:
            break
        yield kind, bytes(read[offset + _HEADER.size : end])
        offset = end
    del read[:offset]
