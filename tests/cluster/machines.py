"""A cluster of real processes on this machine, and a contest for it whose games last as long as a test wants."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from judge.agents.agents import Agent, stage_agent
from judge.base.procfs import children_of
from judge.cluster.cluster import Cluster, open_cluster
from judge.cluster.security import invite, make_keys, parse_address
from judge.contest.attempts import EndedAttempt
from judge.contest.runner import ContestRunner, RunObserver, Scheduler, StopReason
from judge.contest_games import AttemptState, GameState, Pairing, ScheduledGame
from judge.host.house_agents import build_house_agents
from judge.record.policy import load_policy
from judge.record.spec import RecordFile
from judge.sandbox.box import BoxKind
from judge.sandbox.machine.cores import LOCKS_VARIABLE
from judge.store.contests import Store
from judge.tournament.formats.round_robin import RoundRobin
from tests.cli.brains import write_brain
from tests.cli.conftest import SMALL
from tests.cluster.cables import Cable
from tests.contest.real_agents import NO_FOLDERS, begin_with
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S, until

__all__ = ["LOST_AFTER_S", "Cup", "Machines", "children", "until"]

MOST_GAMES = 10_000

PAIRING = Pairing("one", "two", 1, 1)
"""Of all games."""

LOST_AFTER_S = 5
"""The least that dask knows."""


def children(pid: int) -> list[int]:
    """The processes that a process has started, workers among them."""
    found = children_of(pid)
    for child in found:  # grows in the loop
        found += children_of(child)
    return found


class Machines:
    """A scheduler and workers, each a `judge` command in a folder of its own."""

    def __init__(self, folder: Path, host: str = "127.0.0.1", scheme: str = "tcp", keys: Path | None = None) -> None:
        self.folder = folder
        self.scheme = scheme
        self.keys = keys
        self.port = _free_port()
        self.host = host
        self.listens = ""
        """The address of the scheduler, if it is not the one at which it is reached."""
        self.environment: dict[str, str] = {}
        """Of every process, beside that of the tests."""
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: dict[str, subprocess.Popen[bytes]] = {}

    @classmethod
    def behind(cls, cables: Mapping[str, Cable], folder: Path) -> "Machines":
        """Workers that are to join over TLS, each by its file and from behind a cable; this host is not behind one."""
        (keys,) = make_keys(folder / "keys", ["everybody"], 1)
        found = cls(folder, scheme="tls", keys=keys)
        found.listens = "0.0.0.0"  # noqa: S104 - at all cables
        for name, cable in cables.items():
            invite(folder / "keys", [name], parse_address(f"tls://{cable.here}:{found.port}"), 1)
        return found

    @property
    def address(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    def start_scheduler(self) -> None:
        listen = f"{self.scheme}://{self.listens or self.host}:{self.port}"
        words = ("scheduler", "--listen", listen, "--lost-after", str(LOST_AFTER_S))
        self.scheduler = self._judge("scheduler", (), *words)

    def start_worker(self, name: str, prefix: Sequence[str] = (), address: str = "", slots: int = 1) -> None:
        """`prefix` are words before the command, such as those that enter a network namespace."""
        (self.folder / name).mkdir(exist_ok=True)
        call = ("--scheduler", address or self.address, "--name", name, "--folder", name)
        self.workers[name] = self._judge(name, prefix, "worker", *call, "--slots", str(slots), "--allow-processes")

    def join(self, name: str, prefix: Sequence[str] = (), file: Path | None = None) -> None:
        """Start a worker with its file from `judge cluster`."""
        file = file or self.folder / "keys" / f"{name}.join"
        words = ("--join", str(file), "--folder", name, "--slots", "1", "--allow-processes")
        self.workers[name] = self._command(name, prefix, "worker", *words)

    def wait_for_scheduler(self) -> None:
        assert self.scheduler
        process = self.scheduler
        until(lambda: "scheduler listens" in self.says("scheduler") or process.poll() is not None, "a scheduler")
        assert process.poll() is None, self.says("scheduler")

    def says(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def fix(self, *names: str) -> None:
        """Start whatever is not running of the scheduler and these workers."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            self.start_scheduler()
        for name in names:
            process = self.workers.get(name)
            if process is None or process.poll() is not None:
                self.start_worker(name)

    def stop(self) -> None:
        """End everything, frozen or not."""
        processes = [*self.workers.values(), *([self.scheduler] if self.scheduler else [])]
        for process in processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()

    def _judge(self, name: str, prefix: Sequence[str], *words: str) -> subprocess.Popen[bytes]:
        return self._command(name, prefix, *words, *(("--tls", str(self.keys)) if self.keys else ()))

    def _command(self, name: str, prefix: Sequence[str], *words: str) -> subprocess.Popen[bytes]:
        command = [*prefix, sys.executable, "-m", "judge.cli", *words]
        environment = os.environ | {LOCKS_VARIABLE: str(self._locks(name))} | self.environment
        # A network namespace is entered, and a library preloaded, by a new process.
        start = subprocess.Popen[bytes] if prefix or "LD_PRELOAD" in self.environment else ForkedProcess[bytes]
        with (self.folder / f"{name}.log").open("ab") as log:
            return start(command, cwd=self.folder, stdout=log, stderr=log, env=environment)

    def _locks(self, name: str) -> Path:
        """The locks of a machine's cores: each worker stands for a machine of its own, and waits for no other."""
        directory = self.folder / f"{name}.locks"
        directory.mkdir(exist_ok=True)
        for core in range(os.sysconf("SC_NPROCESSORS_CONF")):
            (directory / f"cpu{core}").touch()
        return directory


class Cup(RunObserver):
    """A brain that waits for its gate and an instant house agent, a store, and games between them."""

    def __init__(self, folder: Path, box: BoxKind = "process", store_url: str = "") -> None:
        build_house_agents()
        self.folder = folder
        staging = folder / "staging"
        staging.mkdir()
        self.gate = folder / "gate"
        trick = (
            f"open({str(self.gate)!r} + '-%d' % os.getpid(), 'w').close()\n"
            f"while not os.path.exists({str(self.gate)!r}): time.sleep(0.02)"
        )
        brain = write_brain(folder, "patient", trick)
        self.agents: list[Agent] = [stage_agent(named, staging) for named in (brain, "house-instant")]
        change = ["clock.turn_ms=60000", "clock.start_ms=60000", "attempts=2", *NO_FOLDERS, *SMALL]
        self.policy = load_policy("gomocup-standard", change)
        self.database = folder / "cup.db"
        self.store = Store(store_url or f"sqlite:///{self.database}")
        agents = dict(zip(("one", "two"), self.agents, strict=True))
        self.contest = begin_with(agents, self.policy, RoundRobin(games=MOST_GAMES), self.store, folder, box)
        self.files = self.contest.files
        self.store.schedule("cup", [], [PAIRING])
        self.ended_attempts: list[EndedAttempt] = []

    def waiting(self) -> int:
        """How many brains have come to the gate so far."""
        return len(list(self.gate.parent.glob("gate-*")))

    def open_gate(self) -> None:
        self.gate.touch()

    def begin(self, cluster: Cluster, games: int) -> None:
        """Give out as many games, and return when each has come to the gate."""
        for _ in range(games):
            self.begin_when_free(cluster)
        until(lambda: self.waiting() >= games or bool(cluster.wait(0.1)), "all games have begun")

    def begin_when_free(self, cluster: Cluster) -> ScheduledGame:
        while not cluster.free:
            cluster.wait(1.0)
        issued = self.store.issue("cup", cluster.host)
        assert issued
        cluster.start(self.contest.job(issued))
        return issued

    def games(self, first: int, last: int) -> list[ScheduledGame]:
        return [self.contest.tournament._game(PAIRING, number - 1, number) for number in range(first, last + 1)]

    def cluster(self, machines: Machines, runtimes: Sequence[str] = ()) -> Cluster:
        return open_cluster(machines.address, machines.keys, self.store, "cup", self.folder, runtimes)

    def play(
        self,
        cluster: Cluster,
        meanwhile: Callable[[], None] = lambda: None,
        more: Callable[[], Sequence[ScheduledGame]] = lambda: (),
        patience_s: float = PATIENCE_S,
    ) -> StopReason:
        """Play to the end; `meanwhile` is called about once a second, and after each game."""
        self_cup = self

        deadline = time.monotonic() + patience_s

        class Watched(Cluster):
            def wait(self, timeout_s: float) -> list[EndedAttempt]:
                if time.monotonic() > deadline:
                    pytest.fail(f"no end of it: {self_cup.journal()}")
                meanwhile()
                return super().wait(timeout_s)

        class Waves(Scheduler):
            def schedule_next(self) -> bool:
                if self_cup.store.counts("cup")[GameState.RUNNING]:
                    return False
                found = more()
                self_cup.store.schedule("cup", found)
                return bool(found)

        cluster.__class__ = Watched
        runner = ContestRunner(self.contest, cluster, self)
        runner._scheduler = Waves(self.contest)
        return runner.run()

    def report(self, ended: EndedAttempt) -> None:
        self.ended_attempts.append(ended)

    def play_in_steps(self, cluster: Cluster, *steps: tuple[Callable[[], bool], Callable[[], None]]) -> None:
        """Play to the end; each step is what is waited for, and what is done then."""
        left = list(steps)

        def go_on() -> None:
            if left and left[0][0]():
                left.pop(0)[1]()

        assert StopReason.FINISHED is self.play(cluster, go_on)

    def assert_played_once_without(self, name: str) -> None:
        """Each of the first three games has one attempt and one result, none by the worker that was lost."""
        results = self.store.results("cup")
        assert len(results) == len({result.id for result in results})
        for result in results:
            record = RecordFile.model_validate_json(self.files.get(result.record)).record
            assert (result.id, result.attempt) == (record.id, record.attempt)
        others = [row for row in self.attempts() if row[1:3] != (1, "accepted")]
        assert not others, f"{others}\n{self.journal()}"
        assert name not in {host for number, _, _, host in self.attempts() if number <= 3}

    def attempts(self) -> list[tuple[int, int, str, str]]:
        """Number of the game, attempt, state and host of every attempt."""
        query = (
            "select m.number, a.number, a.state, a.host from attempts a join games m on a.game = m.id "
            "order by m.number, a.number"
        )
        with closing(sqlite3.connect(self.database)) as connection:
            return list(connection.execute(query))

    def states(self) -> list[AttemptState]:
        return [happened.state for happened in self.ended_attempts]

    def journal(self) -> str:
        return "\n".join(line.text for line in self.store.journal("cup"))


def _free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port: int = door.getsockname()[1]
        return port
