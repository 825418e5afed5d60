"""A contest on three workers, each a process of its own: whatever becomes of them, every game is counted once."""

import gc
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from distributed import Client

from judge.agents.agents import stage_agent
from judge.agents.store import AgentStore
from judge.base.procfs import started_ticks
from judge.cluster.cluster import Cluster
from judge.contest.attempts import Job
from judge.contest.runner import StopReason
from judge.contest_games import ScheduledGame
from judge.record.spec import RecordFile
from judge.referee.verify import verify
from tests.cluster.machines import Cup, Machines, children
from tests.patience import until

WORKERS = ("w1", "w2", "w3")


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Starting them takes longer than most tests; each test fixes what the one before it broke."""
    found = Machines(tmp_path_factory.mktemp("machines"))
    yield found
    found.stop()


@pytest.fixture
def machines(room: Machines) -> Machines:
    room.fix(*WORKERS)
    return room


@pytest.fixture
def cluster(machines: Machines, cup: Cup) -> Iterator[Cluster]:
    machines.wait_for_scheduler()
    found = cup.cluster(machines)
    yield found
    found.kill()
    found.close()


@pytest.fixture
def no_garbage_is_collected() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_garbage_is_collected")
def test_every_worker_plays_and_gets_an_agent_once(cup: Cup, machines: Machines, cluster: Cluster) -> None:
    """A game waits for the first slot that is free, and not with dask, where it waits for one worker: while the first
    answers are checked, which say that agents are lacked, as many games are begun again. Answers that have come are
    forgotten: dask would have the games of a lost worker played again for them."""
    for name in WORKERS:
        for agent in (machines.folder / name).glob("agents/[!.]*"):
            shutil.rmtree(agent)
    cup.store.schedule("cup", cup.games(1, 6))
    with Client(machines.address, set_as_default=False) as other:
        # Answers that have come are there until dask has forgotten them.
        cup.play_in_steps(cluster, (lambda: cup.waiting() == 3 == len(other.who_has()), cup.open_gate))
        until(lambda: other.who_has() == {}, "the answers are forgotten")

    assert [1] * 6 == [attempt for _, attempt, _, _ in cup.attempts()]
    assert set(WORKERS) == {host for *_, host in cup.attempts()}
    records = [RecordFile.model_validate_json(cup.files.get(result.record)) for result in cup.store.results("cup")]
    assert all(() == tuple(verify(record).problems) for record in records)
    assert set(WORKERS) == {record.record.placement.host for record in records}
    for name in WORKERS:
        agents = {path.name for path in (machines.folder / name / "agents").iterdir()}
        assert {agent.digest for agent in cup.agents} <= agents
        assert f"worker {name} plays: 1 slots" in cup.journal()


def test_a_worker_that_joins_gets_a_waiting_game_at_once(
    cup: Cup, machines: Machines, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where one waits for an agent that is sent to a worker which plays another meanwhile."""
    for name in WORKERS[1:]:
        machines.workers[name].kill()
        machines.workers[name].wait()
    extra = stage_agent("house-python", cup.folder / "staging")
    has = AgentStore(machines.folder / WORKERS[0] / "agents")
    shutil.rmtree(has.path(extra.digest), ignore_errors=True)
    for agent in cup.agents:
        has.put(agent.program)

    job = cup.contest.job

    def job_of(issued: ScheduledGame, listener: Path | None = None) -> Job:
        found = job(issued, listener)
        return found if issued.number > 1 else replace(found, programs={**found.programs, extra.digest: extra.program})

    monkeypatch.setattr(cup.contest, "job", job_of)
    cup.store.schedule("cup", cup.games(1, 3))
    try:
        cup.play_in_steps(
            cluster,
            (lambda: cup.waiting() == 1, lambda: machines.start_worker("latecomer")),
            (lambda: cup.waiting() == 2, cup.open_gate),
        )
    finally:
        latecomer = machines.workers.pop("latecomer")
        latecomer.kill()
        latecomer.wait()

    assert {WORKERS[0], "latecomer"} == {host for *_, host in cup.attempts()}
    assert {(1, "accepted")} == {row[1:3] for row in cup.attempts()}


@pytest.mark.docker
@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 0)])
def test_the_game_of_an_ended_worker_is_played_elsewhere_and_it_leaves_no_process(
    cup: Cup, machines: Machines, cluster: Cluster, number: int, code: int
) -> None:
    cup.store.schedule("cup", cup.games(1, 3))
    victim = machines.workers["w2"]
    its_children: list[int] = []

    def end() -> None:
        its_children.extend(children(victim.pid))
        victim.send_signal(number)
        assert code == victim.wait()

    cup.play_in_steps(
        cluster, (lambda: cup.waiting() >= 3, end), (lambda: "worker w2 is lost" in cup.journal(), cup.open_gate)
    )

    cup.assert_played_once_without("w2")
    until(lambda: all(started_ticks(pid) is None for pid in its_children), "its processes end")


def test_scheduler_ends_at_ctrl_c(machines: Machines) -> None:
    machines.wait_for_scheduler()
    assert machines.scheduler
    machines.scheduler.send_signal(signal.SIGINT)
    assert 0 == machines.scheduler.wait()


def test_games_of_a_lost_contest_host_are_replayed_by_the_next(cup: Cup, machines: Machines, cluster: Cluster) -> None:
    cup.store.schedule("cup", cup.games(1, 3))
    cup.begin(cluster, 3)
    cluster.close()  # the connection ends as it does when its process dies

    again = cup.cluster(machines)
    cup.open_gate()
    try:
        assert StopReason.FINISHED is cup.play(again)
    finally:
        again.close()

    assert sorted(["abandoned", "accepted"] * 3) == sorted(state for *_, state, _ in cup.attempts())
    assert [2, 2, 2] == [result.attempt for result in cup.store.results("cup")]


def test_abandoned_games_end_on_the_workers(cup: Cup, machines: Machines, cluster: Cluster) -> None:
    cup.store.schedule("cup", cup.games(1, 3))
    cup.begin(cluster, 3)

    before = {name: machines.says(name).count("removed leftovers of a lost game") for name in WORKERS}

    assert 3 == len(cluster.kill())

    assert 0 == cluster.running
    for name in WORKERS:
        until(
            lambda name=name: machines.says(name).count("removed leftovers of a lost game") > before[name],  # type: ignore[misc]
            "its boxes are cleared away",
        )
