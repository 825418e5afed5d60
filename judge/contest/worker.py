"""Plays one game in a separate process: turns a job into an outcome and a record."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from judge.base.errors import HostError, InputError
from judge.base.locks import locked
from judge.base.logs import bound, get_logger, to_json
from judge.broadcast.sender import Announced, Sender
from judge.contest_games import AttemptState, Outcome, ScheduledGame, SeatOutcome
from judge.games.types import Verdict
from judge.referee.play import Slot, Venue, play
from judge.referee.seeds import Seed
from judge.referee.spec import GameSpec, KeptFolders, RecordFile, public_part
from judge.sandbox.archive import EMPTY, Archive, UnkeptError, measure_folder
from judge.sandbox.docker.reaper import alone_on
from judge.sandbox.machine.core_locks import CoreLocks

log = get_logger()


@dataclass(frozen=True, slots=True)
class Job:
    """The current attempt of a game, with the agents' staged files by digest.

    `seed`: None if the spec has it. `folders` are the initial folders of each seat, `states` their archives by
    digest.
    """

    game: ScheduledGame
    programs: Mapping[str, Path]
    seed: Seed | None = None
    folders: tuple[KeptFolders | None, KeptFolders | None] = (None, None)
    states: Mapping[str, bytes] = field(default_factory=dict)
    contest: str = ""
    listener: Path | None = None
    """Socket for the transcript during the game."""

    def spec(self) -> GameSpec:
        """The scheduled spec with game id, seed and folders."""
        spec = GameSpec.model_validate_json(self.game.spec)
        seats = tuple(
            seat if folders is None else seat.model_copy(update={"folders": folders})
            for seat, folders in zip(spec.seats, self.folders, strict=True)
        )
        seed = spec.seed if self.seed is None else self.seed
        return spec.model_copy(update={"seats": seats, "seed": seed, "scheduled_as": self.game.id})


@dataclass(frozen=True, slots=True)
class EndedAttempt:
    """An ended attempt of a game: its outcome, or the error by which its worker was lost. The runner adds `state` and
    `why` when it stores the attempt.
    """

    game: ScheduledGame
    outcome: Outcome | None = None
    record: bytes = b""
    """As JSON; `outcome.record` is its digest."""
    states: Mapping[str, bytes] = field(default_factory=dict)
    """New folder states by digest."""
    error: BaseException | None = None
    host: str = ""
    """The machine that played it, if unknown at the start."""
    state: AttemptState = AttemptState.RUNNING
    why: str = ""

    @property
    def has_score(self) -> bool:
        """Whether the game was played and is not void."""
        return self.outcome is not None and self.outcome.verdict != Verdict.VOID.value


@dataclass(slots=True)
class JobShelf:
    """The folder states of a job (`judge.referee.folder_shelf.Shelf`)."""

    states: Mapping[str, bytes]
    left: dict[str, bytes] = field(default_factory=dict)

    def get(self, _seat: int, digest: str) -> Archive:
        """Return a state. Raises InputError if it is missing or has another digest."""
        if digest == EMPTY.digest:
            return EMPTY
        data = self.states.get(digest)
        if data is None or hashlib.sha256(data).hexdigest() != digest:
            raise InputError(f"the job does not have the folder's state {digest}")
        try:
            return measure_folder(data)
        except UnkeptError as error:
            raise InputError(f"the folder's state {digest} cannot be used: {error}") from None

    def put(self, _seat: int, state: Archive) -> None:
        """Add a state."""
        if state is not EMPTY:
            self.left[state.digest] = state.data


def log_to(path: Path | None) -> None:
    """Make a worker process log to a file, because its judge writes to stderr."""
    if path is not None:
        to_json(path.open("a", encoding="utf-8"))


def play_job(job: Job, slot: Slot, lock: Path | None = None, *, holds_cores: bool = False) -> EndedAttempt:
    """Play a game in a slot; a void is also a result.

    A prepared game waits for the lock of the slot's file `lock`, and for the locks of its cores unless the
    judge `holds_cores`. It keeps them while it plays.
    """
    if slot.judge_cores:
        os.sched_setaffinity(0, slot.judge_cores)
    spec = job.spec()
    shelf = JobShelf(job.states)
    shared = spec.policy.box.sharing > 1
    cores = CoreLocks(() if holds_cores else slot.cores, log.info, shared=shared)
    with bound(contest=job.contest, game=spec.id, attempt=job.game.attempt), _sender(job, spec) as sender:
        follow = None if sender is None else sender.follow
        venue = Venue(slot, shelf, partial(_turn, lock, cores), follow=follow)
        file = play(spec, job.programs, job.game.attempt, venue)
    return EndedAttempt(job.game, *outcome_and_record(file), shelf.left)


@contextmanager
def _sender(job: Job, spec: GameSpec) -> Iterator[Sender | None]:
    if job.listener is None:
        yield None
        return
    game = job.game
    sender = Sender(job.listener, Announced(id=game.id, game=game.number, attempt=game.attempt, spec=spec))
    try:
        yield sender
    finally:
        sender.close()


@contextmanager
def _turn(lock: Path | None, cores: CoreLocks) -> Iterator[None]:
    of_slot = nullcontext() if lock is None else locked(lock)
    with of_slot, alone_on(cores) if cores.processors else nullcontext():
        yield


def outcome_and_record(file: RecordFile) -> tuple[Outcome, bytes]:
    """Return an attempt's outcome with the digests of its record, and the record as JSON."""
    data = file.to_json()
    public = hashlib.sha256(public_part(file).to_json()).hexdigest()
    return replace(outcome_of(file, hashlib.sha256(data).hexdigest()), public=public), data


def outcome_of(file: RecordFile, digest: str) -> Outcome:
    """Return an attempt's outcome from its record and the record's digest."""
    record = file.record
    replies = [ply.seat for ply in record.plies]
    first, second = (
        SeatOutcome(seat.fault, replies.count(number), seat.charged_ms) for number, seat in enumerate(record.seats)
    )
    return Outcome(
        record.verdict.value, record.winner, record.result, record.reason, digest, record.seconds, (first, second)
    )


def describe_loss(error: BaseException) -> str:
    """Why a job has no result: the worker's message if there is one."""
    if isinstance(error, HostError | InputError):
        return str(error)
    return f"the worker of this game was lost ({type(error).__name__}: {error})"
