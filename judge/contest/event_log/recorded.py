"""An executor whose games are told to the contest's recorder while they are played."""

import os
import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judge.base.errors import StoreLostError
from judge.base.logs import get_logger
from judge.base.scheduling import set_scheduling
from judge.base.worker_processes import Worker, wait
from judge.broadcast.pipe import END, Feed
from judge.contest.event_log.recorder_process import record
from judge.contest.executor import Executor, JobEnd
from judge.contest.plan import Planned
from judge.contest.worker import Job
from judge.matches import Match
from judge.sandbox.machine.owner import owned_directory

LAST_WAIT_S = 30.0
"""How long the end of a contest waits for its log."""

CONNECT_S = 0.05
"""How often it is tried to connect to a recorder that does not listen yet."""

RETRY_S = 10.0
"""How soon a recorder is started again that has lost the store."""

log = get_logger()


def forked_recorder() -> Worker[Any]:
    """A process for a recorder, as a fork of this one.

    This one must not have opened the contest's store: what SQLite knows of its open files is wrong in a fork.
    """
    recorder: Worker[Any] = Worker(fork=True)
    recorder.start(os.getpid)
    recorder.result()
    return recorder


@dataclass(slots=True)
class RecordedExecutor:
    """Passes everything on to another executor, and keeps a recorder running beside it.

    If the recorder dies, games go on. The next one continues the log.
    """

    executor: Executor
    planned: Planned
    recorder: Worker[Any]
    """From `forked_recorder`; it is ended by `close`."""
    _lost_at: float = field(init=False, default=0.0)
    """When the recorder ended because the store was lost; 0: it did not."""
    _address: Path = field(init=False)
    _at_end: ExitStack = field(init=False, default_factory=ExitStack)

    def __post_init__(self) -> None:
        """Start to record. Raises HostError if the disk is full."""
        self._address = self._at_end.enter_context(owned_directory()) / "recorder"
        self.recorder.start(record, self.planned, self._address)

    @property
    def free(self) -> int:
        """How many matches could be started now."""
        return self.executor.free

    @property
    def host(self) -> str:
        """The machine that plays the match that is started next."""
        return self.executor.host

    @property
    def slot(self) -> str:
        """Its cores there."""
        return self.executor.slot

    @property
    def running(self) -> int:
        """How many matches are being played, or prepared."""
        return self.executor.running

    def start(self, job: Job) -> None:
        """Play a match, and tell the recorder. Raises IndexError if nothing is free."""
        self.executor.start(replace(job, listener=self._address))

    def wait(self, timeout_s: float) -> list[JobEnd]:
        """The jobs that have ended; a recorder that has died is started again."""
        if wait([self.recorder], 0) and not self._is_store_lost():
            log.warning("the recorder of events has ended; it is started again", why=str(self.recorder.exception()))
            self.recorder.kill()
            self.recorder = Worker()  # no fork: the store is open
            self.recorder.start(record, self.planned, self._address)
        return self.executor.wait(timeout_s)

    def _is_store_lost(self) -> bool:
        """Whether a recorder would only find again that the store cannot be reached."""
        if not isinstance(self.recorder.exception(), StoreLostError):
            return False
        self._lost_at = self._lost_at or time.monotonic()
        is_early = time.monotonic() - self._lost_at < RETRY_S
        if not is_early:
            self._lost_at = 0.0
        return is_early

    def kill(self) -> list[Match]:
        """End everything now, and return the matches that were running."""
        return self.executor.kill()

    def close(self) -> None:
        """End the processes, when none of them runs a match; the recorder when it has read all."""
        self.executor.close()
        if self.recorder.pid is not None:
            # There is no game to disturb any more.
            set_scheduling(self.recorder.pid, os.SCHED_OTHER)
        if (connection := self._connected()) is not None:
            feed = Feed(connection.detach())
            feed.send(END, b"")
            feed.close()
            wait([self.recorder], LAST_WAIT_S)
        self.recorder.kill()
        self._at_end.close()

    def _connected(self) -> socket.socket | None:
        """A connection to the recorder, which may have been started a moment ago; None if it does not come."""
        deadline = time.monotonic() + LAST_WAIT_S
        while not wait([self.recorder], 0) and time.monotonic() < deadline:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.connect(str(self._address))
            except OSError:
                connection.close()
                time.sleep(CONNECT_S)
            else:
                return connection
        log.warning("the log of events is not complete; the next judge contest run completes it")
        return None
