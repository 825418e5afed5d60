"""Processes that check the answers of workers, while the loop of the contest goes on.

A record may take seconds to be replayed, and its worker seconds to give it. Each checker has one answer at a time, so
few are in memory; the others wait with their workers.
"""

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import LifoQueue

from judge.base.errors import InputError
from judge.base.worker_processes import Worker, WorkerLostError
from judge.cluster.checks import checked
from judge.cluster.messages import Answer, Played, read_answer
from judge.cluster.unpickling import own_pickles
from judge.contest.worker import Job, JobResult

MOST = 4
"""So many answers are checked at once, and never more than there are processors."""


class Checkers:
    """See above. A process starts when all others are busy."""

    def __init__(self) -> None:
        """Start nothing."""
        most = min(MOST, len(os.sched_getaffinity(0)))
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="checker")
        self._idle: LifoQueue[Worker[JobResult | Answer]] = LifoQueue()
        for _ in range(most):
            self._idle.put(Worker())

    def check(self, fetch: Callable[[], object], job: Job, elapsed_s: float) -> Future[JobResult | Answer]:
        """What `fetch` returns for a job that was given to a worker `elapsed_s` seconds ago: the result of a match that
        was played, or what else the worker says.

        The future raises what `fetch` does, InputError where the answer is not to be believed.
        """
        return self._threads.submit(self._check, fetch, job, elapsed_s)

    def close(self) -> None:
        """End the processes. Answers that are being checked are checked to their end, others are dropped."""
        self._threads.shutdown(cancel_futures=True)
        while not self._idle.empty():
            self._idle.get().close()

    def _check(self, fetch: Callable[[], object], job: Job, elapsed_s: float) -> JobResult | Answer:
        data = fetch()
        process = self._idle.get()
        try:
            with own_pickles():
                process.start(_said, job, data, elapsed_s)
                return process.result()
        except WorkerLostError as error:
            raise InputError(f"it could not be checked: {error}") from None
        finally:
            self._idle.put(process)


def _said(job: Job, data: object, elapsed_s: float) -> JobResult | Answer:
    answer = read_answer(data)
    return checked(job, answer, elapsed_s) if isinstance(answer, Played) else answer
