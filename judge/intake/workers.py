"""The workers take what is due, one submission a process: one that is killed or hangs costs its submission a try.

The queue is the register: what waits, waits on the disk. A thread of the service gives the workers what is due and
minds their time; whatever is killed when, what was being processed is given back and processed again.
"""

import signal
import time
from contextlib import closing
from dataclasses import dataclass
from threading import Event, Thread
from types import FrameType

from sqlalchemy.exc import SQLAlchemyError

from judge.errors import JudgeError
from judge.intake import logs
from judge.logs import get_logger
from judge.store.register import Register
from judge.store.submission import State, Submission
from judge.submissions.pipeline import Processor
from judge.submissions.service import IntakeDirectory, process_taken, requeue_lost, waits_for_a_core
from judge.workers import Worker, kill, wait

LOOK_S = 1.0
"""How often the thread looks for what is due again, and for what takes too long."""
GONE_S = 60.0
"""How often it looks whether another process, such as a `judge submit`, was killed in the middle of one."""
POLITE_S = 10.0
"""How long a worker has to clear away when the service ends."""

log = get_logger()


@dataclass(slots=True)
class Running:
    """One submission that is processed; `spent_s` is without the time in which its worker waited for a core."""

    taken: Submission
    worker: Worker[State]
    looked: float
    """When it was last looked at, on the monotonic clock."""
    spent_s: float = 0.0

    def look(self) -> None:
        """Count the time since the last look."""
        now = time.monotonic()
        if self.worker.pid is None or not waits_for_a_core(self.worker.pid):
            self.spent_s += now - self.looked
        self.looked = now


class Workers:
    """The workers of one service; `worker` is the name under which they take submissions."""

    def __init__(self, desk: IntakeDirectory, process: Processor, register: Register, worker: str) -> None:
        """`process` must be importable by name: the workers are other processes."""
        self._desk = desk
        self._process = process
        self._register = register
        self._worker = worker
        self._idle: list[Worker[State]] = [Worker(_prepare) for _ in range(desk.intake.workers)]
        self._running: dict[Worker[State], Running] = {}
        self._wake = Event()
        self._end = Event()
        self._thread = Thread(target=self._run, name="workers")
        self._swept = -GONE_S

    def start(self) -> None:
        """Begin with what is due."""
        self._thread.start()

    def wake(self) -> None:
        """Something came in."""
        self._wake.set()

    def stop(self) -> None:
        """End every worker; what they were processing is due again."""
        self._end.set()
        self._wake.set()
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        """Whether what comes in will be processed."""
        return self._thread.is_alive()

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                self._look()
            except (JudgeError, SQLAlchemyError) as error:
                log.error("the register cannot be asked", error=str(error))  # noqa: TRY400 - a sentence
                self._end.wait(LOOK_S)
        self._end_all()

    def _look(self) -> None:
        self._wake.clear()
        if time.monotonic() - self._swept > GONE_S:
            self._swept = time.monotonic()
            for number in requeue_lost(self._desk, self._register):
                log.warning("its judge was gone: it is processed again", submission=number)
        while self._idle and (taken := self._register.take(self._worker)) is not None:
            self._give(taken)
        if not self._running:
            self._wake.wait(LOOK_S)
            return
        for worker in wait(self._running, LOOK_S):
            self._settle(worker)
        for worker, run in list(self._running.items()):
            run.look()
            if run.spent_s > self._desk.intake.process_s:
                worker.kill()
                self._settle(worker)

    def _give(self, taken: Submission) -> None:
        log.info("processing", submission=taken.id, attempt=taken.attempt, author=taken.author)
        worker = self._idle.pop()
        worker.start(process_job, self._desk, self._process, taken)
        self._running[worker] = Running(taken, worker, time.monotonic())

    def _settle(self, worker: Worker[State]) -> None:
        run = self._running.pop(worker)
        self._idle.append(worker)
        error = worker.exception()
        if error is None:
            log.info(str(worker.result()), submission=run.taken.id, attempt=run.taken.attempt)
            return
        worker.kill()  # it is gone, or in a state that nobody knows
        why = f"the worker was lost ({type(error).__name__})"
        if run.spent_s > self._desk.intake.process_s:
            why = f"it took more than {self._desk.intake.process_s:g} s{self._reached(run.taken)}"
        self._failed(run.taken, why)

    def _reached(self, taken: Submission) -> str:
        """The last stage that it came through, of this attempt; empty where it came through none."""
        steps = [step for step in self._register.steps(taken.id) if step.attempt == taken.attempt]
        return f"; it was {steps[-1].stage} by then" if steps else ""

    def _failed(self, taken: Submission, why: str) -> None:
        intake = self._desk.intake
        log.error("processing failed", submission=taken.id, attempt=taken.attempt, why=why)
        self._register.fail(taken.id, taken.attempt, why, intake.tries, intake.again_s)

    def _end_all(self) -> None:
        kill(self._running, POLITE_S)
        for run in self._running.values():
            self._register.release(run.taken.id, run.taken.attempt, "the service was ended")
        for worker in self._idle:
            worker.close()


def process_job(desk: IntakeDirectory, process: Processor, taken: Submission) -> State:
    """In a worker: process what was taken, and say what state it is in then."""
    with closing(desk.register()) as register:
        return process_taken(desk, register, taken, process).state


def _prepare() -> None:
    signal.signal(signal.SIGTERM, _terminate)
    logs.configure()


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    # What it has begun on the host is cleared away on its way out.
    raise SystemExit(143)
