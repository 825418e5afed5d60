"""One game in a process of its own: a job goes in, how it ended comes out, and its record is on disk by then."""

import ctypes
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from judge.errors import HostError
from judge.games.types import Verdict
from judge.referee.play import Slot, play
from judge.referee.spec import MatchSpec, RecordFile
from judge.store.files import Files
from judge.store.types import Ended, Seat

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Job:
    """A game to play: its spec as JSON, its attempt, the agents' staged files by digest, its slot, where records go."""

    spec: str
    attempt: int
    programs: Mapping[str, Path]
    slot: Slot
    records: Path


def be_worker() -> None:
    """What a worker process does first: it dies with its judge, and leaves Ctrl-C to it."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def play_job(job: Job) -> Ended:
    """Play a game and write its record; a void is an end too. Raises HostError where the record cannot be written."""
    if job.slot.judge_cores:
        os.sched_setaffinity(0, job.slot.judge_cores)
    spec = MatchSpec.model_validate_json(job.spec)
    file = play(spec, job.programs, job.attempt, job.slot)
    return ended_by(file, Files(job.records).put(file.model_dump_json().encode()))


def ended_by(file: RecordFile, digest: str) -> Ended:
    """What the store keeps of a record."""
    record = file.record
    said = [ply.seat for ply in record.plies]
    first, second = (
        Seat(seat.fault, said.count(number), seat.charged_ms)
        for number, seat in enumerate(record.seats)
    )
    return Ended(
        record.verdict.value,
        record.winner,
        record.result,
        record.reason,
        digest,
        record.seconds,
        (first, second),
    )


def is_void(ended: Ended) -> bool:
    """Whether nothing was scored."""
    return ended.verdict == Verdict.VOID.value


def lost(error: BaseException) -> str:
    """Why a job has no end, for the log: the worker's own words where it had any."""
    if isinstance(error, HostError):
        return str(error)
    return f"the worker of this game was lost ({type(error).__name__}: {error})"
