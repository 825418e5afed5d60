"""The process that plays the contests of a service. It alone opens the Engine's socket.

It tells the service through a file in each contest's folder what it cannot read in the store.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Self

from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.base.service_loop import ServiceLoop, stalled_loops
from judge.base.worker_processes import Worker, kill, wait
from judge.contest.plan import Planned, load_plan
from judge.contest.run_lock import has_player, player_of
from judge.contest.run_process import ContestProcess
from judge.sandbox.machine.cores import Tell
from judge.store.files import sweep
from judge.store.types import Submission
from judge.submissions.pipeline import Processor, Workplace
from judge.submissions.service import IntakeDirectory, working
from judge.web.player.contest_player import ContestPlayer
from judge.web.player.queues import BackgroundJobs, practice_jobs, prepare, submission_jobs
from judge.web.player.status import MISTAKE, NOT_OPENED, HostCheck, PlayerFiles, PlayerStatus

POLL_INTERVAL_S = 0.5

LONGEST_PAUSE_S = 60.0
"""Between two starts of a process that is lost again and again, or two tries to open a contest."""

STOP_S = 30.0
"""From SIGTERM to SIGKILL, for the boxes of all jobs."""

UNREGISTERED_AGE = timedelta(days=1)
"""Files without a submission are then removed; younger ones may be running uploads."""

Hosting = Callable[[IntakeDirectory, Tell], tuple[Processor, Workplace | None]]
"""What processes the submissions of a contest on this host, and plays its practice games; importable by name. Raises
HostError without an Engine.
"""

log = get_logger()


class PlayerProcess(ServiceLoop):
    """The player of several contests; as a context manager, restarted when it is lost."""

    def __init__(self, directories: Sequence[IntakeDirectory], hosting: Hosting) -> None:
        self._directories = directories
        self._hosting = hosting
        self._worker = Worker[None](prepare, starts_workers=True)
        self._pause_s = 1.0
        self._start_at = time.monotonic()
        super().__init__("player", self.step, self.finish)

    def __enter__(self) -> Self:
        """Raises HostError without an Engine."""
        try:
            self._worker.start(check_hosts, self._directories, self._hosting)
            self._worker.result()
            self._start()
            while not wait([self._worker], POLL_INTERVAL_S) and not all(
                has_player(each.folder, each.contest) for each in self._directories
            ):
                pass
            return super().__enter__()
        except BaseException:
            self.finish()
            raise

    def _start(self) -> None:
        self._worker.start(play_contests, self._directories, self._hosting)

    def step(self) -> float:
        """Start the process again when it is lost. Raises HostError then."""
        if self._worker.pid is None:
            if time.monotonic() >= self._start_at:
                self._start()
            return POLL_INTERVAL_S
        if wait([self._worker], POLL_INTERVAL_S):
            error = self._worker.exception()
            self._worker.kill()
            now = time.monotonic()
            self._pause_s = min(LONGEST_PAUSE_S, 2 * self._pause_s) if now - self._start_at < LONGEST_PAUSE_S else 1.0
            self._start_at = now + self._pause_s
            raise HostError(f"the process that plays was lost and is started again: {error}")
        return 0.0

    def finish(self) -> None:
        kill([self._worker], STOP_S)


# --- in the process that plays ---------------------------------------------------------------------------------------


def check_hosts(directories: Sequence[IntakeDirectory], hosting: Hosting) -> None:
    """Raise HostError if this host cannot process the submissions of a contest."""
    for directory in directories:
        hosting(directory, log_wait)


def play_contests(directories: Sequence[IntakeDirectory], hosting: Hosting) -> None:
    """Process submissions, play practice games and contests, and export those that are over, until a signal.

    Raises HostError without an Engine. A mistake in a contest's file, or its unreachable store, stops only this
    contest, until it is repaired.
    """
    with ExitStack() as stack:
        for directory in directories:
            stack.enter_context(_ContestLoop(directory, hosting))
        Event().wait()


class _ContestLoop(ServiceLoop):
    """Opens what plays a contest, and writes its status; as a context manager."""

    def __init__(self, directory: IntakeDirectory, hosting: Hosting) -> None:
        self._directory = directory
        self._hosting = hosting
        self._files = PlayerFiles(directory.folder, directory.contest)
        self._stack = ExitStack()
        self._host: tuple[Processor, Workplace | None] | None = None
        self._jobs: BackgroundJobs[Submission] | None = None
        self._mistake = ""
        self._failure = ""
        """Why it cannot be opened, although its file has no mistake."""
        self._pause_s = 1.0
        self._open_at = 0.0
        self._host_check = HostCheck(self._files)
        super().__init__(f"player of {directory.contest}", self.step)

    def __enter__(self) -> Self:
        """Raises HostError without an Engine."""
        try:
            with suppress(InputError):  # reported by the first step
                self._host = self._hosting(self._directory, log_wait)
            return super().__enter__()
        except BaseException:
            self._close()
            raise

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._close()

    def _close(self) -> None:
        self._host_check.close()
        self._stack.close()
        self._files.close()

    def _open(self) -> None:
        """Open what plays the contest, or note why it cannot be opened. The step after a pause tries it again."""
        directory, mistake, failure = self._directory, "", ""
        try:
            planned = None if directory.plan is None else load_plan(directory.plan)
            if self._host is None:
                self._host = self._hosting(directory, log_wait)
            self._jobs = self._stack.enter_context(_playing(directory, planned, self._files, *self._host))
        except InputError as error:
            mistake = str(error)
        except Exception as error:  # noqa: BLE001 - such as an unreachable store
            failure = f"{type(error).__name__}: {error}"
            self._open_at = time.monotonic() + self._pause_s
            self._pause_s = min(LONGEST_PAUSE_S, 2 * self._pause_s)
        if (mistake, failure) not in (("", ""), (self._mistake, self._failure)):
            log.error("a contest is not played", contest=directory.contest, error=mistake or failure)
        self._mistake, self._failure = mistake, failure

    def step(self) -> float:
        """Open what could not be opened, examine the host, and write the status."""
        try:
            if self._jobs is None and time.monotonic() >= self._open_at:
                self._open()
            has_jobs = self._jobs is not None and bool(self._jobs.running)
            self._host_check.step(is_playing=has_jobs or player_of(self._directory.folder) is not None)
        finally:
            self._write_status()
        return POLL_INTERVAL_S

    def _write_status(self) -> None:
        waiting = () if self._jobs is None else tuple(run.job.id for run in self._jobs.running if run.is_held)
        status = PlayerStatus(
            waiting=waiting,
            problems=(*stalled_loops(), *([MISTAKE] * bool(self._mistake)), *([NOT_OPENED] * bool(self._failure))),
            mistake=self._mistake,
            findings=tuple(self._host_check.findings),
            checked_at=self._host_check.checked_at,
        )
        self._files.write(status)


@contextmanager
def _playing(
    directory: IntakeDirectory, planned: Planned | None, files: PlayerFiles, process: Processor, host: Workplace | None
) -> Iterator[BackgroundJobs[Submission]]:
    with (
        working(directory) as worker,
        closing(directory.register()) as register,
        closing(directory.practice_games()) as games,
        ExitStack() as stack,
    ):
        sweep(directory.uploads)
        register.remove_unregistered(directory.files, datetime.now(UTC) - UNREGISTERED_AGE)
        played = directory.intake.practice_games if host is not None else 0
        jobs = stack.enter_context(submission_jobs(directory, process, register, worker, played))
        if host is not None:
            stack.enter_context(practice_jobs(directory, host, games))
        if planned is not None:
            stack.enter_context(ContestPlayer(planned, register, ContestProcess(planned.path), files))
        yield jobs


def log_wait(text: str) -> None:
    """Log which process this one waits for."""
    log.info(text)
