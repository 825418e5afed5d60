"""Slots own whole cores and two processes each, which take turns: one plays while the other makes its game ready.

A process plays one game at a time, so a killed one breaks one game only. Slots that share their cores (`box.sharing`)
are the exception: one process plays all their games, each in a thread, for so many processes that only wake up now and
then would take a core by that. A file lock decides which process plays. The kernel releases it when the process dies.
A running game also has the locks of its cores (`judge.sandbox.machine.core_locks`), so that no other judge of this host
plays on them during the game. Between two games another judge may take them.
"""

import platform
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from judge.base.errors import InputError
from judge.base.worker_processes import Crew, Worker, kill, wait
from judge.contest.worker import Job, JobResult, log_to, play_job
from judge.contest_games import ScheduledGame
from judge.referee.play import Slot
from judge.sandbox.machine.core_locks import is_free
from judge.sandbox.machine.cores import place_slots, whole_cores
from judge.sandbox.machine.owner import owned_directory


@dataclass(frozen=True, slots=True)
class JobEnd:
    """The end of a job: its result, or the error if its worker was lost."""

    game: ScheduledGame
    result: JobResult | None
    error: BaseException | None
    host: str = ""
    """The machine that played it, if that was not known when it was started."""


class Executor(Protocol):
    """Plays the games of a contest, here or elsewhere."""

    @property
    def free(self) -> int:
        """How many games could be started now."""

    @property
    def host(self) -> str:
        """The machine that plays the next game; empty if it is not known yet."""

    @property
    def slot(self) -> str:
        """Its cores there, such as `core 2`; empty if they are not known yet."""

    @property
    def running(self) -> int:
        """How many games are being played, or prepared."""

    def start(self, job: Job) -> None:
        """Play a game. Raises IndexError if nothing is free."""

    def wait(self, timeout_s: float) -> list[JobEnd]:
        """The jobs that have ended; waits for one for `timeout_s` seconds at most."""

    def kill(self) -> list[ScheduledGame]:
        """End everything now, and return the games that were running."""

    def close(self) -> None:
        """End the processes, when none of them runs a game."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """A slot, what people call it, and the file that the game which plays there locks."""

    name: str
    cores: Slot
    lock: Path
    holds_cores: bool
    """Whether the judge has the locks of the cores, so that its games need not."""


@dataclass(frozen=True, slots=True)
class _Process:
    """One of the processes of a slot."""

    slot: _Slot
    worker: Worker[JobResult]


@dataclass(slots=True)
class LocalExecutor:
    """The slots of this machine, and what runs in them."""

    slots: Sequence[Slot]
    ahead: int = 1
    """How many games of a slot are prepared while another one plays; 0 if the judge has no core for that work."""
    holds_cores: bool = False
    """Whether this judge has the locks of the slots' cores; else each game has them while it plays."""
    host: str = field(default_factory=platform.node)
    log: Path | None = None
    """Where the processes write what they have to say."""
    fork: bool = False
    """Whether the processes are forks of this one, which must have no threads of its own then."""
    _idle: list[_Process] = field(init=False)
    _running: dict[_Process, ScheduledGame] = field(init=False, default_factory=dict)
    _at_end: ExitStack = field(init=False, default_factory=ExitStack)

    def __post_init__(self) -> None:
        """Start no process: a worker starts with its first game. Raises HostError if the disk is full."""
        locks = self._at_end.enter_context(owned_directory())
        each = [
            _Slot(_name(number, slot), slot, locks / f"slot-{number}", self.holds_cores)
            for number, slot in enumerate(self.slots)
        ]
        self._idle = []
        shared: dict[tuple[int, ...], list[_Slot]] = {}
        for slot in each:
            shared.setdefault(slot.cores.cores, []).append(slot)
        for cores, sharing in shared.items():
            places: list[_Slot] = []
            for slot in sharing:
                # One game plays. The others are prepared on the judge's cores.
                has_room = not cores or slot.cores.is_apart
                places += [slot] * (1 + (self.ahead if has_room else 0))
            if cores and len(sharing) > 1:
                workers = Crew[JobResult](len(places), log_to, self.log, fork=self.fork).workers
            else:
                workers = [Worker[JobResult](log_to, self.log, fork=self.fork) for _ in places]
            self._idle += map(_Process, places, workers)

    @property
    def free(self) -> int:
        """How many games could be started now: they are made ready, and play when it is their turn."""
        return len(self._idle)

    @property
    def running(self) -> int:
        """How many games are being played, or made ready."""
        return len(self._running)

    @property
    def slot(self) -> str:
        """The slot that has the fewest."""
        return self._next().slot.name if self._idle else ""

    def start(self, job: Job) -> None:
        """Play a game in the slot that has the fewest. Raises IndexError if no process is free."""
        process = self._next()
        self._idle.pop()
        slot = process.slot
        process.worker.start(play_job, job, slot.cores, slot.lock, holds_cores=slot.holds_cores)
        self._running[process] = job.game

    def _next(self) -> _Process:
        """The process that plays the next game. Raises IndexError if none is free."""
        games = Counter(process.slot for process in self._running)
        self._idle.sort(key=lambda process: -games[process.slot])
        return self._idle[-1]

    def wait(self, timeout_s: float) -> list[JobEnd]:
        """The games that have ended, waiting for one; a process that is gone is replaced by a new one."""
        processes = {process.worker: process for process in self._running}
        ends = []
        for worker in wait(processes, timeout_s):
            process = processes[worker]
            game = self._running.pop(process)
            error = process.worker.exception()
            if error is not None:
                process.worker.reset()
            self._idle.append(process)
            ends.append(JobEnd(game, None if error is not None else process.worker.result(), error))
        return ends

    def kill(self) -> list[ScheduledGame]:
        """End every process now, and return when they are gone: the games that were running.

        Their containers are nobody's then: for the reaper.
        """
        running = list(self._running.values())
        kill(process.worker for process in self._running)
        self._running.clear()
        return running

    def close(self) -> None:
        """End the processes, when none of them runs a game."""
        for process in self._idle:
            process.worker.close()
        self._at_end.close()


def _name(number: int, slot: Slot) -> str:
    if not slot.cores:
        return f"slot {number + 1}"
    return f"core{'s' if len(slot.cores) > 1 else ''} {', '.join(map(str, slot.cores))}"


def slots_on_host(cores: int, count: int = 0, sharing: int = 1) -> list[Slot]:
    """`count` slots of `cores` cores each, up to `sharing` on the same cores; 0: as many as fit.

    Slots whose cores no other judge of this host uses come first. Raises InputError if so many do not fit.
    """
    available = whole_cores()
    most = max(1, (len(available) - 1) // cores) * sharing
    if count > most:
        raise InputError(
            f"{count} games at the same time do not fit: {len(available)} cores allow {most} games of {cores} each, "
            "because one core is for the judge and the Engine"
        )
    taken = [core for core in available[1:] if not is_free(core, lambda _: None)]
    placement = place_slots(available, count or most, cores, sharing, taken)
    return [Slot(cores=own, judge_cores=placement.judge) for own in placement.slots]
