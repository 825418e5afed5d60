"""The moves of a running game on their way from its worker to the recorder of its contest.

The process of a game writes to a socket of its worker what it would write to a recorder (`judge.broadcast.sender`). The
worker passes that on in pieces, as events of dask's. The contest takes from them what is new of the transcript, and
tells it to its own recorder, who believes nothing of it: the record of the game, which is checked, has the last word.
"""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judge.base.logs import get_logger
from judge.broadcast.pipe import TRANSCRIPT, frames
from judge.broadcast.sender import Announced, Sender, sent_ms
from judge.cluster.messages import LARGEST_PIECE_OF_MOVES, PieceOfMoves
from judge.contest.worker import Job
from judge.referee.bounds import LARGEST_RECORD

REST_S = 0.05
"""How long a worker rests after each piece: all that is new meanwhile becomes one."""

LOOK_S = 0.5
"""How soon a worker notices that a game is over which leaves its socket open."""

LARGEST_FRAME = 16 << 20
"""Bytes that are kept of a frame that is not complete."""

MOST_PLAYS = 20
"""So often an attempt is told from its beginning: it is void before an honest worker begins it again."""

log = get_logger()


@contextmanager
def passed_on(send: Callable[[int, bytes], None], directory: Path) -> Iterator[Path]:
    """The address of a socket for the process of one game; what comes there is sent in pieces, with where each begins.

    `directory` is for the socket alone.
    """
    address = directory / "moves"
    ended = threading.Event()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(address))
        listener.listen(1)
        thread = threading.Thread(target=_pass_on, args=(listener, send, ended), name="moves")
        thread.start()
        try:
            yield address
        finally:
            ended.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _pass_on(listener: socket.socket, send: Callable[[int, bytes], None], ended: threading.Event) -> None:
    try:
        connection, _ = listener.accept()
    except OSError:
        return  # the game is over, and has told nothing
    begin = 0
    with connection:
        connection.settimeout(LOOK_S)
        while True:
            try:
                data = connection.recv(LARGEST_PIECE_OF_MOVES)
            except TimeoutError:
                if ended.is_set():
                    return
                continue
            if not data:
                return
            send(begin, data)
            begin += len(data)
            ended.wait(REST_S)


class FollowedGame:
    """An attempt that workers play, as its recorder is told of it."""

    def __init__(self, job: Job, listener: Path) -> None:
        """`listener` is the recorder's socket."""
        self._job = job
        self._listener = listener
        self._spec = job.spec()
        self._plays = 0
        self._sender: Sender | None = None
        self._worker = ""
        """The address of the worker that plays."""
        self._arrived = 0
        self._read = bytearray()

    def take(self, worker: str, piece: PieceOfMoves) -> None:
        """Tell what a piece has. Only its worker is heard, and from the beginning: a worker that is given the game
        begins with the first byte."""
        if piece.begin == 0 and self._plays < MOST_PLAYS:
            self._begin(worker)
        if self._sender is None or worker != self._worker or piece.begin != self._arrived:
            return
        self._arrived += len(piece.data)
        self._read += piece.data
        try:
            for kind, frame in frames(self._read):
                if kind == TRANSCRIPT:
                    # Its clock is another than this host's, so what comes is of now.
                    self._sender.follow(sent_ms(frame)[1])
        except struct.error:
            self.close()
        if self._arrived > LARGEST_RECORD or len(self._read) > LARGEST_FRAME:
            self.close()

    def close(self) -> None:
        """Tell no more, unless it is played from its beginning again."""
        if self._sender is not None:
            self._sender.close(0)
        self._sender = None
        self._read.clear()

    def _begin(self, worker: str) -> None:
        self.close()
        self._plays += 1
        self._worker, self._arrived = worker, 0
        match = self._job.match
        self._sender = Sender(
            self._listener,
            Announced(match=match.id, game=match.number, attempt=match.attempt, spec=self._spec, play=self._plays),
        )


class LiveMoves:
    """The followed games by dask's tasks. Events come in a thread of dask's, while the contest goes on in its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._games: dict[str, FollowedGame] = {}

    def follow(self, task: str, game: FollowedGame) -> None:
        """The game is given to the workers as this task."""
        with self._lock:
            self._games[task] = game

    def forget(self, task: str) -> None:
        """No worker plays this task any more."""
        with self._lock:
            if (game := self._games.pop(task, None)) is not None:
                game.close()

    def take(self, event: tuple[float, Any]) -> None:
        """An event of dask's, which may be anything that a worker sends."""
        try:
            _, said = event
            worker = str(said.pop("worker"))
            piece = PieceOfMoves.model_validate(said, strict=True)
        except (AttributeError, KeyError, TypeError, ValueError):
            log.warning("a worker sends what is no piece of a game's moves")
            return
        with self._lock:
            if (game := self._games.get(piece.task)) is not None:
                game.take(worker, piece)

    def close(self) -> None:
        """Tell no more."""
        for task in list(self._games):
            self.forget(task)
