"""Many games at once on the same cores: agents that sleep, judged by a policy that says so."""

import itertools
import os
import select
import statistics
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE
from threading import Barrier, Semaphore
from typing import Any

from judge.agents.agents import Agent
from judge.base.errors import HostError
from judge.base.procfs import children_of, stat_fields
from judge.base.worker_processes import Crew, kill
from judge.play.game import play
from judge.play.venue import Slot, Venue
from judge.record.policy import load_policy
from judge.record.spec import GameSpec
from judge.record.transcript import unseal
from judge.referee.side import Ply
from scripts.benchmarks.measuring import Bench, Figure, clock_errors_ms, everywhere, share_of

POLICY = "gomocup-oversubscribed"
SMALL = ("game.options.width=12", "game.options.height=12")
"""144 moves."""

GAMES = 128

COUNTED = 130
"""The answers of the game that is first to give so many, with which the measurement ends: all games go on."""

SLEEP_MS = 200
"""For how long an agent sleeps at most before it answers; half of it on average."""

BARE_MOVES = 60
"""Of each game where nothing is judged."""

BEGINNING = 2
"""How many games begin at the same time: in a contest, one begins when another one is over."""

PATIENCE_S = 600
"""How long a game that is ready waits for the last one."""


@dataclass(frozen=True, slots=True)
class Used:
    """What the judge used for all games, its probe included: CPU time a move while all went on, and memory."""

    cpu_s: float
    memory_bytes: int


def crowd(bench: Bench) -> Iterator[Figure]:
    """Games of sleeping agents, judged by one process as in a contest, while all of them go on.

    What the Engine takes for the start and the end of a container is no part of it: `start` measures that.
    """
    agent = bench.agent("house-stamp")
    policy = load_policy(POLICY, SMALL)
    seat = agent.seat(policy)
    sleeps = seat.model_copy(update={"command": (*seat.command, str(SLEEP_MS))})
    seats = tuple(sleeps.model_copy(update={"name": name}) for name in ("one", "two"))
    specs = [GameSpec(seats=(seats[0], seats[1]), policy=policy, number=n).model_dump_json() for n in range(GAMES)]
    crew: Crew[Any] = Crew(GAMES, _join, GAMES)
    try:
        # So many games begin on all cores; each goes to the judge's before its first move.
        with everywhere(bench.slot):
            for worker, spec in zip(crew.workers, specs, strict=True):
                worker.start(_play, spec, {agent.digest: agent.program}, bench.slot)
            errors: list[float] = list(itertools.chain.from_iterable(worker.result() for worker in crew.workers))
            crew.workers[0].start(_used)
            used: Used = crew.workers[0].result()
    finally:
        kill(crew.workers)
    if not errors:
        raise HostError("a game of the crowd was near its end before the last one began: this host starts too slowly")
    about = f"{GAMES} games at once"
    bare_us = _bare_us(bench)
    yield Figure(f"{about}, charged minus true, median", statistics.median(errors), "ms")
    yield Figure(f"{about}, charged minus true, p99 of {len(errors)}", share_of(errors, 0.99), "ms")
    yield Figure(f"{about}, charged minus true, worst", max(errors), "ms")
    cpu_us = used.cpu_s * 1e6
    yield Figure(f"{about}, the judge's CPU", cpu_us, "us/move", bare_us, cpu_us / bare_us)
    yield Figure(f"{about}, the judge's memory", used.memory_bytes / GAMES / 2**20, "MiB/game")


def _bare_us(bench: Bench) -> float:
    """The CPU time of a move where nothing is judged: one process hands on what as many pairs of agents say."""
    agent = bench.agent("house-stamp")
    moves = 0
    with ExitStack() as stack:
        poll = stack.enter_context(select.epoll())
        partner: dict[int, int] = {}
        for _ in range(GAMES):
            (one, ones), (two, twos) = (stack.enter_context(_bare_agent(agent, bench.slot)) for _ in range(2))
            partner |= {ones: two, twos: one}
            poll.register(ones, select.EPOLLIN)
            poll.register(twos, select.EPOLLIN)
            os.write(one, b"BEGIN\r\n")
        began = time.process_time()
        while moves < GAMES * BARE_MOVES:
            for fd, _ in poll.poll():
                os.write(partner[fd], b"TURN %b\r\n" % os.read(fd, 100).strip())
                moves += 1
        return (time.process_time() - began) / moves * 1e6


@contextmanager
def _bare_agent(agent: Agent, slot: Slot) -> Iterator[tuple[int, int]]:
    """The ends of the pipes to an agent without a box that has answered START."""
    command = [str(agent.program / "house-stamp"), str(SLEEP_MS)]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, bufsize=0) as process:
        try:
            if process.stdin is None or process.stdout is None:
                raise HostError("no pipes to a process of one's own")
            if slot.cores:
                os.sched_setaffinity(process.pid, slot.cores)
            os.write(process.stdin.fileno(), b"START 12\r\n")
            os.read(process.stdout.fileno(), 100)
            yield process.stdin.fileno(), process.stdout.fileno()
        finally:
            process.kill()


# --- in the process of the judges ------------------------------------------------------------------------------------


class _Crowd:
    """What all games of the crowd have together."""

    def __init__(self, games: int) -> None:
        self.ready, self.over = Barrier(games), Barrier(games)
        self.beginning = Semaphore(BEGINNING)
        self.begun, self.counted = itertools.count(1), itertools.count(1)
        self.games: list[_Game] = []
        self.cpu_s: list[float] = []
        """The CPU time that was used when the last game had begun, and when the first one was near its end."""

    def measure(self) -> None:
        """Note how far all games have come."""
        self.cpu_s.append(_cpu_s())
        for game in self.games:
            game.measured.append(game.answers)


_crowd: list[_Crowd] = []


def _join(games: int) -> None:
    _crowd[:] = [_Crowd(games)]


class _Game:
    """A game of the crowd: when all are ready a few begin at a time, and boxes are removed when all are over."""

    def __init__(self) -> None:
        self._crowd = _crowd[0]
        self._begins = False
        self.answers = 0
        self.measured: list[int] = []
        """How many answers there were when the last game had begun, and when the first one was near its end."""
        self._crowd.games.append(self)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Its time at the slot."""
        self._crowd.ready.wait(PATIENCE_S)
        self._crowd.beginning.acquire()
        self._begins = True
        try:
            yield
        finally:
            self._note_begin()
        self._crowd.over.wait(PATIENCE_S)

    def watch(self, _ply: Ply) -> None:
        """Count an answer; with the first one the game has begun."""
        self.answers += 1
        self._note_begin()
        if self.answers == COUNTED and next(self._crowd.counted) == 1:
            self._crowd.measure()

    def _note_begin(self) -> None:
        """Once: let another game begin. When the last one has begun, so does the measurement."""
        if self._begins:
            self._begins = False
            self._crowd.beginning.release()
            if next(self._crowd.begun) == self._crowd.ready.parties:
                self._crowd.measure()


def _play(spec: str, programs: Mapping[str, Path], slot: Slot) -> list[float]:
    """Play a game; the errors of its clocks while all games went on, in ms."""
    os.sched_setaffinity(0, slot.judge_cores)
    game = _Game()
    venue = Venue(slot, turn=game.turn, watch=game.watch)
    file = play(GameSpec.model_validate_json(spec), programs, venue=venue)
    if any(seat.fault for seat in file.record.seats) or file.record.verdict == "void":
        raise HostError(f"a game of the measurement did not end by the rules: {file.record.reason}")
    return list(clock_errors_ms(unseal(file.transcript)))[slice(*game.measured)]


def _used() -> Used:
    """What was used between the two moments; when all games are over."""
    before_s, after_s = _crowd[0].cpu_s
    answers = sum(last - first for first, last in (game.measured for game in _crowd[0].games))
    pid = os.getpid()
    memory = sum(map(_memory_bytes, (pid, *children_of(pid))))
    return Used((after_s - before_s) / max(1, answers), memory)


def _cpu_s() -> float:
    """This process's CPU time so far, and that of the processes that it has started."""
    fields = (stat_fields(pid) for pid in children_of(os.getpid()))
    return time.process_time() + sum(int(each[11]) + int(each[12]) for each in fields) / os.sysconf("SC_CLK_TCK")


def _memory_bytes(pid: int) -> int:
    """A process's memory; of what it shares with others, its part."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
