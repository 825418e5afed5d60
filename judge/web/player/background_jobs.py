"""Jobs of a queue in worker processes.

A thread starts due jobs, and ends those that take too long. A killed or hanging worker costs its job one try.
"""

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from judge.base.logs import get_logger
from judge.base.service_loop import RETRY_INTERVAL_S, ServiceLoop
from judge.base.worker_processes import Worker, kill, wait
from judge.sandbox.machine import cores

SWEEP_INTERVAL_S = 60.0

Job = TypeVar("Job")

log = get_logger()


@dataclass(frozen=True, slots=True)
class JobLimits:
    """Of a queue's processes."""

    poll_s: float
    """Interval of looks at running jobs."""
    stop_s: float
    """From SIGTERM to SIGKILL when the service stops."""
    end_s: float
    """From SIGTERM to SIGKILL when a job must end."""


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
        """Count the time since the last call."""
        now = time.monotonic()
        self.spent_s += 0 if self.is_held else now - self.counted_at
        self.counted_at = now


class JobQueue(Protocol[Job]):
    """Where jobs come from. Each method may raise; a later `sweep` repeats it."""

    def sweep(self, running: list[Job]) -> None:
        """Put back the jobs of processes that ended; `running` are those of this process."""

    def take(self) -> Job | None:
        """The next due job, which is now this process's."""

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

    def __init__(self, name: str, queue: JobQueue[Job], workers: list[Worker[Any]], limits: JobLimits) -> None:
        """`workers` have not been started."""
        self._queue = queue
        self._limits = limits
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
                    kill([run.worker], self._limits.end_s)
                    self._settle(run, why)
            if time.monotonic() - self._swept_at > SWEEP_INTERVAL_S:
                self._queue.sweep([run.job for run in self.running])
                self._swept_at = time.monotonic()
            while self._idle and time.monotonic() >= self._take_at and (job := self._queue.take()) is not None:
                self._start(job)
        except Exception:
            self._swept_at = -SWEEP_INTERVAL_S  # the queue may have other jobs of this process
            raise
        if not self._running:
            return RETRY_INTERVAL_S
        wait(self._running, self._limits.poll_s)
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
        kill(self._running, self._limits.stop_s)
        for run in self.running:
            with suppress(Exception):  # swept after the next start
                self._queue.give_back(run.job, "the service was stopped")
        for worker in self._idle:
            worker.close()
