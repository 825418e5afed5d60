"""Checks workers' answers in separate processes by replaying transcripts.

A replay cannot verify what agents wrote, when (within the game's time as measured here), or the contents of their
folders.
"""

import hashlib
import os
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from queue import LifoQueue
from typing import Any

from distributed import Future as Task

from judge.base.errors import HostError, InputError
from judge.base.parsing import parse_json
from judge.base.worker_processes import Worker, WorkerLostError, wait
from judge.cluster.bounded_messages import own_pickles
from judge.cluster.connection import SchedulerConnection
from judge.cluster.messages import Answer, Played, read_answer
from judge.contest.attempts import EndedAttempt, Job, outcome_and_record
from judge.play.folders import kept_folder
from judge.record.bounds import MAX_RECORD_BYTES
from judge.record.spec import GameSpec, RecordFile
from judge.referee.verify import verify
from judge.sandbox.archive import EMPTY, UnkeptError, parse_folder
from judge.sandbox.box import FolderKind

MAX_PROCESSES = 4

MAX_FETCHES = 8
"""Answers that arrive or wait for a process. A slow line must not delay those of other workers."""

CHECK_S = 600.0
"""Timeout of a check. An answer of n bytes gets n / `CHECK_BYTES_PER_S` seconds more."""

CHECK_BYTES_PER_S = 1 << 17

DRIFT = 1.001
"""Maximum speed of an honest clock relative to this host's."""

MAX_CLOCK_ERROR_S = 12 * 3600.0
"""Maximum difference of a worker's time from this host's. The verifier allows twice as much."""


class Checkers:
    """Starts a process when all others are busy."""

    def __init__(self, connection: SchedulerConnection) -> None:
        self._connection = connection
        most = min(MAX_PROCESSES, len(os.sched_getaffinity(0)))
        self._threads = ThreadPoolExecutor(MAX_FETCHES, thread_name_prefix="checker")
        self._idle: LifoQueue[Worker[EndedAttempt | Answer]] = LifoQueue()
        for _ in range(most):
            self._idle.put(Worker())

    def check(self, task: Task[Any], largest: int, job: Job, elapsed_s: float) -> Future[EndedAttempt | Answer]:
        """Fetch and check the answer of a task for a job given `elapsed_s` ago; arguments as of
        `SchedulerConnection.fetch`.

        The future raises errors of `fetch`, InputError for a refused answer, and HostError if this host could not check
        it.
        """
        return self._threads.submit(self._check, task, largest, job, elapsed_s)

    def close(self) -> None:
        """Running checks finish; waiting answers are dropped."""
        self._threads.shutdown(cancel_futures=True)
        while not self._idle.empty():
            self._idle.get().close()

    def _check(self, task: Task[Any], largest: int, job: Job, elapsed_s: float) -> EndedAttempt | Answer:
        data = self._connection.fetch(task, largest)
        process = self._idle.get()
        try:
            with own_pickles():
                return _check_in(process, job, data, elapsed_s)
        finally:
            self._idle.put(process)


def _check_in(
    process: Worker[EndedAttempt | Answer], job: Job, data: object, elapsed_s: float
) -> EndedAttempt | Answer:
    try:
        process.start(_checked_answer, job, data, elapsed_s)
    except OSError as error:
        process.kill()
        raise HostError(f"no process can be started to check it: {error}") from None
    limit_s = CHECK_S + (len(data) / CHECK_BYTES_PER_S if isinstance(data, bytes) else 0)
    if not wait([process], limit_s):
        process.kill()
        raise HostError(f"its check took more than {limit_s:.0f} s")
    try:
        return process.result()
    except (WorkerLostError, OSError, MemoryError) as error:
        process.kill()
        raise HostError(f"its check did not end: {type(error).__name__}: {error}") from None


def _checked_answer(job: Job, data: object, elapsed_s: float) -> EndedAttempt | Answer:
    answer = read_answer(data)
    return checked(job, answer, elapsed_s) if isinstance(answer, Played) else answer


def checked(job: Job, played: Played, elapsed_s: float) -> EndedAttempt:
    """The result of a job given `elapsed_s` ago.

    Raises InputError if the record is of another job, does not replay, or claims a longer game.
    """
    file = parse_json(RecordFile, played.record, "the record cannot be read")
    record = file.record
    if record.id != job.game.id or record.spec != job.spec():
        raise InputError(f"the record is of another game ({record.id})")
    if record.attempt != job.game.attempt:
        raise InputError(f"the record is of attempt {record.attempt}, not {job.game.attempt}")
    if problems := verify(file).problems:
        raise InputError(f"the record does not replay: {'; '.join(problems)[:1000]}")
    if record.seconds > elapsed_s * DRIFT:
        raise InputError(
            f"the record claims a game of {record.seconds:.1f} s, but the worker had it for {elapsed_s:.1f} s"
        )
    _check_time(record.started_at, elapsed_s)
    _check_states(job, file, played)
    outcome, data = outcome_and_record(file)
    if len(data) > MAX_RECORD_BYTES:
        raise InputError(f"the record has {len(data)} bytes, and a record has at most {MAX_RECORD_BYTES}")
    return EndedAttempt(job.game, outcome, data, played.states)


def _check_time(started_at: str, elapsed_s: float) -> None:
    """Refuse a time with which the contest's export would not be verified."""
    late_s = (datetime.now(UTC) - datetime.fromisoformat(started_at)).total_seconds()
    if not -MAX_CLOCK_ERROR_S <= late_s <= elapsed_s + MAX_CLOCK_ERROR_S:
        raise InputError(
            f"the record claims that the game began at {started_at}, {abs(late_s):.0f} s from now, and the worker had "
            f"it for {elapsed_s:.0f} s: set the clocks of both machines"
        )


def _check_states(job: Job, file: RecordFile, played: Played) -> None:
    named = {folder.digest for seat in file.record.seats for folder in seat.folders.values()}
    if named - job.states.keys() - {EMPTY.digest} != played.states.keys() - job.states.keys():
        raise InputError("the folder states differ from those that the record names")
    for digest, data in played.states.items():
        if hashlib.sha256(data).hexdigest() != digest:
            raise InputError(f"the folder's state {digest[:12]} has another digest")
    for number, seat in enumerate(file.record.seats):
        for kind, folder in seat.folders.items():
            # A state of the job may be the opponent's, or of a folder with another quota.
            state = {**job.states, **played.states}.get(folder.digest)
            _check_folder(file.record.spec, number, kind, state)


def _check_folder(spec: GameSpec, seat: int, kind: FolderKind, data: bytes | None) -> None:
    """Refuse what the agent's next game, or an import of its folder, would refuse."""
    folder = kept_folder(spec, seat, kind, EMPTY)
    if data is None:
        return  # empty
    try:
        state, notes = parse_folder(data, folder.room)
    except UnkeptError as error:
        raise InputError(f"the {kind} folder of {spec.seats[seat].name} cannot be used: {error}") from None
    if notes or state.digest != hashlib.sha256(data).hexdigest():
        why = (*notes, "in another order")[0]
        raise InputError(f"the {kind} folder of {spec.seats[seat].name} was not packed by a judge: {why}")
