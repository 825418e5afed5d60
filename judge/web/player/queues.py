"""The queues of a service: submissions to process, and practice games to play in free slots.

A thread starts due jobs in worker processes, and ends those that take too long. A killed or hanging worker costs its
job one try.
"""

import signal
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any, Generic, Protocol, TypeVar

from judge.base.logs import get_logger
from judge.base.scheduling import lower_priority, raise_oom_score
from judge.base.service_loop import RETRY_INTERVAL_S, ServiceLoop
from judge.base.worker_processes import Worker, kill, wait
from judge.contest.entries import current_intake
from judge.journal.events import SubmissionState
from judge.sandbox.machine import cores
from judge.store.practice_games import PracticeGame, PracticeGames
from judge.store.submissions import Register
from judge.store.types import Submission
from judge.submissions.pipeline import Processor, Workplace
from judge.submissions.practice import play_next
from judge.submissions.service import IntakeDirectory, process_claimed, requeue_lost, working
from judge.web.kit import logs

SWEEP_INTERVAL_S = 60.0

Job = TypeVar("Job")

log = get_logger()


@dataclass(slots=True, eq=False)
class Running(Generic[Job]):
    """A job in a worker; `spent_s` excludes waiting for cores."""

    job: Job
    worker: Worker[Any]
    counted_at: float
    spent_s: float = 0.0

    @property
    def is_held(self) -> bool:
        """Whether it waits for a slot that another judge has."""
        pid = self.worker.pid
        return pid is not None and cores.waits(pid)

    def count_time(self) -> None:
        now = time.monotonic()
        self.spent_s += 0 if self.is_held else now - self.counted_at
        self.counted_at = now


class JobQueue(Protocol[Job]):
    """Where jobs come from. Each method may raise; a later `sweep` repeats it."""

    def sweep(self, running: list[Job]) -> None:
        """Put back the jobs of processes that ended; `running` are those of this process."""

    def take(self, running: list[Job]) -> Job | None:
        """The next due job, which is now this process's; `running` as of `sweep`."""

    def start(self, job: Job, worker: Worker[Any]) -> None:
        """Start its task in a worker."""

    def must_end(self, run: Running[Job]) -> str:
        """Why a job must be ended now; empty if it may continue."""

    def ended(self, job: Job, result: Any) -> bool:
        """Note a result; return whether the next job may begin at once."""

    def failed(self, run: Running[Job], error: Exception, why: str) -> None:
        """Count a try that failed; `why` as in `must_end`, or empty."""

    def give_back(self, job: Job, why: str) -> None:
        """Make a job due again that did not fail."""


class BackgroundJobs(ServiceLoop, Generic[Job]):
    """The processes of a queue, as a context manager."""

    def __init__(
        self, name: str, queue: JobQueue[Job], workers: list[Worker[Any]], *, poll_s: float, stop_s: float, end_s: float
    ) -> None:
        """`workers` have not been started. `poll_s`: interval of looks at running jobs. `stop_s` and `end_s`: from
        SIGTERM to SIGKILL, when the service stops, and when a job must end.
        """
        self._queue = queue
        self._poll_s, self._stop_s, self._end_s = poll_s, stop_s, end_s
        self._idle = workers
        self._running: dict[Worker[Any], Running[Job]] = {}
        self._swept_at = -SWEEP_INTERVAL_S
        self._take_at = 0.0
        super().__init__(name, self.step, self.finish)

    @property
    def running(self) -> list[Running[Job]]:
        """The running jobs. Thread-safe."""
        return list(self._running.values())

    def step(self) -> float:
        """Settle jobs that have ended, and begin those that are due."""
        try:
            for worker in wait(self._running, 0):
                self._settle(self._running[worker])
            for run in self.running:
                run.count_time()
                if why := self._queue.must_end(run):
                    kill([run.worker], self._end_s)
                    self._settle(run, why)
            if time.monotonic() - self._swept_at > SWEEP_INTERVAL_S:
                self._queue.sweep([run.job for run in self.running])
                self._swept_at = time.monotonic()
            while self._idle and time.monotonic() >= self._take_at:
                job = self._queue.take([run.job for run in self.running])
                if job is None:
                    break
                self._start(job)
        except Exception:
            self._swept_at = -SWEEP_INTERVAL_S  # the queue may have other jobs of this process
            raise
        if not self._running:
            return RETRY_INTERVAL_S
        wait(self._running, self._poll_s)
        return 0.0

    def _start(self, job: Job) -> None:
        worker = self._idle.pop()
        try:
            self._queue.start(job, worker)
        except BaseException as error:
            try:
                worker.kill()
            finally:
                self._idle.append(worker)
                self._queue.give_back(job, f"its process was not started ({type(error).__name__})")
            raise
        self._running[worker] = Running(job, worker, time.monotonic())

    def _settle(self, run: Running[Job], why: str = "") -> None:
        error = run.worker.exception()
        del self._running[run.worker]
        self._idle.append(run.worker)
        if error is None:
            if not self._queue.ended(run.job, run.worker.result()):
                self._take_at = time.monotonic() + RETRY_INTERVAL_S
            return
        self._take_at = time.monotonic() + RETRY_INTERVAL_S
        run.worker.kill()
        self._queue.failed(run, error, why)

    def finish(self) -> None:
        """End the running jobs, which are due again."""
        kill(self._running, self._stop_s)
        for run in self.running:
            with suppress(Exception):  # swept after the next start
                self._queue.give_back(run.job, "the service was stopped")
        for worker in self._idle:
            worker.close()


# --- the queues -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SubmissionQueue:
    """Submissions, taken by this process under the name `worker`. `process` must be importable by name."""

    directory: IntakeDirectory
    process: Processor
    register: Register
    worker: str
    practice: int = 0

    def sweep(self, running: Sequence[Submission]) -> None:
        kept = [(taken.id, taken.attempt) for taken in running]
        for number in requeue_lost(self.directory, self.register, self.worker, kept):
            log.warning("its process ended; it is processed again", submission=number)

    def take(self, running: Sequence[Submission]) -> Submission | None:
        return self.register.take(self.worker, busy=[job.author for job in running])

    def start(self, job: Submission, worker: Worker[SubmissionState]) -> None:
        log.info("processing", submission=job.id, attempt=job.attempt, author=job.author)
        worker.start(process_job, self.directory, self.process, job, self.practice)

    def must_end(self, run: Running[Submission]) -> str:
        """A submission has limited time, which a withdrawal or another attempt ends."""
        if why := self._replaced(run.job):
            return why
        limit_s = self.directory.intake.process_s
        return f"it took more than {limit_s:g} s" if run.spent_s > limit_s else ""

    def _replaced(self, job: Submission) -> str:
        stored = self.register.get(job.id)
        if stored.state is SubmissionState.WITHDRAWN:
            return "it was withdrawn"
        return "" if stored.attempt == job.attempt else "another process began it again"

    def ended(self, job: Submission, result: SubmissionState) -> bool:
        """The worker has stored its state."""
        log.info(str(result), submission=job.id, attempt=job.attempt)
        return True

    def failed(self, run: Running[Submission], error: Exception, why: str) -> None:
        """Store why; it is due again, unless it failed too often."""
        taken, intake = run.job, self.directory.intake
        if replaced := self._replaced(taken):
            log.info("its processing was ended", submission=taken.id, attempt=taken.attempt, why=replaced)
            return
        if why:
            steps = self.register.steps(taken)
            why += f"; the last step was {steps[-1].stage}" if steps else ""
        else:
            why = f"the worker was lost ({type(error).__name__})"
        log.error("processing failed", submission=taken.id, attempt=taken.attempt, why=why)
        self.register.fail(taken.id, taken.attempt, why, intake.tries, intake.again_s)

    def give_back(self, job: Submission, why: str) -> None:
        """It is due at once."""
        self.register.release(job.id, job.attempt, why)


@dataclass(frozen=True, slots=True)
class PracticeQueue:
    """Practice games. A job is any due game: the worker takes it when it has a slot."""

    directory: IntakeDirectory
    host: Workplace
    games: PracticeGames

    def sweep(self, _running: Sequence[bool]) -> None:
        """Remove old records, and requeue games of processes that ended."""
        limits = self.directory.intake
        if forgotten := self.games.forget_records(limits.practice_days, self.directory.practice_records):
            log.info("the records of practice games were removed", games=forgotten)
        for number in requeue_lost(self.directory, self.games):
            log.warning("the process that played it ended; it is played again", practice_game=number)

    def take(self, _running: Sequence[bool]) -> bool | None:
        """True if a game is due."""
        return self.games.is_due() or None

    def start(self, _job: bool, worker: Worker[PracticeGame | None]) -> None:
        worker.start(play_job, self.directory, self.host)

    def must_end(self, run: Running[bool]) -> str:
        """Contest games and checks have precedence."""
        return "a practice game gave up its slot" if run.worker.pid and cores.is_waited_for(run.worker.pid) else ""

    def ended(self, _job: bool, result: PracticeGame | None) -> bool:
        """The worker has stored the result; without a slot, wait."""
        if result is not None:
            log.info("practice game played", practice_game=result.id, attempt=result.attempt)
        return result is not None

    def failed(self, _run: Running[bool], error: Exception, why: str) -> None:
        """The game is requeued."""
        if why:
            log.info(why)
        else:
            log.error("the worker of a practice game was lost", error=f"{type(error).__name__}: {error}")
        self.sweep([])

    def give_back(self, job: bool, why: str) -> None:
        """Nothing was taken."""


def submission_jobs(
    directory: IntakeDirectory, process: Processor, register: Register, worker: str, practice: int = 0
) -> BackgroundJobs[Submission]:
    """Process submissions; arguments as of `SubmissionQueue`."""
    queue = SubmissionQueue(directory, process, register, worker, practice)
    workers = [Worker[SubmissionState](_prepare_check) for _ in range(directory.intake.workers)]
    return BackgroundJobs("submissions", queue, workers, poll_s=1.0, stop_s=10.0, end_s=0.0)


def practice_jobs(directory: IntakeDirectory, host: Workplace, games: PracticeGames) -> BackgroundJobs[bool]:
    """Play practice games."""
    workers = [Worker[PracticeGame | None](_prepare_practice) for _ in range(directory.intake.workers)]
    queue = PracticeQueue(directory, host, games)
    return BackgroundJobs("practice games", queue, workers, poll_s=0.1, stop_s=2.0, end_s=2.0)


# --- in the worker process -------------------------------------------------------------------------------------------


def process_job(directory: IntakeDirectory, process: Processor, taken: Submission, practice: int) -> SubmissionState:
    """Process a submission; return its new state."""
    with closing(directory.register()) as register:
        directory = current_intake(directory, register)
        return process_claimed(directory, register, taken, process, practice=practice).state


def play_job(directory: IntakeDirectory, host: Workplace) -> PracticeGame | None:
    """Play the next game. Return None without a game or slot."""
    with (
        working(directory) as name,
        closing(directory.register()) as register,
        closing(directory.practice_games()) as games,
    ):
        return play_next(directory, games, register, host, name)


def prepare() -> None:
    """Set up log, and clean-up on SIGTERM."""
    signal.signal(signal.SIGTERM, _terminate)
    logs.configure()


def _prepare_check() -> None:
    prepare()
    # An upload that exhausts the memory must end its own worker, which counts as a try, and not the player.
    raise_oom_score()


def _prepare_practice() -> None:
    _prepare_check()
    lower_priority()


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    # Removes the containers of its job.
    raise SystemExit(143)
