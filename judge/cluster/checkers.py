"""Checks the answers of workers in separate processes: the same referee replays the transcript.

A replay cannot check what the agents wrote and when, within the time that the game took as seen from here, nor the
contents of their folders. Fetching and replaying a record may take seconds. Each process has one answer at a time; the
others wait with their workers.
"""

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import LifoQueue

from judge.base.errors import InputError
from judge.base.parsing import parse_json
from judge.base.worker_processes import Worker, WorkerLostError
from judge.cluster.messages import Answer, Played, read_answer
from judge.cluster.unpickling import own_pickles
from judge.contest.worker import Job, JobResult, job_result
from judge.referee.spec import RecordFile
from judge.referee.verify import verify
from judge.sandbox.archive import EMPTY, UnkeptError, measure_folder

MAX_PROCESSES = 4
"""Also at most the number of processors."""

DRIFT = 1.001
"""How much faster the clock of an honest worker may run."""


class Checkers:
    """The processes. One starts when all others are busy."""

    def __init__(self) -> None:
        """Start nothing."""
        most = min(MAX_PROCESSES, len(os.sched_getaffinity(0)))
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="checker")
        self._idle: LifoQueue[Worker[JobResult | Answer]] = LifoQueue()
        for _ in range(most):
            self._idle.put(Worker())

    def check(self, fetch: Callable[[], object], job: Job, elapsed_s: float) -> Future[JobResult | Answer]:
        """Fetch and check the answer for a job that was given to a worker `elapsed_s` seconds ago.

        The future raises what `fetch` raises, and InputError if the answer is refused.
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
                process.start(_checked_answer, job, data, elapsed_s)
                return process.result()
        except WorkerLostError as error:
            raise InputError(f"it could not be checked: {error}") from None
        finally:
            self._idle.put(process)


def _checked_answer(job: Job, data: object, elapsed_s: float) -> JobResult | Answer:
    answer = read_answer(data)
    return checked(job, answer, elapsed_s) if isinstance(answer, Played) else answer


def checked(job: Job, played: Played, elapsed_s: float) -> JobResult:
    """The result of a job that was given to a worker `elapsed_s` seconds ago.

    Raises InputError with the reason if the record is not of this job, does not replay to its result, or if the game
    lasted longer than it was away.
    """
    file = parse_json(RecordFile, played.record, "the record cannot be read")
    record = file.record
    if record.id != job.game.id or record.spec != job.spec():
        raise InputError(f"the record is of another game ({record.id})")
    if record.attempt != job.game.attempt:
        raise InputError(f"the record is of attempt {record.attempt}, not {job.game.attempt}")
    if problems := verify(file).problems:
        raise InputError(f"the record does not replay: {'; '.join(problems)[:1000]}")
    last_ns = max((ns for block in file.transcript.blocks for ns, *_ in block.entries), default=0)
    longest_s = max(record.seconds, last_ns / 1e9)
    if record.seconds < 0 or longest_s > elapsed_s * DRIFT:
        raise InputError(f"the game lasted {longest_s:.1f} s by the record, but was away for {elapsed_s:.1f} s only")
    _check_states(job, file, played)
    return job_result(file, played.states)


def _check_states(job: Job, file: RecordFile, played: Played) -> None:
    """Every state that the record names is there, and no other."""
    named = {folder.digest for seat in file.record.seats for folder in seat.folders.values()}
    if named - job.states.keys() - {EMPTY.digest} != played.states.keys() - job.states.keys():
        raise InputError("the states of folders are not those that the record names")
    for digest, data in played.states.items():
        if hashlib.sha256(data).hexdigest() != digest:
            raise InputError(f"the folder's state {digest[:12]} has another digest")
        try:
            measure_folder(data)
        except UnkeptError as error:
            raise InputError(f"the folder's state {digest[:12]} cannot be used: {error}") from None
