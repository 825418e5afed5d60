"""Sends running games to the process that displays or records them, as frames, without blocking.

    frame   kind (1 byte), length (4 bytes, little-endian), data

Frames of the live view of `judge match`:

    S       the series begins: JSON of names and number of games
    B       a game begins: its GameSpec as JSON
    T       new part of its transcript, packed (`judge.record.transcript.unpack_entries`)
    E       the game is over: JSON of its result

Frames of a worker (`Sender`). A connection is for one attempt:

    B       the first frame: JSON of an `Announced` game
    T       send time (8 bytes: microseconds of Unix time, little-endian), and new entries, packed

Data that the pipe does not accept is queued. A closed or too slow reader is abandoned. New receivers of a worker get
everything from the beginning.
"""

import os
import select
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

from judge.base.parsing import FrozenModel
from judge.record.spec import GameSpec

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


_SENT = struct.Struct("<Q")

RETRY_S = 1.0
"""Interval between connection attempts."""

MAX_STORED_BYTES = 16 << 20
"""Longer transcripts are not sent to new receivers."""


class Announced(FrozenModel):
    """A running game. `play` counts the attempt's starts."""

    id: str
    game: int
    attempt: int
    spec: GameSpec
    play: int = 1


class Sender:
    """Sends one attempt to the socket at `address`."""

    def __init__(self, address: Path, announced: Announced, retry_s: float = RETRY_S) -> None:
        self._address = address
        # Encoded before the game: may be long.
        self._announced = announced.model_dump_json().encode()
        self._retry_s = retry_s
        self._feed: Feed | None = None
        self._stored: list[bytes] = []
        self._stored_bytes = 0
        self._retry_at = 0.0

    def follow(self, packed: bytes) -> None:
        """Send new entries of the transcript."""
        frame = _SENT.pack(time.time_ns() // 1000) + packed
        self._stored_bytes += len(frame)
        if self._stored_bytes <= MAX_STORED_BYTES:
            self._stored.append(frame)
        if self._feed is not None and self._feed.is_open:
            self._feed.send(TRANSCRIPT, frame)
        else:
            self._reconnect()

    def close(self, wait_s: float = LAST_WAIT_S) -> None:
        """End the connection; wait at most `wait_s` for the receiver."""
        if self._feed is not None:
            self._feed.close(wait_s)

    def attach(self, feed: Feed) -> None:
        """Send past and future entries to this feed."""
        self._feed = feed
        feed.send(BEGIN, self._announced)
        for frame in self._stored:
            feed.send(TRANSCRIPT, frame)

    def _reconnect(self) -> None:
        now = time.monotonic()
        if now < self._retry_at or self._stored_bytes > MAX_STORED_BYTES:
            return
        self._retry_at = now + self._retry_s
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            connection.connect(str(self._address))
        except OSError:
            connection.close()
            return
        self.attach(Feed(connection.detach()))


def sent_ms(frame: bytes) -> tuple[float, bytes]:
    """A TRANSCRIPT frame's send time (Unix milliseconds) and packed entries. Raises struct.error."""
    (sent,) = _SENT.unpack_from(frame)
    return sent / 1000, frame[_SENT.size :]
