"""Slots own whole cores and a process each, which plays one game at a time: a killed one breaks one game only."""

import multiprocessing
import platform
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from judge.contest.worker import Job, Played, be_worker, play_job
from judge.referee.play import Slot

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


@dataclass(slots=True)
class _Running(Generic[Tag]):
    slot: Slot
    pool: ProcessPoolExecutor
    tag: Tag


@dataclass(slots=True)
class Slots(Generic[Tag]):
    """The slots of this machine, and what runs in them: see `Players`."""

    slots: Sequence[Slot]
    host: str = field(default_factory=platform.node)
    _idle: list[tuple[Slot, ProcessPoolExecutor]] = field(init=False)
    _running: dict[Future[Played], _Running[Tag]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Start no process yet: a pool does so with its first game."""
        self._idle = [(slot, _pool()) for slot in self.slots]

    @property
    def free(self) -> int:
        """How many games could be started now."""
        return len(self._idle)

    @property
    def running(self) -> int:
        """How many games are being played."""
        return len(self._running)

    def start(self, tag: Tag, job: Job) -> None:
        """Play a game in a free slot. IndexError where there is none."""
        slot, pool = self._idle.pop()
        self._running[pool.submit(play_job, job, slot)] = _Running(slot, pool, tag)

    def wait(self, timeout_s: float) -> list[Finished[Tag]]:
        """The games that have ended, waiting for one; a slot whose process is gone gets a new one."""
        done, _ = wait(self._running, timeout_s, FIRST_COMPLETED)
        return [self._finish(future) for future in done]

    def _finish(self, future: Future[Played]) -> Finished[Tag]:
        run = self._running.pop(future)
        error = future.exception()
        pool = run.pool
        if error is not None:
            # The process may be gone, or in a state that nobody knows.
            pool.shutdown(wait=False, cancel_futures=True)
            pool = _pool()
        self._idle.append((run.slot, pool))
        return Finished(run.tag, None if error is not None else future.result(), error)

    def kill(self) -> list[Tag]:
        """End every process now, and return when they are gone: the games that were running.

        Their containers are for the reaper.
        """
        tags = [run.tag for run in self._running.values()]
        for run in self._running.values():
            for process in list(run.pool._processes.values()):
                process.kill()
                process.join()
        self._running.clear()
        return tags

    def close(self) -> None:
        """Let the processes go; none may be running a game."""
        for _, pool in self._idle:
            pool.shutdown()


def _pool() -> ProcessPoolExecutor:
    # Spawned: a forked worker would hold copies of this process's pipes and sockets.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, context, be_worker)
