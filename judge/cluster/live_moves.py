"""Brings a running game's moves from its worker to the contest's recorder.

The transcript is untrusted until the checked record replaces it.
"""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judge.base.logs import get_logger
from judge.broadcast.pipe import TRANSCRIPT, Announced, Sender, frames, sent_ms
from judge.cluster.messages import MAX_MOVES_PIECE_BYTES, PieceOfMoves
from judge.contest.attempts import Job
from judge.record.bounds import MAX_RECORD_BYTES

REST_S = 0.05
"""Pause after each piece."""

POLL_INTERVAL_S = 0.5

MAX_FRAME_BYTES = 16 << 20

MAX_PLAYS = 20
"""Plays of an attempt that are passed on. Honest workers reach a void earlier."""

log = get_logger()


class GameClient:
    """Requests a game: here it is always wanted, and its moves go nowhere."""

    def is_wanted(self) -> bool:
        return True

    def send_moves(self, begin: int, data: bytes) -> None:
        """Send bytes of the transcript and their offset."""


@contextmanager
def relay_moves(client: GameClient, directory: Path) -> Iterator[Path]:
    """Yield a socket for a game's process, in an empty directory. `client` gets the moves."""
    address = directory / "moves"
    ended = threading.Event()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(address))
        listener.listen(1)
        thread = threading.Thread(target=_relay, args=(listener, client, ended), name="moves")
        thread.start()
        try:
            yield address
        finally:
            ended.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _relay(listener: socket.socket, client: GameClient, ended: threading.Event) -> None:
    try:
        connection, _ = listener.accept()
    except OSError:
        return
    begin = 0
    with connection:
        connection.settimeout(POLL_INTERVAL_S)
        while True:
            try:
                data = connection.recv(MAX_MOVES_PIECE_BYTES)
            except TimeoutError:
                if ended.is_set():
                    return
                continue
            if not data:
                return
            client.send_moves(begin, data)
            begin += len(data)
            ended.wait(REST_S)


class FollowedGame:
    """A running attempt and its connection to the recorder."""

    def __init__(self, job: Job, listener: Path) -> None:
        self._job = job
        self._listener = listener
        self._spec = job.spec()
        self._plays = 0
        self._sender: Sender | None = None
        self._worker = ""
        self._arrived = 0
        self._read = bytearray()

    def receive(self, worker: str, piece: PieceOfMoves) -> None:
        """Offset 0 makes its sender the game's worker; other senders are ignored."""
        if piece.begin == 0 and self._plays < MAX_PLAYS:
            self._begin(worker)
        if self._sender is None or worker != self._worker or piece.begin != self._arrived:
            return
        self._arrived += len(piece.data)
        self._read += piece.data
        try:
            for kind, frame in frames(self._read):
                if kind == TRANSCRIPT:
                    # The worker's clock may differ.
                    self._sender.follow(sent_ms(frame)[1])
        except struct.error:
            self.close()
        if self._arrived > MAX_RECORD_BYTES or len(self._read) > MAX_FRAME_BYTES:
            self.close()

    def close(self) -> None:
        if self._sender is not None:
            self._sender.close(0)
        self._sender = None
        self._read.clear()

    def _begin(self, worker: str) -> None:
        self.close()
        self._plays += 1
        self._worker, self._arrived = worker, 0
        game = self._job.game
        self._sender = Sender(
            self._listener,
            Announced(id=game.id, game=game.number, attempt=game.attempt, spec=self._spec, play=self._plays),
        )


class LiveMoves:
    """`receive` is called in a thread of dask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._games: dict[str, FollowedGame] = {}

    def follow(self, task: str, game: FollowedGame) -> None:
        """Register a game's task."""
        with self._lock:
            self._games[task] = game

    def forget(self, task: str) -> None:
        """Remove a finished task."""
        with self._lock:
            if (game := self._games.pop(task, None)) is not None:
                game.close()

    def receive(self, event: tuple[float, Any]) -> None:
        """Handle a dask event with any content."""
        try:
            _, fields = event
            worker = str(fields.pop("worker"))
            piece = PieceOfMoves.model_validate(fields, strict=True)
        except (AttributeError, KeyError, TypeError, ValueError):
            log.warning("an event of a worker is not a piece of moves")
            return
        with self._lock:
            if (game := self._games.get(piece.task)) is not None:
                game.receive(worker, piece)

    def close(self) -> None:
        for task in list(self._games):
            self.forget(task)
