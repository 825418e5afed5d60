"""`./scripts/bench`: what the judge costs, each figure beside its limit and, where there is one, a peer of its run.

Every figure is the median of several runs. A limit is measured, not remembered: a bare pipe, a bare `docker run`, the
Engine's own pause. Judge and slot have a core each where the host has two.
"""

import json
import os
import statistics
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from judge.agents.agents import Agent
from judge.base.errors import HostError, InputError
from judge.base.owner import owned_directory
from judge.contest.host_setup import make_ready, slot_alone
from judge.play.game import play
from judge.play.venue import Slot, Venue
from judge.record.policy import Policy, load_policy
from judge.record.spec import GameSpec, RecordFile
from judge.record.transcript import EntryKind, unseal
from judge.sandbox.box import Box
from judge.sandbox.docker.kept import KEPT
from judge.terminal.output import note, print_notice
from scripts.benchmarks.against import compare, read_figures, show_changes
from scripts.benchmarks.cluster import cluster
from scripts.benchmarks.contest import contest
from scripts.benchmarks.crowd import crowd
from scripts.benchmarks.hostile import hostile
from scripts.benchmarks.ladder import ladder
from scripts.benchmarks.ladder_page import ladder_page
from scripts.benchmarks.large import large
from scripts.benchmarks.live import live
from scripts.benchmarks.measuring import GOMOKU, RUNS, SHORT, Bench, Figure, clock_errors_ms, figure_of, share_of
from scripts.benchmarks.service import service
from scripts.benchmarks.start import new_box, say_start, start
from scripts.benchmarks.taken import Taken

PINGS = 2000
FREEZES = 500
FRESH_GAMES, KEPT_GAMES = 6, 40


# --- games -----------------------------------------------------------------------------------------------------------


def _game(bench: Bench, name: str, *overrides: str, policy_name: str = GOMOKU) -> RecordFile:
    """One game of a house agent against itself."""
    return _game_of(bench, bench.agent(name), load_policy(policy_name, overrides))


def _game_of(bench: Bench, agent: Agent, policy: Policy) -> RecordFile:
    seat = agent.seat(policy)
    spec = GameSpec(
        seats=(seat.model_copy(update={"name": "a"}), seat.model_copy(update={"name": "b"})),
        policy=policy,
    )
    file = play(spec, {agent.digest: agent.program}, venue=Venue(bench.slot))
    if file.record.verdict == "void":
        raise HostError(f"a game of the measurement is void: {file.record.reason}")
    return file


def _us_per_move(file: RecordFile) -> float:
    """From the first thaw to the last answer, everything of the judge's included, per answer."""
    entries = unseal(file.transcript)
    last = max(e.ns for e in entries if e.kind is EntryKind.READ and e.data)
    first = next(e.ns for e in entries if e.kind is EntryKind.THAWED)
    return (last - first) / 1000 / len(file.record.plies)


# --- relay -----------------------------------------------------------------------------------------------------------


def relay(bench: Bench) -> Iterator[Figure]:
    """Moves a second between two instant agents, rules, freezing and transcript on."""
    bare, judged, loose, attached = [], [], [], []
    for _ in range(RUNS):
        bare.append(_bare_pipe_us(bench))
        judged.append(_us_per_move(_game(bench, "house-instant")))
        loose.append(_us_per_move(_game(bench, "house-instant", "box.freeze=none")))
        attached.append(_us_per_move(_game(bench, "house-instant", "box.transport=attach")))
    peer_s = bench.peer_game_s()
    peer_us = None if peer_s is None else peer_s * 1e6 / 400
    for name, values in (
        ("relay, pipes, freezing", judged),
        ("relay, pipes, not freezing", loose),
        ("relay, Engine attach, freezing", attached),
    ):
        yield figure_of(name, values, "us/move", bare, peer=peer_us)
    yield figure_of("moves a second, pipes, freezing", [1e6 / us for us in judged], "moves/s")
    stratego = [
        1e6 / _us_per_move(_game(bench, "house-stratego-instant", "box.freeze=none", policy_name="stratego-2012"))
        for _ in range(RUNS)
    ]
    yield figure_of("relay, Stratego, not freezing", stratego, "half-moves/s")


def _bare_pipe_us(bench: Bench) -> float:
    """A ping-pong with the same agent through a plain pipe, no judge: the least a move can cost here."""
    agent = bench.agent("house-instant")
    program = str(agent.program / "house-instant")
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        if process.stdin is None or process.stdout is None:
            raise HostError("no pipes to a process of one's own")
        if bench.slot.cores:
            os.sched_setaffinity(process.pid, bench.slot.cores)
        to, back = process.stdin.fileno(), process.stdout.fileno()
        took = []
        for _ in range(PINGS // 200):
            os.write(to, b"START 20\r\n")
            os.read(back, 100)
            began = time.perf_counter_ns()
            for n in range(200):
                os.write(to, f"TURN {n % 20},{19 - n // 20}\r\n".encode())
                os.read(back, 100)
            took.append((time.perf_counter_ns() - began) / 1000 / 200)
        os.write(to, b"END\r\n")
    return statistics.median(took)


# --- clock -----------------------------------------------------------------------------------------------------------


def clock(bench: Bench) -> Iterator[Figure]:
    """What is charged against what the agent itself measured from its read to its write."""
    errors: list[float] = []
    for _ in range(RUNS):
        errors += clock_errors_ms(unseal(_game(bench, "house-stamp").transcript))
    yield Figure(
        "clock, charged minus true, median",
        statistics.median(errors),
        "ms",
        1.0,
        statistics.median(errors),
    )
    worst = share_of(errors, 0.99)
    yield Figure(f"clock, charged minus true, p99 of {len(errors)}", worst, "ms", 1.0, worst)


# --- reuse -----------------------------------------------------------------------------------------------------------


def reuse(bench: Bench) -> Iterator[Figure]:
    """Whole games of instant agents, one after the other, in boxes that are kept for their agents and in fresh ones."""
    agent = bench.agent("house-instant")
    for length, overrides in (("25 moves", SHORT), ("400 moves", ())):
        kept, fresh = [], []
        for _ in range(RUNS):
            fresh.append(_games_a_minute(bench, agent, FRESH_GAMES, overrides))
            kept.append(_games_a_minute(bench, agent, KEPT_GAMES, (*overrides, "box.reuse=agent")))
            KEPT.close()
        yield figure_of(f"games of {length}, boxes reused", kept, "games/min", fresh)


def _games_a_minute(bench: Bench, agent: Agent, games: int, overrides: tuple[str, ...]) -> float:
    """After a first one, which is not counted: where boxes are kept it is in fresh ones."""
    policy = load_policy(GOMOKU, overrides)
    _game_of(bench, agent, policy)
    began = time.perf_counter()
    for _ in range(games):
        _game_of(bench, agent, policy)
    return 60 * games / (time.perf_counter() - began)


# --- freeze ----------------------------------------------------------------------------------------------------------


def freeze(bench: Bench) -> Iterator[Figure]:
    """What freezing and thawing a waiting agent costs the judge, against the Engine's own pause and unpause.

    Between the two the box comes to stand still, which the judge does not wait for in a game.
    """
    with new_box(bench) as box:
        ours = _freeze_and_thaw_us(box, FREEZES)
    with new_box(bench, "box.freeze=engine") as box:
        engine = _freeze_and_thaw_us(box, 20)
    yield Figure("freeze and thaw", ours, "us", engine, ours / engine)


def _freeze_and_thaw_us(box: Box, times: int) -> float:
    box.prepare()
    box.enter()
    box.start()
    say_start(box)
    took = []
    for _ in range(times):
        began = time.perf_counter_ns()
        box.freeze()
        frozen = time.perf_counter_ns()
        while not box.is_frozen():
            pass
        settled = time.perf_counter_ns()
        box.thaw()
        took.append((frozen - began + time.perf_counter_ns() - settled) / 1000)
    return statistics.median(took)


MEASURES = {
    "relay": relay,
    "clock": clock,
    "start": start,
    "reuse": reuse,
    "freeze": freeze,
    "contest": contest,
    "crowd": crowd,
    "large": large,
    "ladder": ladder,
    "ladder-page": ladder_page,
    "live": live,
    "service": service,
    "hostile": hostile,
    "cluster": cluster,
}


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="relay, clock, start, reuse, freeze, contest, crowd, large, ladder, ladder-page, live, service, "
            "hostile, cluster; all if none."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    peer: Annotated[list[str] | None, typer.Option(help="c-gomoku-cli=PATH: run a peer too.")] = None,
    games: Annotated[
        list[int] | None, typer.Option(min=200, help="For large: how many games, instead of 1000 and 10000.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="The output of --json of a former run: say what has become worse, and fail.")
    ] = None,
) -> None:
    """Measure the judge on this host."""
    before = None if against is None else read_figures(against)
    for name in names or []:
        if name not in MEASURES:
            raise InputError(f"there is no measurement {name!r}; there are {', '.join(MEASURES)}")
    peers = dict(_peer(text) for text in peer or [])
    make_ready("docker", load_policy(GOMOKU), ["native"], print_notice)
    figures: list[Figure] = []
    with owned_directory() as staging, slot_alone("docker", print_notice) as slot:
        bench_ = Bench(slot, staging, peers, *([sorted(games)] if games else []))
        taken = Taken.so_far()
        for name in names or MEASURES:
            note(f"measuring {name} ...")
            figures += MEASURES[name](bench_)
        figures += taken.figures()
    if as_json:
        print(json.dumps([asdict(figure) for figure in figures], indent=2))
    else:
        _show(figures, slot)
    if before is not None:
        changes = list(compare(before, figures))
        show_changes(changes)
        if any(change.is_worse for change in changes):
            raise typer.Exit(1)


def _peer(text: str) -> tuple[str, str]:
    name, _, path = text.partition("=")
    if name != "c-gomoku-cli" or not Path(path).is_file():
        raise InputError(f"--peer {text}: write c-gomoku-cli=PATH of its executable")
    return name, str(Path(path).resolve())


def _show(figures: list[Figure], slot: Slot) -> None:
    shared = " (one core for both)" if set(slot.cores) & set(slot.judge_cores) else ""
    title = f"judge on core {slot.judge_cores}, slot on {slot.cores}{shared}; medians of {RUNS} runs"
    table = Table("name", "value", "unit", "limit", "ratio", "peer", title=title)
    for figure in figures:
        numbers = (figure.limit, figure.ratio, figure.peer)
        shown = ["" if number is None else f"{number:.2f}" for number in numbers]
        table.add_row(figure.name, f"{figure.value:.2f}", figure.unit, *shown)
    Console().print(table)


def main() -> None:
    """The command line of ./scripts/bench."""
    from judge.cli import guarded

    guarded(lambda: typer.run(bench))


if __name__ == "__main__":
    main()
