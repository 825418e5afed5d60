"""`./scripts/bench cluster`: how a contest grows with its machines, and how many its scheduling has time for."""

import logging
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from judge.base.errors import HostError
from judge.base.logs import set_level
from judge.cluster.cluster import Cluster
from judge.cluster.connection import settle
from judge.cluster.security import parse_address, security_of
from judge.cluster.transfers import Parcels
from judge.contest.attempts import EndedAttempt
from judge.contest.begin import begin
from judge.contest.contest import Contest, open_store
from judge.contest.plan import Planned, load_plan
from judge.contest.runner import ContestRunner, RunObserver, Scheduler
from judge.contest_games import AttemptState
from judge.record.policy import load_policy
from judge.record.spec import GameSpec
from judge.sandbox.docker.images import image_facts
from judge.store.contests import Store
from judge.tournament.formats.round_robin import RoundRobin
from scripts.benchmarks.crowd import POLICY, SMALL
from scripts.benchmarks.large import prepare, prepare_ladder, real_game
from scripts.benchmarks.measuring import Bench, Figure, everywhere
from scripts.benchmarks.simulated_workers import READY
from tests.cluster.cables import laid
from tests.cluster.machines import Machines
from tests.contest.real_agents import NO_FOLDERS, begin_with

WORKERS = 8
GAMES = 5
"""Of each worker; those after the first are timed."""

SLEEP_MS = 500
"""Of an agent before each move: a game takes 40 s. The workers share this host's cores, on which starts and ends of
shorter games wait for each other."""

SIMULATED = (10, 100, 1000)
GAMES_A_SECOND = 16
"""What is asked of many simulated workers: a thousand then have games of a minute."""

SHORTEST_S = 1.0
"""So long takes a game of few simulated workers."""

ROUNDS = 2
"""So many games has each simulated worker, at least."""

PATIENCE_S = 300

WATCH_LIMIT = Path("/proc/sys/fs/epoll/max_user_watches")
SIMULATED_WATCHES = 65536
"""Of epoll, for a user. A thousand workers in one process need more than the limit that quickstart sets."""


def cluster(bench: Bench) -> Iterator[Figure]:
    """Real workers, each behind a cable of its own, and then many that play nothing."""
    settle()
    set_level(logging.WARNING)
    yield from linear(bench)
    yield from scheduling(bench)


# --- real workers ----------------------------------------------------------------------------------------------------


def linear(bench: Bench) -> Iterator[Figure]:
    """Games a minute of several workers against those of one; their agents sleep, for all share this host's cores."""
    one = _games_a_minute(bench, 1)
    many = _games_a_minute(bench, WORKERS)
    name = f"{WORKERS} workers in network namespaces, agents sleep"
    yield Figure(name, many, "games/min", WORKERS * one, many / (WORKERS * one))


class Noting(Cluster):
    """Notes when each worker's games have ended."""

    ends: defaultdict[str, list[float]]

    def wait(self, timeout_s: float) -> list[EndedAttempt]:
        """As ever."""
        found = super().wait(timeout_s)
        for end in found:
            self.ends[end.host].append(time.monotonic())
        return found


def _games_a_minute(bench: Bench, count: int) -> float:
    """The sum over the workers, of each from the end of its first game to that of its last."""
    folder = Path(tempfile.mkdtemp(dir=bench.staging))
    names = [f"n{number}" for number in range(count)]
    with laid(count) as cables, everywhere(bench.slot):
        machines = Machines.behind(dict(zip(names, cables, strict=True)), folder)
        try:
            machines.start_scheduler()
            for name, cable in zip(names, cables, strict=True):
                machines.join(name, cable.inside)
            machines.wait_for_scheduler()
            ends = _played(bench, machines, folder, count)
        finally:
            machines.stop()
    return sum(60 * (len(times) - 1) / (times[-1] - times[0]) for times in ends.values())


def _played(bench: Bench, machines: Machines, folder: Path, count: int) -> dict[str, list[float]]:
    agent = bench.agent("house-stamp")
    policy = load_policy(POLICY, (*SMALL, *NO_FOLDERS, "attempts=1"))
    address = parse_address(machines.address)
    parcels = Parcels(folder / "parcels", image_facts(["native"]))
    store = Store(f"sqlite:///{folder / 'bench.db'}")
    with (
        closing(store),
        closing(Noting(address, security_of(address, machines.keys), parcels, store, "cup")) as executor,
    ):
        executor.ends = defaultdict(list)
        agents, form = dict.fromkeys(("one", "two"), agent), RoundRobin(games=count * GAMES)
        contest = begin_with(agents, policy, form, store, folder, words=(str(SLEEP_MS),))
        _await_slots(executor, count)
        ContestRunner(contest, executor, Checking()).run()
        return executor.ends


def _await_slots(executor: Cluster, count: int) -> None:
    """Wait for so many workers. Raises HostError if they do not come."""
    deadline = time.monotonic() + PATIENCE_S
    while executor.free < count:
        if time.monotonic() > deadline:
            raise HostError(f"{executor.free} of {count} workers have come")
        executor.wait(0.1)


class Checking(RunObserver):
    """Refuses games that do not count."""

    def report(self, ended: EndedAttempt) -> None:
        if ended.state is not AttemptState.ACCEPTED:
            raise HostError(f"a game of the measurement does not count: {ended.why}")


# --- simulated workers -----------------------------------------------------------------------------------------------


def scheduling(bench: Bench) -> Iterator[Figure]:
    """What many workers cost the scheduler and the contest's host, which have one core together where there are two.

    The workers are in one process on the other core: each waits as long as a game takes, and returns a stored record.
    """
    with _many_watches():
        for count in SIMULATED:
            planned = load_plan(prepare(bench.staging / f"simulated-{count}", ROUNDS * count))
            yield from _scheduled(bench, planned, count, f"{count} simulated workers")
        most = SIMULATED[-1]
        planned = load_plan(prepare_ladder(bench.staging / "simulated-ladder", most, ROUNDS * most))
        yield from _scheduled(bench, planned, most, f"ladder of {most} agents on {most} simulated workers")


@contextmanager
def _many_watches() -> Iterator[None]:
    limit = WATCH_LIMIT.read_text(encoding="ascii")
    WATCH_LIMIT.write_text(str(max(int(limit), SIMULATED_WATCHES)), encoding="ascii")
    try:
        yield
    finally:
        WATCH_LIMIT.write_text(limit, encoding="ascii")


def _scheduled(bench: Bench, planned: Planned, count: int, name: str) -> Iterator[Figure]:
    wait_s = max(SHORTEST_S, count / GAMES_A_SECOND)
    folder = planned.path.parent
    with closing(open_store(planned)) as store:
        contest = begin(store, planned, {"cpu": "a processor"})
        _store_records(bench, contest, folder / "records")
        with _scheduler(folder) as (address, scheduler), _crew(bench, address, count, wait_s, folder / "records"):
            where = parse_address(address)
            parcels, security = Parcels(folder / "parcels", {}), security_of(where, None)
            with closing(Cluster(where, security, parcels, store, contest.name)) as executor:
                _await_slots(executor, count)
                spent, contest_cpu_s, began = _cpu_s(scheduler.pid), time.process_time(), time.monotonic()
                checks = _children_s()
                ContestRunner(contest, executor, Checking()).run()
                took = time.monotonic() - began
                spent, contest_cpu_s = _cpu_s(scheduler.pid) - spent, time.process_time() - contest_cpu_s
            checks = _children_s() - checks
        games = len(store.results(contest.name))
    name = f"{name} with games of {wait_s:.3g} s"
    yield Figure(f"{name}: games", games / took, "games/s", count / wait_s, games / took / (count / wait_s))
    yield Figure(f"{name}: scheduler, CPU", 1000 * spent / games, "ms/game")
    yield Figure(f"{name}: contest, CPU", 1000 * contest_cpu_s / games, "ms/game")
    yield Figure(f"{name}: checks of records, CPU", 1000 * checks / games, "ms/game")
    share = 100 * (spent + contest_cpu_s) / took
    yield Figure(f"{name}: scheduler and contest", share, "% of a core", 100, share / 100)


def _store_records(bench: Bench, contest: Contest, folder: Path) -> None:
    """A real game of each opening."""
    folder.mkdir()
    if not contest.store.games(contest.name):
        Scheduler(contest).schedule_next()  # a ladder
    game = contest.store.games(contest.name)[0]
    spec = GameSpec.model_validate_json(game.spec)
    for number, opening in enumerate(contest.snapshot.openings):
        record = real_game(bench, contest, game, spec.model_copy(update={"opening": opening}))
        (folder / f"{number}.json").write_bytes(record.to_json())


@contextmanager
def _scheduler(folder: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """`judge scheduler` on this process's core: its address."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{door.getsockname()[1]}"
    command = [sys.executable, "-m", "judge.cli", "scheduler", "--listen", address]
    with (folder / "scheduler.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        while b"scheduler listens" not in (folder / "scheduler.log").read_bytes():
            if process.poll() is not None:
                raise HostError((folder / "scheduler.log").read_text())
            time.sleep(0.1)
        yield address, process
    finally:
        process.kill()
        process.wait()


@contextmanager
def _crew(bench: Bench, address: str, count: int, wait_s: float, records: Path) -> Iterator[None]:
    """So many workers on the slot's core."""
    words = [address, str(count), str(wait_s), str(records)]
    with everywhere(bench.slot):
        process = subprocess.Popen(
            [sys.executable, "-m", "scripts.benchmarks.simulated_workers", *words], stdout=subprocess.PIPE
        )
    if bench.slot.cores:
        os.sched_setaffinity(process.pid, bench.slot.cores)
    try:
        if process.stdout is None or READY not in (line.decode().strip() for line in process.stdout):
            raise HostError("the simulated workers did not begin")
        yield
    finally:
        process.kill()
        process.communicate()


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _children_s() -> float:
    """Of processes that have ended and were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
