"""Plays the jobs of games in slots, with their folder states.

A slot has whole cores and two processes: one plays while the other prepares its game.

With shared cores (`box.sharing`) one process plays all games in threads, because many waking processes would need a
core. A file lock decides which process plays; the kernel releases it when the process dies.
"""

import hashlib
import os
import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import sleep

from judge.base.errors import HostError, InputError
from judge.base.locks import locked
from judge.base.logs import bound, get_logger, to_json
from judge.base.owner import owned_directory
from judge.base.worker_processes import Crew, Worker, kill, start_fork_server, wait
from judge.broadcast.pipe import Announced, Sender
from judge.contest.attempts import EndedAttempt, Job, outcome_and_record
from judge.contest_games import ScheduledGame
from judge.play.game import play
from judge.play.venue import Slot, Venue
from judge.sandbox.archive import EMPTY, Archive, UnkeptError, measure_folder
from judge.sandbox.docker.reaper import alone_on
from judge.sandbox.machine.cores import CoreLocks

MAX_START_TRIES = 10
"""Failed starts of a game's process after which the attempt is void."""

RETRY_INTERVAL_S = 0.5

log = get_logger()


@dataclass(frozen=True, slots=True)
class _Slot:
    name: str
    cores: Slot
    lock: Path


@dataclass(frozen=True, slots=True)
class _Process:
    slot: _Slot
    worker: Worker[EndedAttempt]


@dataclass(slots=True)
class _FailedStart:
    job: Job
    tries: int = 1


@dataclass(slots=True)
class LocalExecutor:
    """The slots of this machine."""

    slots: Sequence[Slot]
    ahead: int = 1
    """Games prepared per slot while another plays; 0 without a core for this."""
    holds_cores: bool = False
    """Whether this judge has all core locks; otherwise each game takes its own."""
    host: str = field(default_factory=platform.node)
    log: Path | None = None
    _idle: list[_Process] = field(init=False)
    _running: dict[_Process, ScheduledGame] = field(init=False, default_factory=dict)
    _unstarted: dict[_Process, _FailedStart] = field(init=False, default_factory=dict)
    """Each `wait` tries again."""
    _at_end: ExitStack = field(init=False, default_factory=ExitStack)

    def __post_init__(self) -> None:
        """Raises HostError if the disk is full."""
        start_fork_server(play_job.__module__)
        locks = self._at_end.enter_context(owned_directory())
        self._idle = []
        shared: dict[tuple[int, ...], list[_Slot]] = {}
        for number, of_game in enumerate(self.slots):
            cores = ", ".join(map(str, of_game.cores))
            name = f"core{'s' if len(of_game.cores) > 1 else ''} {cores}" if cores else f"slot {number + 1}"
            slot = _Slot(name, of_game, locks / f"slot-{number}")
            shared.setdefault(of_game.cores, []).append(slot)
        for processors, sharing in shared.items():
            places: list[_Slot] = []
            for slot in sharing:
                # One game plays; the others are prepared on the judge's cores.
                has_room = not processors or slot.cores.is_apart
                places += [slot] * (1 + (self.ahead if has_room else 0))
            if processors and len(sharing) > 1:
                workers = Crew[EndedAttempt](len(places), log_to, self.log).workers
            else:
                workers = [Worker[EndedAttempt](log_to, self.log) for _ in places]
            self._idle += map(_Process, places, workers)

    @property
    def free(self) -> int:
        return len(self._idle)

    @property
    def running(self) -> int:
        return len(self._running) + len(self._unstarted)

    @property
    def slot(self) -> str:
        """The slot with the fewest games."""
        return self._next().slot.name if self._idle else ""

    def start(self, job: Job) -> None:
        """See `Executor`. Uses the slot with the fewest games."""
        process = self._next()
        error = self._start(process, job)
        self._idle.remove(process)
        if error is not None:
            self._unstarted[process] = _FailedStart(job)

    def _start(self, process: _Process, job: Job) -> Exception | None:
        """The error of a host without a free process, file or thread."""
        slot = process.slot
        try:
            process.worker.start(play_job, job, slot.cores, slot.lock, holds_cores=self.holds_cores)
        except OSError as error:
            process.worker.reset()
            return error
        self._running[process] = job.game
        return None

    def _start_again(self) -> list[EndedAttempt]:
        ends = []
        for process, failed in list(self._unstarted.items()):
            error = self._start(process, failed.job)
            failed.tries += 1
            if error is None:
                del self._unstarted[process]
            elif failed.tries >= MAX_START_TRIES:
                del self._unstarted[process]
                self._idle.append(process)
                why = f"{process.slot.name}: no process can be started for the game: {error}"
                ends.append(EndedAttempt(failed.job.game, error=HostError(why)))
        return ends

    def _next(self) -> _Process:
        games = Counter(process.slot for process in self._running)
        self._idle.sort(key=lambda process: -games[process.slot])
        return self._idle[-1]

    def wait(self, timeout_s: float) -> list[EndedAttempt]:
        """See `Executor`. Replaces dead processes."""
        ends = self._start_again()
        processes = {process.worker: process for process in self._running}
        if self._unstarted:
            timeout_s = min(timeout_s, RETRY_INTERVAL_S)
            if not processes and not ends:
                sleep(timeout_s)
        for worker in wait(processes, 0 if ends else timeout_s):
            process = processes[worker]
            game = self._running.pop(process)
            error = process.worker.exception()
            if error is not None:
                process.worker.reset()
            self._idle.append(process)
            ends.append(process.worker.result() if error is None else EndedAttempt(game, error=error))
        return ends

    def kill(self) -> list[ScheduledGame]:
        """See `Executor`. The reaper removes the containers."""
        running = [*self._running.values(), *(failed.job.game for failed in self._unstarted.values())]
        kill(process.worker for process in self._running)
        self._idle += [*self._running, *self._unstarted]
        self._running.clear()
        self._unstarted.clear()
        return running

    def close(self) -> None:
        for process in self._idle:
            process.worker.close()
        self._at_end.close()


# --- in a process of a slot ------------------------------------------------------------------------------------------


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
        if state.digest != EMPTY.digest:
            self.left[state.digest] = state.data


def log_to(path: Path | None) -> None:
    """Log to a file, because the judge writes to stderr."""
    if path is not None:
        to_json(path.open("a", encoding="utf-8"))


def play_job(job: Job, slot: Slot, lock: Path, *, holds_cores: bool) -> EndedAttempt:
    """Play a game in a slot, possibly with a void.

    A prepared game waits for the slot's file `lock`, and for core locks unless the judge `holds_cores`. It keeps them
    while playing.
    """
    if slot.judge_cores:
        os.sched_setaffinity(0, slot.judge_cores)
    spec = job.spec()
    shelf = JobShelf(job.states)
    cores = CoreLocks(() if holds_cores else slot.cores, log.info, shared=spec.policy.box.sharing > 1)
    with bound(contest=job.contest, game=spec.id, attempt=job.game.attempt), ExitStack() as at_end:
        follow = None
        if job.listener is not None:
            announced = Announced(id=job.game.id, game=job.game.number, attempt=job.game.attempt, spec=spec)
            follow = at_end.enter_context(closing(Sender(job.listener, announced))).follow
        venue = Venue(slot, shelf, partial(_turn, lock, cores), follow=follow)
        file = play(spec, job.programs, job.game.attempt, venue)
    return EndedAttempt(job.game, *outcome_and_record(file), shelf.left)


@contextmanager
def _turn(lock: Path, cores: CoreLocks) -> Iterator[None]:
    with locked(lock), alone_on(cores) if cores.processors else nullcontext():
        yield
