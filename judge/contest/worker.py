"""Plays one game in a separate process: turns a job into a record."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from judge.base.errors import InputError
from judge.base.locks import locked
from judge.base.logs import bound, get_logger, to_json
from judge.broadcast.pipe import Announced, Sender
from judge.contest.attempts import EndedAttempt, Job, outcome_and_record
from judge.play.game import play
from judge.play.venue import Slot, Venue
from judge.record.spec import GameSpec
from judge.sandbox.archive import EMPTY, Archive, UnkeptError, measure_folder
from judge.sandbox.docker.reaper import alone_on
from judge.sandbox.machine.cores import CoreLocks

log = get_logger()


@dataclass(slots=True)
class JobShelf:
    """A job's folder states (`judge.play.folders.Shelf`)."""

    states: Mapping[str, bytes]
    left: dict[str, bytes] = field(default_factory=dict)

    def get(self, _seat: int, digest: str) -> Archive:
        """A folder state. Raises InputError if it is missing or has another digest."""
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
        if state is not EMPTY:
            self.left[state.digest] = state.data


def log_to(path: Path | None) -> None:
    """Log to a file, because the judge writes to stderr."""
    if path is not None:
        to_json(path.open("a", encoding="utf-8"))


def play_job(job: Job, slot: Slot, lock: Path | None = None, *, holds_cores: bool = False) -> EndedAttempt:
    """Play a game in a slot, possibly with a void.

    A prepared game waits for the slot's file `lock`, and for core locks unless the judge `holds_cores`. It keeps them
    while playing.
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
