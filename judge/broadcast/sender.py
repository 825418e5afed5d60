"""Sends the transcript of a worker's game to a receiver, without blocking the game.

    GAME         JSON of an `Announced` game: the first frame of a connection, which is for one attempt
    TRANSCRIPT   send time (8 bytes: microseconds of Unix time, little-endian), and new entries, packed

New receivers get everything from the beginning.
"""

import socket
import struct
import time
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from judge.broadcast.pipe import BEGIN, LAST_WAIT_S, TRANSCRIPT, Feed
from judge.referee.spec import GameSpec

_SENT = struct.Struct("<Q")

RETRY_S = 1.0
"""Interval between connection attempts."""

MAX_STORED_BYTES = 16 << 20
"""Longer transcripts are not sent to new receivers."""


class Announced(BaseModel):
    """A running game. `play` counts the attempt's starts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
