"""The way from a judge to the process that shows its games: frames in a pipe or a socket, written without ever waiting.

    frame   kind (1 byte), length (4 bytes, little end first), data

What the live view of `judge match` is told; `judge.broadcast.sender` says what a contest's log is told:

    S       the series begins: JSON of names and number of games
    B       a game begins: its GameSpec as JSON
    T       what is new of its transcript, packed (`judge.referee.transcript.unpack`)
    E       the game is over: JSON of its result

What the pipe does not take is kept and written with the next frame. A reader that is gone, or that falls hopelessly
behind, is forgotten: the games go on.
"""

import os
import select
import struct
from collections.abc import Iterator

_HEADER = struct.Struct("<cI")

SERIES, BEGIN, TRANSCRIPT, END = b"S", b"B", b"T", b"E"

MOST_BEHIND_BYTES = 64 << 20
"""A reader further behind than this is given up."""

LAST_WAIT_S = 5.0
"""How long the end of the feed waits for a reader to take the rest, once there is no game to disturb."""


class Feed:
    """The writing end; it owns `fd`."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._behind = bytearray()

    @property
    def is_open(self) -> bool:
        """Whether the reader was not forgotten."""
        return self._fd >= 0

    def send(self, kind: bytes, data: bytes) -> None:
        """Write a frame, or what the pipe takes of it."""
        if self._fd >= 0:
            self._behind += _HEADER.pack(kind, len(data)) + data
            self._write()

    def close(self, wait_s: float = LAST_WAIT_S) -> None:
        """Write the rest while the reader takes it, which may take `wait_s`, and end the feed."""
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
        if len(self._behind) > MOST_BEHIND_BYTES:
            self._forget()

    def _forget(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self._behind.clear()


def frames(read: bytearray) -> Iterator[tuple[bytes, bytes]]:
    """Take every whole frame off the front of what was read."""
    offset = 0
    while len(read) - offset >= _HEADER.size:
        kind, length = _HEADER.unpack_from(read, offset)
        end = offset + _HEADER.size + length
        if len(read) < end:
            break
        yield kind, bytes(read[offset + _HEADER.size : end])
        offset = end
    del read[:offset]
