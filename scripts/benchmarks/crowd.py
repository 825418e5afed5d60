"""Many games at once on the same cores: agents that sleep, judged by a policy that says so."""

import multiprocessing
import os
import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.synchronize import Barrier
from pathlib import Path

from judge.errors import HostError
from judge.referee.play import Slot, Venue, play
from judge.referee.policy import load_policy
from judge.referee.spec import MatchSpec
from judge.referee.transcript import unseal
from judge.worker_processes import Worker, kill
from scripts.benchmarks.measuring import Bench, Figure, clock_errors_ms, share_of

POLICY = "gomocup-oversubscribed"
SMALL = ("game.options.width=12", "game.options.height=12", "box.start_timeout_s=600")
"""144 moves; and an Engine that is to start so many containers at once may take its time."""

GAMES = 64

SLEEP_MS = 200
"""For how long an agent sleeps at most before it answers; half of it on average."""

PATIENCE_S = 600
"""How long a game that is ready waits for the last one."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One game of the crowd: its judge's own CPU time and memory, and how exact its clocks were."""

    errors_ms: list[float]
    moves: int
    late_ms: float
    cpu_s: float
    memory_bytes: int


def crowd(bench: Bench) -> Iterator[Figure]:
    """Games of sleeping agents that all play at the same time."""
    agent = bench.agent("house-stamp")
    policy = load_policy(POLICY, SMALL)
    seat = agent.seat(policy)
    sleeps = seat.model_copy(update={"command": (*seat.command, str(SLEEP_MS))})
    seats = tuple(sleeps.model_copy(update={"name": name}) for name in ("one", "two"))
    specs = [MatchSpec(seats=(seats[0], seats[1]), policy=policy, number=n).model_dump_json() for n in range(GAMES)]
    barrier = multiprocessing.get_context("fork").Barrier(GAMES)
    workers: list[Worker[Seen]] = [Worker(_join, barrier, fork=True) for _ in specs]
    try:
        with everywhere(bench.slot):
            for worker, spec in zip(workers, specs, strict=True):
                worker.start(_play, spec, {agent.digest: agent.program}, bench.slot)
            seen = [worker.result() for worker in workers]
    finally:
        kill(workers)
    errors = [error for game in seen for error in game.errors_ms]
    about = f"{GAMES} games at once"
    yield Figure(f"{about}, charged minus true, median", statistics.median(errors), "ms")
    yield Figure(f"{about}, charged minus true, p99 of {len(errors)}", share_of(errors, 0.99), "ms")
    yield Figure(f"{about}, judge late, worst", max(game.late_ms for game in seen), "ms")
    cpu_us = statistics.median(game.cpu_s / game.moves * 1e6 for game in seen)
    yield Figure(f"{about}, the judge's CPU", cpu_us, "us/move")
    memory = statistics.median(game.memory_bytes for game in seen)
    yield Figure(f"{about}, the judge's memory", memory / 2**20, "MiB/game")


@contextmanager
def everywhere(slot: Slot) -> Iterator[None]:
    """Let so many processes begin on all cores; each goes to the judge's before its game."""
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {*mine, *slot.cores})
    try:
        yield
    finally:
        os.sched_setaffinity(0, mine)


# --- in the processes of the games -----------------------------------------------------------------------------------

_crowd: list[Barrier] = []


def _join(crowd: Barrier) -> None:
    _crowd.append(crowd)


@dataclass(slots=True)
class _Turn:
    """The time of a game from when all are ready, and what this process used in it."""

    cpu_s: float = 0.0
    memory_bytes: int = field(default=0)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        _crowd[0].wait(PATIENCE_S)
        began = time.process_time()
        yield
        self.cpu_s = time.process_time() - began
        self.memory_bytes = _own_memory_bytes()
        _crowd[0].wait(PATIENCE_S)  # boxes are removed when nobody's clock runs any more


def _play(spec: str, programs: Mapping[str, Path], slot: Slot) -> Seen:
    os.sched_setaffinity(0, slot.judge_cores)
    turn = _Turn()
    file = play(MatchSpec.model_validate_json(spec), programs, venue=Venue(slot, turn=turn))
    if file.record.verdict == "void":
        raise HostError(f"a game of the measurement is void: {file.record.reason}")
    errors = list(clock_errors_ms(unseal(file.transcript)))
    return Seen(errors, len(errors), file.record.judge_late_ms, turn.cpu_s, turn.memory_bytes)


def _own_memory_bytes() -> int:
    """This process's memory; of what it shares with others, its part."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
