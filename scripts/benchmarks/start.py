"""`./scripts/bench start`: a fresh container from its creation to OK and from its end to nothing, step by step.

Beside it, by turns, a bare `docker run` of the same image and agent, without any of the judge's limits. The start is
measured again with crun, where the Engine has it.
"""

import os
import select
import shutil
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from judge.agents.agents import Agent, stage_agent
from judge.base.errors import HostError
from judge.record.policy import load_policy
from judge.sandbox.box import ONE_KERNEL, Box, Tenant
from judge.sandbox.docker import container_box
from judge.sandbox.docker.engine import Engine
from judge.sandbox.docker.images import find_runtime
from judge.sandbox.open_box import open_box
from scripts.benchmarks.measuring import GOMOKU, RUNS, Bench, Figure, figure_of

ROUNDS = 2 * RUNS

SLOT_FREE_MS = 20.0
"""How long the end of both boxes may keep a slot from its next game."""

WEIGHTS_MIB = 128
"""Beside the executable of a large program."""

TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
"""The unit of /proc/stat."""

STEPS: Mapping[str, tuple[Any, str]] = {
    "start: the image is looked for": (container_box, "find_runtime"),
    "start: the Engine creates it": (Engine, "create"),
    "start: the Engine attaches to it": (Engine, "attach"),
    "start: the Engine starts it": (Engine, "start"),
    "start: the Engine tells its process": (Engine, "state"),
    "end: the Engine notes it": (Engine, "wait"),
    "end: the Engine removes it": (Engine, "remove"),
}
"""What a start and an end wait for; the rest is the judge's own."""


def start(bench: Bench) -> Iterator[Figure]:
    """A box after the other, and how long each step takes."""
    ours: list[_Life] = []
    bare: list[_Life] = []
    with _timed() as steps:
        for _ in range(ROUNDS):
            bare.append(_measured(partial(_bare_run, bench)))
            ours.append(_measured(partial(_box_life, bench)))
    yield figure_of("start, created to OK", [life.start_ms for life in ours], "ms", [life.start_ms for life in bare])
    for name in STEPS:
        yield figure_of(name, steps[name], "ms")
    known = [[steps[name][run] for name in STEPS if name.startswith("start")] for run in range(ROUNDS)]
    rest = [life.start_ms - sum(parts) for life, parts in zip(ours, known, strict=True)]
    yield figure_of("start: the rest, until the agent has said OK", rest, "ms")
    yield from _other_runtimes(bench)
    yield from _large_program(bench)
    cpu, least = (statistics.fmean(life.cpu_ms for life in lives) for lives in (ours, bare))
    yield Figure("start and end, CPU of the whole host", cpu, "ms", least, cpu / least)
    yield figure_of(
        "end of a game to slot free", [_slot_free_ms(bench) for _ in range(RUNS)], "ms", [SLOT_FREE_MS] * RUNS
    )


class _Life(NamedTuple):
    """A container's: how long it took to its agent's OK, and what this host computed until it was gone."""

    start_ms: float
    cpu_ms: float


def _other_runtimes(bench: Bench) -> Iterator[Figure]:
    """The same start with what the policy may name instead of the Engine's usual runtime."""
    with closing(Engine()) as engine:
        said = engine.info()
    for runtime in ONE_KERNEL:
        if runtime in said["Runtimes"] and runtime != said["DefaultRuntime"]:
            pairs = [(_bare_run(bench), _box_life(bench, f"box.runtime={runtime}")) for _ in range(ROUNDS)]
            bare, ours = zip(*pairs, strict=True)
            yield figure_of(f"start with {runtime}, created to OK", ours, "ms", bare)


def _large_program(bench: Bench) -> Iterator[Figure]:
    """The start of a program with weights, compared with the same one without; and what comes before its first game."""
    source = bench.staging / "large-program"
    shutil.copytree(bench.agent("house-instant").program, source)
    with (source / "weights.bin").open("wb") as weights:
        for _ in range(WEIGHTS_MIB):
            weights.write(os.urandom(1 << 20))
    began = time.perf_counter()
    agent = stage_agent(str(source), bench.staging)
    about = f"a program with {WEIGHTS_MIB} MiB of weights"
    yield Figure(f"{about}: copied, and its digest taken", (time.perf_counter() - began) * 1000, "ms")
    pairs = [(_box_life(bench), _box_life(bench, agent=agent)) for _ in range(ROUNDS)]
    small, large = zip(*pairs, strict=True)
    yield figure_of(f"{about}: start, created to OK", large, "ms", small)


def _measured(live: Callable[[], float]) -> _Life:
    before = _busy_ms()
    start_ms = live()
    return _Life(start_ms, _busy_ms() - before)


def _box_life(bench: Bench, *overrides: str, agent: Agent | None = None) -> float:
    with new_box(bench, *overrides, agent=agent) as box:
        began = time.perf_counter()
        _run(box)
        return (time.perf_counter() - began) * 1000


def _bare_run(bench: Bench) -> float:
    """`docker run`, by the command-line client."""
    agent = bench.agent("house-instant")
    command = ["docker", "run", "--rm", "-i", "--network", "none", "-v", f"{agent.program}:/agent:ro"]
    command += [find_runtime("native").id, "/agent/house-instant"]
    began = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        if process.stdin is None or process.stdout is None:
            raise HostError("no pipes to a process of one's own")
        process.stdin.write(b"START 20\r\n")
        process.stdout.readline()
        took = (time.perf_counter() - began) * 1000
        process.stdin.write(b"END\r\n")
    return took


def _slot_free_ms(bench: Bench) -> float:
    """Both agents wait for a line when the game is over."""
    with ExitStack() as stack:
        boxes = [stack.enter_context(new_box(bench)) for _ in range(2)]
        for box in boxes:
            _run(box)
        began = time.perf_counter()
        for box in boxes:
            box.leave()
        return (time.perf_counter() - began) * 1000


def _run(box: Box) -> None:
    box.prepare()
    box.enter()
    box.start()
    say_start(box)


def say_start(box: Box) -> None:
    """START, and wait for what it brings: an agent that waits for its next line."""
    box.write(b"START 20\r\n")
    while not any(b"OK" in data for source in box.sources for _, data in source.read()):
        select.select([source.fd for source in box.sources if not source.ended], [], [])


@contextmanager
def new_box(bench: Bench, *overrides: str, agent: Agent | None = None) -> Iterator[Box]:
    """A box, made but not prepared; unless told otherwise, of an agent that answers at once."""
    agent, policy = agent or bench.agent("house-instant"), load_policy(GOMOKU, overrides)
    tenant = Tenant(
        name="bench",
        program=agent.program,
        command=agent.manifest.command,
        runtime="native",
        seat=0,
        game_id="bench",
        cores=bench.slot.cores,
        digest=agent.digest,
    )
    box = open_box("docker", tenant, policy.enforced(), policy.box)
    try:
        yield box
    finally:
        box.close()


@contextmanager
def _timed() -> Iterator[Mapping[str, list[float]]]:
    """How long each call of each step takes meanwhile, in milliseconds."""
    taken: dict[str, list[float]] = defaultdict(list)
    usual = {name: getattr(owner, called) for name, (owner, called) in STEPS.items()}

    def timed(name: str) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            began = time.perf_counter()
            try:
                return usual[name](*args, **options)
            finally:
                taken[name].append((time.perf_counter() - began) * 1000)

        return call

    for name, (owner, called) in STEPS.items():
        setattr(owner, called, timed(name))
    try:
        yield taken
    finally:
        for name, (owner, called) in STEPS.items():
            setattr(owner, called, usual[name])


def _busy_ms() -> float:
    """What this host's processors have computed, by the first line of /proc/stat: without idling, waiting and steal."""
    fields = list(map(int, Path("/proc/stat").read_text(encoding="ascii").split()[1:8]))
    return (sum(fields) - fields[3] - fields[4]) * TICK_MS
