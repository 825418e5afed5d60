"""Opens and closes submissions and starts a contest on schedule, in a service.

Actions depend only on contest.toml, the clock and the journal, which has each action once.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO

from judge.base.errors import HostError
from judge.base.locks import try_lock, try_lock_directory
from judge.base.logs import get_logger
from judge.base.service_loop import ServiceLoop
from judge.base.watched_file import WatchedFile
from judge.base.worker_processes import die_with_parent
from judge.contest.contest import has_begun, open_store
from judge.contest.folder_names import KEEPER_DIRECTORY
from judge.contest.plan import Plan, Planned, load_plan
from judge.contest.run_lock import player_of
from judge.contest_games import GameState
from judge.journal.codec import Event
from judge.journal.events import (
    Moment,
    ScheduleChanged,
    StartTimeReached,
    SubmissionsClosed,
    SubmissionsOpened,
    SubmissionState,
)
from judge.journal.sentences import text_of
from judge.sandbox.machine.cores import on_all_processors
from judge.store.submissions import Register
from judge.submissions.windows import SubmissionGate, WindowEvent, Windows

WHO = "the clock"
"""Actor in the journal."""

POLL_INTERVAL_S = 1.0

RUN_LOG = "run.log"
"""Output of `judge contest run` started by another process, in the contest's folder."""

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
        self.is_done = False
        """Ended with code 0: contest over, or stop requested."""

    def ensure(self) -> bool:
        """Start it unless it runs or failed recently; return whether started. Raises HostError."""
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return False
            self._process = None
            self.is_done = code == 0
            self._failures = 0 if code == 0 else self._failures + 1
            pause_s = min(RETRY_INTERVAL_S * 2 ** (self._failures - 1), MOST_AGAIN_S) if self._failures else 0
            self._not_before = time.monotonic() + pause_s
            log.log(20 if code == 0 else 40, "contest run ended", code=code, again_s=pause_s)
            return False
        if time.monotonic() < self._not_before:
            return False
        self.is_done = False
        self._start()
        return True

    def _start(self) -> None:
        self._process = start_run(self._path)
        log.info("contest run started", process=self._process.pid)


def start_run(path: Path, arguments: Sequence[str] = (), *, dies_with_parent: bool = False) -> subprocess.Popen[bytes]:
    """Start `judge contest run` in a new session, with `RUN_LOG` for its output. Raises HostError."""
    place = path.parent / RUN_LOG
    try:
        with place.open("ab") as out, on_all_processors():
            return subprocess.Popen(
                [sys.executable, "-m", "judge.cli", "contest", "run", str(path), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                preexec_fn=partial(die_with_parent, os.getpid()) if dies_with_parent else None,
            )
    except OSError as error:
        raise HostError(f"{error.filename or place}: {error.strerror}: the contest was not started") from None


class PlanFile(WatchedFile[Planned]):
    """The plan of a contest file."""

    def __init__(self, planned: Planned) -> None:
        super().__init__(planned.path, load_plan, planned)

    @property
    def plan(self) -> Plan:
        return self.current_value().plan

    def windows(self) -> Windows:
        return self.plan.windows


def has_window_keeper(planned: Planned) -> bool:
    """Whether a service on this machine performs the contest's scheduled actions."""
    try:
        with (planned.folder / KEEPER_DIRECTORY / "lock").open("rb") as file:
            return not try_lock(file, shared=True)
    except OSError:
        return False


class WindowKeeper:
    """Performs scheduled actions; as a context manager periodically, in a thread."""

    def __init__(
        self,
        planned: Planned,
        register: Register,
        gate: SubmissionGate,
        process: ContestProcess,
    ) -> None:
        self._planned = planned
        self._register = register
        self._gate = gate
        self._process = process
        self._file = PlanFile(planned)
        self._written: dict[type[Event], Event] = {}
        self._loop = ServiceLoop("schedule", self._step)
        self._lock: IO[bytes] | None = None

    def __enter__(self) -> "WindowKeeper":
        self._lock_directory()
        self._loop.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.__exit__()
        if self._lock is not None:
            self._lock.close()

    def _lock_directory(self) -> None:
        with suppress(OSError):
            self._lock = self._lock or try_lock_directory(self._planned.folder / KEEPER_DIRECTORY)

    def _step(self) -> float:
        self._lock_directory()
        self.look()
        return POLL_INTERVAL_S

    def look(self) -> None:
        """Perform due actions. Raises InputError and HostError; the next call continues."""
        windows = self._file.windows()
        self._gate.change(windows)
        self._write(windows.event)
        for event in self._gate.happened():
            self._write(event)
        if windows.starts is not None and (self._gate.now() >= windows.starts or self._has_started(windows.starts)):
            self._play(windows.starts)

    def _write(self, event: Event) -> None:
        if self._written.get(type(event)) == event:
            return
        with closing(open_store(self._planned)) as store:
            is_first = not store.last_lines(self._planned.name, 1, type(event))
            if is_first and event == ScheduleChanged():
                return
            if store.log_once(self._planned.name, event, WHO):
                log.info("window", kind=event.NAME, text=text_of(event))
        self._written[type(event)] = event

    def _has_started(self, moment: datetime) -> bool:
        """True even if the clock was set back since."""
        event = StartTimeReached(Moment.of(moment))
        if self._written.get(StartTimeReached) == event:
            return True
        with closing(open_store(self._planned)) as store:
            lines = store.last_lines(self._planned.name, 1, StartTimeReached)
        return bool(lines) and lines[0].change == event

    def _play(self, starts: datetime) -> None:
        with closing(open_store(self._planned)) as store:
            begun = has_begun(store, self._planned)
            if not begun and (waits := self._underway(starts)):
                log.info("the contest waits for submissions that came before its start", submissions=waits)
                return
            self._write(StartTimeReached(Moment.of(starts)))
            if begun:
                if store.state(self._planned.name) != "open":
                    return
                counts = store.counts(self._planned.name)
                if self._process.is_done and not counts[GameState.PENDING] and not counts[GameState.RUNNING]:
                    return
        if player_of(self._planned) is None:
            self._process.ensure()

    def _underway(self, starts: datetime) -> int:
        before = starts.astimezone(UTC).isoformat(timespec="milliseconds")
        early = [each for each in self._register.submissions() if each.received_at < before]
        is_tried_again = sum(each.state is SubmissionState.FAILED and each.due_at is not None for each in early)
        return is_tried_again + sum(
            each.state in (SubmissionState.RECEIVED, SubmissionState.PROCESSING) for each in early
        )


def past_windows(planned: Planned) -> Sequence[WindowEvent]:
    """The last opening and end of submissions in the journal."""
    with closing(open_store(planned)) as store:
        lines = [
            line for kind in (SubmissionsOpened, SubmissionsClosed) for line in store.last_lines(planned.name, 1, kind)
        ]
    return [line.change for line in lines if isinstance(line.change, SubmissionsOpened | SubmissionsClosed)]
