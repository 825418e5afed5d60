"""The worker's end of a broadcast: it gives away what is new of a transcript, and never waits for whom it is for.

    GAME         JSON of an `Announced` game: the first frame of a connection, which is of one attempt
    TRANSCRIPT   when it was sent (8 bytes: microseconds of Unix time, little end first), and what is new, packed

If nobody listens, or whoever listens falls behind or dies, the game goes on. Whoever listens next is told all from the
beginning.
"""

import socket
import struct
import time
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from judge.broadcast.pipe import BEGIN, LAST_WAIT_S, TRANSCRIPT, Feed
from judge.referee.spec import MatchSpec

_SENT = struct.Struct("<Q")

RETRY_S = 1.0
"""How long it does not look whether somebody listens again."""

MOST_STORED_BYTES = 16 << 20
"""A transcript that is longer is told only to who has listened from the beginning."""


class Announced(BaseModel):
    """A game that is played: its number in the contest, the attempt, and what is played.

    `play` counts how often the attempt was begun: where a machine is lost, another one plays it again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    match: str
    game: int
    attempt: int
    spec: MatchSpec
    play: int = 1


class Sender:
    """Tells of one attempt whoever listens at `address`, the path of a socket."""

    def __init__(self, address: Path, announced: Announced, retry_s: float = RETRY_S) -> None:
        self._address = address
        # Made here and not in the game, for it may have thousands of characters.
        self._announced = announced.model_dump_json().encode()
        self._retry_s = retry_s
        self._feed: Feed | None = None
        self._told: list[bytes] = []
        self._told_bytes = 0
        self._retry_at = 0.0

    def follow(self, packed: bytes) -> None:
        """Give away what is new of the transcript."""
        frame = _SENT.pack(time.time_ns() // 1000) + packed
        self._told_bytes += len(frame)
        if self._told_bytes <= MOST_STORED_BYTES:
            self._told.append(frame)
        if self._feed is not None and self._feed.is_open:
            self._feed.send(TRANSCRIPT, frame)
        else:
            self._begin_again()

    def close(self, wait_s: float = LAST_WAIT_S) -> None:
        """Say that no more will come; what was not taken yet is still taken for a short time."""
        if self._feed is not None:
            self._feed.close(wait_s)

    def attach(self, feed: Feed) -> None:
        """Tell all that was told so far, and from now on, to who reads this feed."""
        self._feed = feed
        feed.send(BEGIN, self._announced)
        for frame in self._told:
            feed.send(TRANSCRIPT, frame)

    def _begin_again(self) -> None:
        now = time.monotonic()
        if now < self._retry_at or self._told_bytes > MOST_STORED_BYTES:
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
    """When a TRANSCRIPT frame was sent, in milliseconds of Unix time, and the packed entries. Raises struct.error."""
    (sent,) = _SENT.unpack_from(frame)
    return sent / 1000, frame[_SENT.size :]
