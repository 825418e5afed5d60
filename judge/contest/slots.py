"""Slots own whole cores and two processes each, which take turns: one plays while the other makes its game ready.

A process plays one game at a time, so a killed one breaks one game only. Whose turn it is a lock on a file says, which
the kernel takes back from a process that is gone. A game that plays has the locks of its cores too, see
`judge.sandbox.core_locks`, so that no other judge of this host plays on them meanwhile; another one may between two
games.
"""

import multiprocessing
import platform
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from judge.contest.worker import Job, Played, be_worker, play_job
from judge.referee.play import Slot
from judge.sandbox.owner import owned_directory

Tag = TypeVar("Tag")


@dataclass(frozen=True, slots=True)
class Finished(Generic[Tag]):
    """A game that ended, or was lost with its worker."""

    tag: Tag
    played: Played | None
    error: BaseException | None


class Players(Protocol[Tag]):
    """Whatever plays the games of a contest, here or elsewhere; `tag` is the caller's word for a game."""

    @property
    def free(self) -> int:
        """How many games could be started now."""

    @property
    def host(self) -> str:
        """The machine that plays the game that is started next."""

    @property
    def running(self) -> int:
        """How many games are being played, or made ready."""

    def start(self, tag: Tag, job: Job) -> None:
        """Play a game. IndexError where none is free."""

    def wait(self, timeout_s: float) -> list[Finished[Tag]]:
        """The games that have ended, waiting for one for so long at most."""

    def kill(self) -> list[Tag]:
        """End everything now; the games that were running."""

    def close(self) -> None:
        """Let the processes go; none may be running a game."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """A slot, and the file whose lock is had by the game that plays there."""

    cores: Slot
    lock: Path
    is_had: bool
    """Whether the judge has the locks of the cores, so that its games need not."""


def _pool(log: Path | None) -> ProcessPoolExecutor:
    # Spawned: a forked worker would hold copies of this process's pipes and sockets.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, context, be_worker, (log,))


@contextmanager
def _no_ctrl_c() -> Iterator[None]:
    """A process that is started meanwhile does not hear of it, until it has said itself that it will not."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(slots=True)
class _Process:
    """One of the processes of a slot."""

    slot: _Slot
    log: Path | None
    pool: ProcessPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        """Start nothing yet."""
        self.pool = _pool(self.log)

    def play(self, job: Job) -> Future[Played]:
        """Begin a game; in a new process where somebody has killed this one since its last."""
        try:
            return self._begin(job)
        except BrokenProcessPool:
            self.renew()
            return self._begin(job)

    def _begin(self, job: Job) -> Future[Played]:
        with _no_ctrl_c():
            slot = self.slot
            return self.pool.submit(play_job, job, slot.cores, slot.lock, is_had=slot.is_had)

    def renew(self) -> None:
        """Take another process: this one is gone, or in a state that nobody knows."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.pool = _pool(self.log)

    def kill(self) -> Sequence[BaseProcess]:
        """End it now; what to wait for."""
        processes = list(self.pool._processes.values())
        for process in processes:
            process.kill()
        return processes


@dataclass(slots=True)
class _Running(Generic[Tag]):
    process: _Process
    tag: Tag


@dataclass(slots=True)
class Slots(Generic[Tag]):
    """The slots of this machine, and what runs in them: see `Players`."""

    slots: Sequence[Slot]
    ahead: int = 1
    """How many games of a slot are made ready while another plays; none where the judge has no core for that work."""
    are_had: bool = False
    """Whether this judge has the locks of the slots' cores; else each game has them while it plays."""
    host: str = field(default_factory=platform.node)
    log: Path | None = None
    """Where the processes write what they have to say."""
    _idle: list[_Process] = field(init=False)
    _running: dict[Future[Played], _Running[Tag]] = field(init=False, default_factory=dict)
    _at_end: ExitStack = field(init=False, default_factory=ExitStack)

    def __post_init__(self) -> None:
        """Start no process yet: a pool does so with its first game. Raises HostError where there is no room."""
        locks = self._at_end.enter_context(owned_directory())
        each = [
            _Slot(slot, locks / f"slot-{number}", self.are_had)
            for number, slot in enumerate(self.slots)
        ]
        self._idle = [_Process(slot, self.log) for slot in each for _ in range(self._games(slot))]

    def _games(self, slot: _Slot) -> int:
        """How many games a slot may have at once: one plays."""
        has_room = not slot.cores.cores or slot.cores.is_apart
        return 1 + (self.ahead if has_room else 0)

    @property
    def free(self) -> int:
        """How many games could be started now: they are made ready, and play when it is their turn."""
        return len(self._idle)

    @property
    def running(self) -> int:
        """How many games are being played, or made ready."""
        return len(self._running)

    def start(self, tag: Tag, job: Job) -> None:
        """Play a game in the slot that has the fewest. IndexError where no process is free."""
        games = Counter(run.process.slot for run in self._running.values())
        self._idle.sort(key=lambda process: -games[process.slot])
        process = self._idle.pop()
        self._running[process.play(job)] = _Running(process, tag)

    def wait(self, timeout_s: float) -> list[Finished[Tag]]:
        """The games that have ended, waiting for one; a process that is gone is replaced by a new one."""
        done, _ = wait(self._running, timeout_s, FIRST_COMPLETED)
        return [self._finish(future) for future in done]

    def _finish(self, future: Future[Played]) -> Finished[Tag]:
        run = self._running.pop(future)
        error = future.exception()
        if error is not None:
            run.process.renew()
        self._idle.append(run.process)
        return Finished(run.tag, None if error is not None else future.result(), error)

    def kill(self) -> list[Tag]:
        """End every process now, and return when they are gone: the games that were running.

        Their containers are nobody's then: for the reaper.
        """
        tags = [run.tag for run in self._running.values()]
        for process in [end for run in self._running.values() for end in run.process.kill()]:
            process.join()
        self._running.clear()
        return tags

    def close(self) -> None:
        """Let the processes go; none may be running a game."""
        for process in self._idle:
            process.pool.shutdown()
        self._at_end.close()
