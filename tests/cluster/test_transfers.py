"""A transfer that its scheduler or this host interrupts is repeated, and its worker is not distrusted."""

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from judge.agents.agents import Agent, stage_agent
from judge.cluster import transfers as sending
from judge.cluster.connection import SchedulerConnection
from judge.cluster.live_moves import LiveMoves
from judge.cluster.messages import Parcel
from judge.cluster.roster import WorkerFound
from judge.cluster.security import parse_address, security_of
from judge.cluster.transfers import MAX_TRIES, Parcels, TransferEnd, Transfers
from judge.contest.runner import StopReason
from judge.host.house_agents import build_house_agents
from tests.cluster.machines import Cup, Machines
from tests.cluster.rosters import NotedRoster
from tests.patience import PATIENCE_S, until

pytestmark = pytest.mark.slow


class Sender:
    """Sends an agent to the worker w1, without a contest."""

    def __init__(self, machines: Machines, folder: Path) -> None:
        address = parse_address(machines.address)
        self.connection = SchedulerConnection(address, security_of(address, None), LiveMoves())
        self.roster = NotedRoster()
        self.ends: list[TransferEnd] = []
        self.delays: list[str] = []
        build_house_agents()
        (folder / "staging").mkdir()
        self.agent: Agent = stage_agent("house-instant", folder / "staging")
        self.parcels = Parcels(folder / "parcels", {})
        self.transfers = Transfers(self.connection, self.roster, self.parcels, self.ends.append, self.delays.append)

    def worker(self) -> WorkerFound:
        until(self._meet, "a worker")
        (found,) = self.roster.workers.values()
        return found

    def send(self, worker: WorkerFound) -> None:
        assert self.transfers.send(worker, self.agent.digest, self.agent.program)

    def wait_for_request(self) -> None:
        until(lambda: self.connection._client.futures, "a request")

    def end(self) -> TransferEnd:
        until(lambda: self.ends, "an end")
        return self.ends[-1]

    def close(self) -> None:
        self.transfers.close()
        self.connection.close()
        self.parcels.close()

    def _meet(self) -> bool:
        self.roster.meet(self.connection.ask("identity", n_workers=-1)["workers"])
        return bool(self.roster.workers)


@pytest.fixture
def machines(machines: Machines) -> Machines:
    machines.start_scheduler()
    machines.start_worker("w1")
    machines.wait_for_scheduler()
    return machines


@pytest.fixture
def sender(machines: Machines, tmp_path: Path) -> Iterator[Sender]:
    with closing(Sender(machines, tmp_path)) as found:
        yield found


def kill_scheduler(machines: Machines) -> None:
    assert machines.scheduler
    machines.scheduler.kill()
    machines.scheduler.wait()


@pytest.mark.parametrize("is_restarted", [False, True], ids=["killed", "restarted"])
def test_transfer_ends_without_blame_when_the_scheduler_is_lost(
    machines: Machines, sender: Sender, is_restarted: bool
) -> None:
    worker = sender.worker()
    machines.workers["w1"].send_signal(signal.SIGSTOP)
    sender.send(worker)
    sender.wait_for_request()

    kill_scheduler(machines)
    if is_restarted:
        machines.start_scheduler()

    assert TransferEnd(sender.agent.digest, worker, "", is_lie=False) == sender.end()


def test_transfer_waits_for_a_file_that_this_host_cannot_read(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "RETRY_S", 0.01)
    _, path = sender.parcels.made(sender.agent.digest, sender.agent.program)
    path.rename(path.with_name("elsewhere"))
    worker = sender.worker()
    sender.send(worker)
    until(lambda: sender.delays, "a delay")
    assert "No such file or directory; retrying" in sender.delays[0]

    path.with_name("elsewhere").rename(path)

    assert TransferEnd(sender.agent.digest, worker, "", is_lie=False) == sender.end()


def test_worker_plays_after_more_restarts_of_the_scheduler_than_requests_are_permitted(
    cup: Cup, machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time while it is sent an agent."""
    restarts = 0
    stopped = False
    made = Parcels.made

    def stop_worker(parcels: Parcels, what: str, program: Path | None = None) -> tuple[Parcel, Path]:
        nonlocal stopped
        if restarts <= MAX_TRIES:
            machines.workers["w1"].send_signal(signal.SIGSTOP)
            stopped = True
        return made(parcels, what, program)

    def restart() -> None:
        nonlocal restarts, stopped
        if stopped and cluster._connection._client.futures:
            kill_scheduler(machines)
            machines.start_scheduler()
            stopped = False
            restarts += 1
            machines.workers["w1"].send_signal(signal.SIGCONT)

    monkeypatch.setattr(Parcels, "made", stop_worker)
    cup.open_gate()
    cup.store.schedule("cup", cup.games(1, 1))
    with closing(cup.cluster(machines)) as cluster:
        assert StopReason.FINISHED is cup.play(cluster, restart, patience_s=4 * PATIENCE_S)
    assert restarts > MAX_TRIES
    assert [(1, 1, "accepted", "w1")] == cup.attempts()
    assert "is given no games" not in cup.journal()
