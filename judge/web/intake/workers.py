"""Worker processes that each process one submission at a time.

A thread assigns due submissions and limits their time. A killed or hanging worker costs its submission one try.
"""

import signal
import time
from contextlib import closing
from dataclasses import dataclass
from threading import Event, Thread
from types import FrameType

from sqlalchemy.exc import SQLAlchemyError

from judge.base.errors import JudgeError
from judge.base.logs import get_logger
from judge.base.worker_processes import Worker, kill, wait
from judge.contest.entries import current_intake
from judge.store.submissions import Register
from judge.store.types import State, Submission
from judge.submissions.pipeline import Processor
from judge.submissions.service import IntakeDirectory, process_claimed, requeue_lost, waits_for_a_core
from judge.web.kit import logs

POLL_INTERVAL_S = 1.0
GONE_S = 60.0
POLITE_S = 10.0

log = get_logger()


@dataclass(slots=True)
class Running:
    """`spent_s` excludes waiting for cores."""

    taken: Submission
    worker: Worker[State]
    looked: float
    spent_s: float = 0.0

    def look(self) -> None:
        """Count the time since the last call."""
        now = time.monotonic()
        if self.worker.pid is None or not waits_for_a_core(self.worker.pid):
            self.spent_s += now - self.looked
        self.looked = now


class Workers:
    """`worker` is their name in the store."""

    def __init__(
        self, directory: IntakeDirectory, process: Processor, register: Register, worker: str, practice: int = 0
    ) -> None:
        """`process` must be importable by name."""
        self._practice = practice
        self._directory = directory
        self._process = process
        self._register = register
        self._worker = worker
        self._idle: list[Worker[State]] = [Worker(prepare) for _ in range(directory.intake.workers)]
        self._running: dict[Worker[State], Running] = {}
        self._wake = Event()
        self._end = Event()
        self._thread = Thread(target=self._run, name="workers")
        self._swept = -GONE_S

    def start(self) -> None:
        """Start processing due submissions."""
        self._thread.start()

    def wake(self) -> None:
        """Notify of a new submission."""
        self._wake.set()

    def stop(self) -> None:
        """End every worker; their submissions become due again."""
        self._end.set()
        self._wake.set()
        self._thread.join()

    def is_held(self, number: int) -> bool:
        """Whether a submission waits for a slot that another judge has."""
        pids = [run.worker.pid for run in list(self._running.values()) if run.taken.id == number]
        return any(pid is not None and waits_for_a_core(pid) for pid in pids)

    @property
    def is_alive(self) -> bool:
        """Whether submissions are processed."""
        return self._thread.is_alive()

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                self._look()
            except (JudgeError, SQLAlchemyError) as error:
                log.error("the store of submissions does not answer", error=str(error))  # noqa: TRY400 - a sentence
                self._swept = -GONE_S  # may have changed
                self._end.wait(POLL_INTERVAL_S)
        kill(self._running, POLITE_S)
        for run in self._running.values():
            self._register.release(run.taken.id, run.taken.attempt, "the service was stopped")
        for worker in self._idle:
            worker.close()

    def _look(self) -> None:
        self._wake.clear()
        if time.monotonic() - self._swept > GONE_S:
            running = [(run.taken.id, run.taken.attempt) for run in self._running.values()]
            for number in requeue_lost(self._directory, self._register, self._worker, running):
                log.warning("its process ended; it is processed again", submission=number)
            self._swept = time.monotonic()
        while self._idle and (taken := self._register.take(self._worker)) is not None:
            log.info("processing", submission=taken.id, attempt=taken.attempt, author=taken.author)
            worker = self._idle.pop()
            worker.start(process_job, self._directory, self._process, taken, self._practice)
            self._running[worker] = Running(taken, worker, time.monotonic())
        if not self._running:
            self._wake.wait(POLL_INTERVAL_S)
            return
        for worker in wait(self._running, POLL_INTERVAL_S):
            self._settle(worker)
        for worker, run in list(self._running.items()):
            run.look()
            if run.spent_s > self._directory.intake.process_s:
                worker.kill()
                self._settle(worker)

    def _settle(self, worker: Worker[State]) -> None:
        run = self._running.pop(worker)
        self._idle.append(worker)
        error = worker.exception()
        if error is None:
            log.info(str(worker.result()), submission=run.taken.id, attempt=run.taken.attempt)
            return
        worker.kill()
        why = f"the worker was lost ({type(error).__name__})"
        taken, intake = run.taken, self._directory.intake
        if run.spent_s > intake.process_s:
            steps = [step for step in self._register.steps(taken.id) if step.attempt == taken.attempt]
            reached = f"; the last step was {steps[-1].stage}" if steps else ""
            why = f"it took more than {intake.process_s:g} s{reached}"
        log.error("processing failed", submission=taken.id, attempt=taken.attempt, why=why)
        self._register.fail(taken.id, taken.attempt, why, intake.tries, intake.again_s)


def process_job(directory: IntakeDirectory, process: Processor, taken: Submission, practice: int) -> State:
    """Process a submission; return its new state."""
    with closing(directory.register()) as register:
        directory = current_intake(directory, register)
        return process_claimed(directory, register, taken, process, practice=practice).state


def prepare() -> None:
    """Set up log, and clean-up on SIGTERM."""
    signal.signal(signal.SIGTERM, _terminate)
    logs.configure()


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    # Removes the submission's containers.
    raise SystemExit(143)
