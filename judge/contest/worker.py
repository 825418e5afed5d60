"""One game in a process of its own: a job goes in, how it ended and its record come out; nothing is kept here."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import structlog
from structlog.contextvars import bound_contextvars

from judge.errors import HostError, InputError
from judge.games.types import Verdict
from judge.locks import locked
from judge.logs import to_json
from judge.referee.play import Slot, Venue, play
from judge.referee.spec import MatchSpec, RecordFile
from judge.sandbox.archive import EMPTY, Archive, UnkeptError, measure
from judge.sandbox.core_locks import CoreLocks
from judge.sandbox.reaper import alone_on
from judge.store.types import Ended, Seat

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Job:
    """A game to play: its spec as JSON, its attempt, the agents' staged files by digest, and the states of the folders
    that its seats start from, by digest."""

    spec: str
    attempt: int
    programs: Mapping[str, Path]
    states: Mapping[str, bytes] = field(default_factory=dict)
    contest: str = ""
    """For the log."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """A game that was played: how it ended, its record as JSON, and the states that its folders were left in.

    `ended.record` is the digest of `record`; `states` are by digest too, without those that the job had.
    """

    ended: Ended
    record: bytes
    states: Mapping[str, bytes]

    @property
    def is_void(self) -> bool:
        """Whether nothing was scored."""
        return self.ended.verdict == Verdict.VOID.value


@dataclass(slots=True)
class JobShelf:
    """The folders' states of one job; see `judge.referee.folders.Shelf`."""

    states: Mapping[str, bytes]
    left: dict[str, bytes] = field(default_factory=dict)

    def get(self, _seat: int, digest: str) -> Archive:
        """A state that came with the job; InputError where it did not, or is not what its digest says."""
        if digest == EMPTY.digest:
            return EMPTY
        data = self.states.get(digest)
        if data is None or hashlib.sha256(data).hexdigest() != digest:
            raise InputError(f"the job does not have the folder's state {digest}")
        try:
            return measure(data)
        except UnkeptError as error:
            raise InputError(f"the folder's state {digest} cannot be used: {error}") from None

    def put(self, _seat: int, state: Archive) -> None:
        """Take a state in."""
        if state is not EMPTY:
            self.left[state.digest] = state.data


def log_to(path: Path | None) -> None:
    """In a worker process: write events to a file, for on stderr they would stand among the lines of its judge."""
    if path is not None:
        to_json(path.open("a", encoding="utf-8"))


def play_job(job: Job, slot: Slot, lock: Path | None = None, *, is_had: bool = False) -> JobResult:
    """Play a game in a slot; a void is an end too.

    `lock` is a file of the slot's: the game waits for its lock when everything is ready, and has it while it plays. So
    it does with the locks of its cores, unless the judge has them already: then it `is_had`.
    """
    if slot.judge_cores:
        os.sched_setaffinity(0, slot.judge_cores)
    spec = MatchSpec.model_validate_json(job.spec)
    shelf = JobShelf(job.states)
    shared = spec.policy.box.sharing > 1
    cores = CoreLocks(() if is_had else slot.cores, log.info, shared=shared)
    with bound_contextvars(contest=job.contest, match=spec.id, attempt=job.attempt):
        venue = Venue(slot, shelf, partial(_turn, lock, cores))
        file = play(spec, job.programs, job.attempt, venue)
    return played(file, shelf.left)


@contextmanager
def _turn(lock: Path | None, cores: CoreLocks) -> Iterator[None]:
    of_slot = nullcontext() if lock is None else locked(lock)
    with of_slot, alone_on(cores) if cores.processors else nullcontext():
        yield


def played(file: RecordFile, states: Mapping[str, bytes]) -> JobResult:
    """What a job gives back."""
    data = file.to_json()
    return JobResult(ended_by(file, hashlib.sha256(data).hexdigest()), data, states)


def ended_by(file: RecordFile, digest: str) -> Ended:
    """What the store keeps of a record."""
    record = file.record
    said = [ply.seat for ply in record.plies]
    first, second = (Seat(seat.fault, said.count(number), seat.charged_ms) for number, seat in enumerate(record.seats))
    return Ended(
        record.verdict.value, record.winner, record.result, record.reason, digest, record.seconds, (first, second)
    )


def lost(error: BaseException) -> str:
    """Why a job has no end, for the log: the worker's own words where it had any."""
    if isinstance(error, HostError | InputError):
        return str(error)
    return f"the worker of this game was lost ({type(error).__name__}: {error})"
