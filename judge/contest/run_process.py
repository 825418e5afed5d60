"""`judge contest run` as a process of a service."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from judge.base.errors import HostError
from judge.base.logs import get_logger
from judge.base.text import decode
from judge.base.worker_processes import die_with_parent
from judge.contest.plan import Planned
from judge.sandbox.machine.cores import on_all_processors

RUN_LOG = "run.log"
"""Output of `judge contest run` started by another process, in the contest's folder."""

LAST_BYTES = 4096

RETRY_INTERVAL_S, MOST_AGAIN_S = 30.0, 1800.0
"""Pause before restarting a failed run; doubled each time, up to the second value."""

log = get_logger()


class ContestProcess:
    """A `judge contest run` that survives the service."""

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        self._process: subprocess.Popen[bytes] | None = None
        self._not_before = 0.0
        self._failures = 0

    @property
    def has_failed(self) -> bool:
        """Whether the last run that ended has failed."""
        return self._failures > 0

    def ensure(self) -> bool:
        """Start it unless it runs or failed recently; return whether started. Raises HostError."""
        self.collect()
        if self._process is not None or time.monotonic() < self._not_before:
            return False
        self._start()
        return True

    def collect(self) -> None:
        """Note the end of the process, if it has ended."""
        code = None if self._process is None else self._process.poll()
        if code is None:
            return
        self._process = None
        self._failures = 0 if code == 0 else self._failures + 1
        pause_s = min(RETRY_INTERVAL_S * 2 ** (self._failures - 1), MOST_AGAIN_S) if self._failures else 0
        self._not_before = time.monotonic() + pause_s
        log.log(20 if code == 0 else 40, "contest run ended", code=code, again_s=pause_s)

    def _start(self) -> None:
        self._process = start_run(self._path)
        log.info("contest run started", process=self._process.pid)


def start_run(path: Path, arguments: Sequence[str] = (), *, dies_with_parent: bool = False) -> subprocess.Popen[bytes]:
    """Start `judge contest run` in a new session, with `RUN_LOG` for its output. Raises HostError."""
    place = path.parent / RUN_LOG
    try:
        with place.open("ab") as out, on_all_processors(), _interrupts_blocked():
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "judge.cli", "contest", "run", str(path), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                preexec_fn=partial(die_with_parent, os.getpid()) if dies_with_parent else None,
            )
    except OSError as error:
        raise HostError(f"{error.filename or place}: {error.strerror}: the contest was not started") from None


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """For this thread and processes that it starts.

    Python answers Ctrl-C with exit code 1 until it has read its modules. `judge` unblocks it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def last_words(planned: Planned) -> str:
    """The last sentence of `RUN_LOG`, such as why the contest was not started; empty without one."""
    lines = [line for line in last_lines(planned) if line.startswith("judge: ")]
    return lines[-1].removeprefix("judge: ") if lines else ""


def last_lines(planned: Planned) -> Sequence[str]:
    """The last lines of `RUN_LOG`; empty without it."""
    with suppress(FileNotFoundError), (planned.folder / RUN_LOG).open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - LAST_BYTES))
        return decode(file.read()).strip().splitlines()
    return ()
