"""The process that writes the log of a contest's events beside its judge, which never waits for it.

It runs only while its core has nothing else to do. It sleeps until a worker has sent something or the store has
changed. After each round it rests for a moment in which nobody has to wake it: to wake a process costs the worker that
sends a move some microseconds, and a game in which these count sends again before the rest is over.
"""

import os
import selectors
import socket
import time
from contextlib import closing
from pathlib import Path

from judge.base.logs import get_logger
from judge.base.scheduling import set_scheduling
from judge.broadcast.log import LOG_FILE
from judge.broadcast.pipe import END
from judge.contest.contest import Contest, open_store
from judge.contest.event_log.moves import Connection
from judge.contest.event_log.recorder import Recorder
from judge.contest.event_log.store_changes import LOOK_S, StoreChanges, stamp_of
from judge.contest.plan import Planned

REST_S = 0.01
"""How long it rests after each round."""

LONGEST_SLEEP_S = 1.0
"""How long it sleeps at most, in case that it was not told of a change."""

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
    with closing(listener), closing(open_store(planned)) as store, closing(StoreChanges(planned)) as changes:
        recorder = Recorder(Contest(store, planned), planned.folder / LOG_FILE, planned.plan.broadcast)
        with closing(recorder):
            _Loop(recorder, listener, planned, changes).run()


class _Loop:
    """Reads what comes from workers and from the store."""

    def __init__(self, recorder: Recorder, listener: socket.socket, planned: Planned, changes: StoreChanges) -> None:
        self._recorder = recorder
        self._listener = listener
        self._changes = changes
        self._stamp = stamp_of(planned)
        self._stamped: object = None
        self._looked_at = 0.0
        self._ends = False
        self._workers = 0
        """How many are connected."""
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)
        if changes.fileno() >= 0:
            self._selector.register(changes, selectors.EVENT_READ)

    def run(self) -> None:
        """Until END has come, every worker has said all, and the store has been read once more."""
        with closing(self._selector):
            while True:
                for key, _ in self._selector.select(self._sleep_s()):
                    self._hear(key)
                if self._ends and not self._workers:
                    self._recorder.finish()
                    return
                self._look()
                self._recorder.moves.release()
                time.sleep(REST_S)

    def _sleep_s(self) -> float:
        """How long nothing has to be done if nothing happens."""
        if self._ends:
            return 0.0
        longest = LONGEST_SLEEP_S if self._changes.fileno() >= 0 else LOOK_S
        due = self._recorder.due_s()
        return longest if due is None else min(longest, due)

    def _look(self) -> None:
        now, stamp = time.monotonic(), self._stamp()
        due = self._recorder.due_s()
        if stamp != self._stamped or now - self._looked_at >= LONGEST_SLEEP_S or due == 0:
            self._stamped, self._looked_at = stamp, now
            self._changes.watch()
            self._recorder.look()

    def _hear(self, key: selectors.SelectorKey) -> None:
        connection: Connection | None = key.data
        stream = key.fileobj
        if stream is self._changes:
            self._changes.take()
            return
        if connection is None:
            worker, _ = self._listener.accept()
            worker.setblocking(False)
            self._selector.register(worker, selectors.EVENT_READ, Connection())
            self._workers += 1
            return
        if not isinstance(stream, socket.socket):
            raise TypeError("only sockets are registered")
        try:
            data = stream.recv(1 << 18)
            if data == END + bytes(4):
                self._ends, data = True, b""
            if data:
                self._recorder.moves.hear(connection, data)
                return
        except OSError as error:
            log.warning("a worker's connection is lost", why=str(error))
        self._selector.unregister(stream)
        stream.close()
        self._workers -= 1
        connection.close()
