"""A dask cluster that somebody else started, with workers that lie or attack: their answers do not count."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from distributed import Client
from distributed.core import rpc
from distributed.protocol.pickle import dumps
from distributed.protocol.serialize import ToPickle, to_serialize

from judge.base.logs import get_logger
from judge.contest.hosts import contest_hosts
from judge.contest.runner import StopReason
from judge.sandbox.machine.cores import LOCKS_VARIABLE
from tests.cluster.machines import Cup, Machines
from tests.examples import evidence
from tests.patience import until

LIAR = """
import json, os
from judge.cluster import tasks
from judge.cluster.messages import Played, read_answer

honest = tasks.play

def lie(*arguments, honest=honest):
    answer = read_answer(honest(*arguments))
    if isinstance(answer, Played):
        file = json.loads(answer.record)
        file["record"].update(verdict="win", winner=1)
        answer = answer.model_copy(update={"record": json.dumps(file).encode()})
    return answer.model_dump_json().encode()

if honest.__name__ == "play":  # dask runs this twice
    tasks.play = lie
"""

ATTACKER = """
import os
from judge.cluster import tasks

class Harm(Exception):
    def __reduce__(self):
        # dask reads what was raised here first: the harm is for others.
        return eval, (f"__import__('os').getpid() == {os.getpid()} or __import__('os').mkdir({CANARY!r})",)

raised = []

def attack(*arguments):
    if not raised:
        raised.append(True)
        raise Harm
    return [Harm()]

tasks.play = attack
"""


class Harm:
    """Makes a directory where it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.canary),)


class PlainDask(Machines):
    """The commands of dask, as its manual shows them."""

    def start_scheduler(self) -> None:
        words = ("scheduler", "--host", self.host, "--port", str(self.port), "--no-dashboard")
        self.scheduler = self._dask("scheduler", *words)

    def wait_for_scheduler(self) -> None:
        until(lambda: "Scheduler at" in self.says("scheduler"), "a scheduler")

    def add(self, name: str, preload: str = "") -> None:
        """Start a worker, which runs some code of its own first."""
        words = ["worker", self.address, "--name", name, "--no-nanny", "--no-dashboard", "--resources", "slot=1"]
        if preload:
            (self.folder / f"{name}.py").write_text(preload)
            words += ["--preload", str(self.folder / f"{name}.py")]
        self.workers[name] = self._dask(name, *words, "--local-directory", str(self.folder / name))

    @contextmanager
    def added(self, name: str, preload: str) -> Iterator[None]:
        """Such a worker, which is killed in the end."""
        self.add(name, preload)
        try:
            yield
        finally:
            self.workers[name].kill()

    def _dask(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            command = [sys.executable, "-m", "dask", *words]
            environment = os.environ | {LOCKS_VARIABLE: str(self._locks(name))}
            return subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, env=environment)


@contextmanager
def plain_dask(folder: Path, worker: str, preload: str = "") -> Iterator[PlainDask]:
    found = PlainDask(folder)
    try:
        found.start_scheduler()
        found.wait_for_scheduler()
        found.add(worker, preload)
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlainDask]:
    with plain_dask(tmp_path_factory.mktemp("dask"), "honest") as found:
        yield found


@pytest.fixture
def cup(cup: Cup) -> Cup:
    cup.open_gate()
    return cup


def test_plain_cluster_plays_a_contest_and_rejects_false_results(cup: Cup, plain: PlainDask) -> None:
    """dask gives it games until it has lied once; they are played again by the other."""
    cup.store.schedule("cup", cup.games(1, 2))
    with closing(cup.cluster(plain)) as cluster, plain.added("liar", LIAR):
        while cluster.free < 2:
            cluster.wait(1.0)

        assert StopReason.FINISHED is cup.play(cluster)

        assert {(1, "accepted", "honest")} == {row[1:] for row in cup.attempts()}
        refused = [line.text for line in cup.store.journal("cup") if "is refused" in line.text]
        assert 2 == len(refused)
        assert "the answer of worker liar is refused: the record does not replay" in refused[0]
        assert refused[1] == f"worker liar is given no games: {refused[0]}"
        honest, liar = contest_hosts(cup.store, "cup")
        assert ("honest", 1, 2, "") == (honest.name, honest.slots, honest.played, honest.barred)
        assert ("liar", 1, 0, refused[0]) == (liar.name, liar.slots, liar.played, liar.barred)
        assert 1 == cluster.free


HOST = """
import sys
from pathlib import Path
from judge.cluster.bounded_messages import VALUES, refuse_pickles
from tests.cluster.machines import Cup, Machines

if sys.argv[2] == "refused":
    refuse_pickles(VALUES, except_here=True)
cup = Cup(Path(sys.argv[1]))
machines = Machines(Path(sys.argv[1]))
machines.host, machines.port = "127.0.0.1", int(sys.argv[3])
cup.store.schedule("cup", cup.games(1, 2))
cluster = cup.cluster(machines)
while "is given no games" not in cup.journal():
    cluster.wait(0.5)
    while cluster.free and (match := cup.store.issue("cup", "")):
        cluster.start(cup.contest.job(match))
cluster.kill()
"""


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlainDask]:
    """Its only worker makes a directory `canary` wherever its objects are made."""
    folder = tmp_path_factory.mktemp("attacked")
    with plain_dask(folder, "attacker", f"CANARY = {str(folder / 'canary')!r}\n{ATTACKER}") as found:
        yield found


@pytest.mark.parametrize("pickles", ["refused", pytest.param("read", marks=evidence)])
def test_hostile_worker_runs_no_code_on_the_contests_host(attacked: PlainDask, tmp_path: Path, pickles: str) -> None:
    """Neither by what it raises, in the first game, nor by what it returns; without the defence it does."""
    canary = attacked.folder / "canary"
    assert not canary.exists()

    words = [sys.executable, "-c", HOST, str(tmp_path), pickles, str(attacked.port)]
    ended = subprocess.run(words, check=False, timeout=100, cwd=Path(__file__).parents[2])

    assert 0 == ended.returncode
    assert canary.exists() is (pickles == "read")


ATTACKS: list[tuple[str, str, Callable[[Harm], dict[str, Any]]]] = [
    ("scheduler", "run_function", lambda harm: {"function": dumps(harm), "args": dumps(()), "kwargs": dumps({})}),
    ("scheduler", "register_scheduler_plugin", lambda harm: {"plugin": dumps(harm), "name": "x", "idempotent": False}),
    ("scheduler", "dump_cluster_state_to_url", lambda harm: {"url": str(harm.canary), "exclude": (), "format": "yaml"}),
    ("scheduler", "identity", lambda harm: {"n_workers": ToPickle(harm)}),
    ("worker", "run", lambda harm: {"function": dumps(harm), "args": dumps(()), "kwargs": dumps({})}),
    ("worker", "plugin-add", lambda harm: {"plugin": dumps(harm), "name": "x"}),
    ("worker", "identity", lambda harm: {"x": to_serialize(harm)}),
    ("worker", "upload_file", lambda harm: {"filename": "x.py", "data": f"open({str(harm.canary)!r}, 'w')"}),
]
"""Ways by which dask runs the code of whoever reaches one of its ports."""


async def attack(address: dict[str, str], folder: Path) -> set[str]:
    """Those by which something was done."""
    for number, (role, op, message) in enumerate(ATTACKS):
        remote = rpc(address[role])
        try:
            await asyncio.wait_for(getattr(remote, op)(**message(Harm(folder / f"{number}-{op}"))), 20)
        except Exception as error:  # noqa: BLE001 - of whatever kind the refusal is
            get_logger().info("refused", role=role, op=op, why=repr(error))
        finally:
            await remote.close_rpc()
    return {path.name.partition(".")[0] for path in folder.iterdir()}


def addresses(machines: Machines, worker: str) -> dict[str, str]:
    with Client(machines.address, set_as_default=False) as client:
        until(lambda: worker in _workers(client), f"the worker {worker}")
        return {"scheduler": machines.address, "worker": _workers(client)[worker]}


def _workers(client: Client) -> dict[str, str]:
    return {str(found["name"]): at for at, found in client.scheduler_info(n_workers=-1)["workers"].items()}


def test_client_of_our_scheduler_and_workers_runs_no_code_there(machines: Machines, tmp_path: Path) -> None:
    (tmp_path / "canaries").mkdir()
    machines.start_scheduler()
    machines.start_worker("w1")
    machines.wait_for_scheduler()
    reached = addresses(machines, "w1")

    assert set() == asyncio.run(attack(reached, tmp_path / "canaries"))

    assert reached == addresses(machines, "w1")  # they serve as before


def test_any_client_of_a_plain_scheduler_controls_its_workers(plain: PlainDask, tmp_path: Path) -> None:
    """Proves that the attacks work without the defence; docs/enforcement.md describes this."""
    done = asyncio.run(attack(addresses(plain, "honest"), tmp_path))

    assert {f"{number}-{op}" for number, (_, op, _) in enumerate(ATTACKS)} == done
