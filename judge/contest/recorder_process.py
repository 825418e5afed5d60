"""The process that writes the log of a contest's events beside its judge, which never waits for it.

It runs only while its core has nothing else to do.
"""

import os
import selectors
import socket
import struct
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from judge.broadcast.log import LOG_FILE
from judge.broadcast.pipe import END
from judge.contest.contest import Contest, open_store
from judge.contest.plan import Planned
from judge.contest.recorder import Connection, Recorder
from judge.errors import InputError
from judge.logs import get_logger
from judge.worker_processes import set_scheduling

INTERVAL_S = 0.01
"""How often it looks for moves while games are played. It does not wait for them: a worker that sends one must not have
to wake it."""

LOOK_S = 1.0
"""How often it looks at the store at least; it does so at once where it sees that the store's file has changed."""

log = get_logger()


def record(planned: Planned, address: Path) -> None:
    """Write the log of a contest, and listen at `address` for what its workers send, until somebody sends END.

    Raises HostError and InputError if the log or the store cannot be used.
    """
    set_scheduling(os.getpid(), os.SCHED_IDLE)
    address.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(address))
    listener.listen(256)
    listener.setblocking(False)
    with closing(listener), closing(open_store(planned)) as store:
        recorder = Recorder(Contest(store, planned), planned.folder / LOG_FILE, planned.plan.broadcast)
        with closing(recorder):
            _Loop(recorder, listener, stamp_of(planned)).run()


def stamp_of(planned: Planned) -> Callable[[], object]:
    """What changes whenever the store does; a few times a second if that cannot be seen from its files."""
    start, name = "sqlite:///", planned.store_url.removeprefix("sqlite:///")
    if not planned.store_url.startswith(start):
        return lambda: int(time.monotonic() * 4)
    paths = (Path(name), Path(f"{name}-wal"))

    def stamp() -> object:
        found = []
        for path in paths:
            with suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime_ns, status.st_size))
        return found

    return stamp


class _Loop:
    """Reads what comes from workers and from the store."""

    def __init__(self, recorder: Recorder, listener: socket.socket, stamp: Callable[[], object]) -> None:
        self._recorder = recorder
        self._listener = listener
        self._stamp = stamp
        self._stamped: object = None
        self._looked_at = 0.0
        self._ends = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)

    def run(self) -> None:
        """Until END has come, every worker has said all, and the store has been read once more."""
        with closing(self._selector):
            while True:
                has_games = len(self._selector.get_map()) > 1
                for key, _ in self._selector.select(0 if has_games or self._ends else INTERVAL_S * 5):
                    self._hear(key)
                if self._ends and len(self._selector.get_map()) == 1:
                    self._recorder.finish()
                    return
                self._look()
                self._recorder.release()
                if has_games:
                    time.sleep(INTERVAL_S)

    def _look(self) -> None:
        now, stamp = time.monotonic(), self._stamp()
        if stamp != self._stamped or now - self._looked_at >= LOOK_S:
            self._stamped, self._looked_at = stamp, now
            self._recorder.look()

    def _hear(self, key: selectors.SelectorKey) -> None:
        connection: Connection | None = key.data
        if connection is None:
            worker, _ = self._listener.accept()
            worker.setblocking(False)
            self._selector.register(worker, selectors.EVENT_READ, Connection())
            return
        stream = key.fileobj
        if not isinstance(stream, socket.socket):
            raise TypeError("only sockets are registered")
        try:
            data = stream.recv(1 << 18)
            if data == END + bytes(4):
                self._ends, data = True, b""
            if data:
                self._recorder.hear(connection, data)
                return
        except (OSError, InputError, struct.error) as error:
            log.warning("what a worker sent cannot be read", why=str(error))
        self._selector.unregister(stream)
        stream.close()
        if connection.running is not None:
            connection.running.close()
