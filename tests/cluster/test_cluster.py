"""A contest on three workers, each a process of its own: whatever becomes of them, every game is counted once."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.cluster.cluster import Cluster
from judge.contest.runner import StopReason
from judge.referee.spec import RecordFile
from judge.referee.verify import verify
from judge.sandbox.procfs import started_ticks
from judge.store.types import AttemptState
from tests.cluster.machines import Cup, Machines, until

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
def cup(tmp_path: Path) -> Iterator[Cup]:
    found = Cup(tmp_path)
    yield found
    found.open_gate()
    found.store.close()


@pytest.fixture
def cluster(machines: Machines, cup: Cup) -> Iterator[Cluster]:
    machines.wait_for_scheduler()
    found = cup.cluster(machines)
    yield found
    found.kill()
    found.close()


def children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(word) for word in (task / "children").read_text().split()]
    return found


def test_every_worker_plays_and_gets_an_agent_once(cup: Cup, machines: Machines, cluster: Cluster) -> None:
    cup.store.schedule("cup", cup.games(1, 6))

    def open_when_all_play() -> None:
        if cup.waiting() == 3:
            cup.open_gate()

    assert StopReason.FINISHED is cup.play(cluster, open_when_all_play)

    assert [1] * 6 == [attempt for _, attempt, _, _ in cup.attempts()]
    assert set(WORKERS) == {host for *_, host in cup.attempts()}
    for result in cup.store.results("cup"):
        record = RecordFile.model_validate_json(cup.files.get(result.record))
        assert () == tuple(verify(record).problems)
    for name in WORKERS:
        agents = {path.name for path in (machines.folder / name / "agents").iterdir()}
        assert {agent.digest for agent in cup.agents} <= agents
        assert f"worker {name} plays: 1 slots of 1 cores" in cup.journal()


def test_what_the_contest_has_is_forgotten_by_the_workers(cup: Cup, machines: Machines, cluster: Cluster) -> None:
    cup.open_gate()
    cup.store.schedule("cup", cup.games(1, 3))

    assert StopReason.FINISHED is cup.play(cluster)
    cluster.close()

    assert [] == list(machines.folder.glob("*/played/*/*.json"))


@pytest.mark.docker
def test_a_killed_worker_costs_its_attempt_and_leaves_no_process(
    cup: Cup, machines: Machines, cluster: Cluster
) -> None:
    cup.store.schedule("cup", cup.games(1, 3))
    its_children: list[int] = []

    def kill_one() -> None:
        victim = machines.workers["w2"]
        if cup.waiting() >= 3 and not its_children:
            its_children.extend(children(victim.pid))
            victim.kill()
            victim.wait()
        elif its_children and AttemptState.VOID in cup.states():
            cup.open_gate()

    assert StopReason.FINISHED is cup.play(cluster, kill_one)

    assert sorted(["accepted"] * 3 + ["void"]) == sorted(state for _, _, state, _ in cup.attempts())
    assert ["w2"] == [host for _, _, state, host in cup.attempts() if state == "void"]
    assert [1, 1, 2] == sorted(result.attempt for result in cup.store.results("cup"))
    assert "the worker w2 of this game was lost" in cup.journal()
    until(lambda: all(started_ticks(pid) is None for pid in its_children), "its processes end")


def test_the_late_result_of_a_frozen_worker_is_kept_and_not_counted(
    cup: Cup, machines: Machines, cluster: Cluster
) -> None:
    """It is taken for dead, its game is given to another, and it comes back with the game in its hands."""
    cup.store.schedule("cup", cup.games(1, 3))
    victim = machines.workers["w1"]

    cup.play_while_lost(
        cluster,
        lambda: victim.send_signal(signal.SIGSTOP),
        lambda: victim.send_signal(signal.SIGCONT),
    )

    assert [(1, "superseded", "w1"), (2, "accepted")] == cup.late_attempts()


def test_a_scheduler_that_is_killed_costs_nothing(cup: Cup, machines: Machines, cluster: Cluster) -> None:
    """The workers play on, find the new one, and their games are fetched as if nothing had been."""
    cup.store.schedule("cup", cup.games(1, 4))
    killed: list[int] = []

    def restart() -> None:
        assert machines.scheduler
        if cup.waiting() >= 3 and not killed:
            killed.append(machines.scheduler.pid)
            machines.scheduler.kill()
            machines.scheduler.wait()
            machines.start_scheduler()
        elif killed and cup.journal().count(" plays: ") == 6:
            cup.open_gate()

    assert StopReason.FINISHED is cup.play(cluster, restart)

    assert [(n, 1, "accepted") for n in (1, 2, 3, 4)] == [row[:3] for row in cup.attempts()]
    assert {AttemptState.ACCEPTED} == set(cup.states())


def test_what_a_lost_contest_host_began_is_fetched_by_the_next_and_not_counted(
    cup: Cup, machines: Machines, cluster: Cluster
) -> None:
    cup.store.schedule("cup", cup.games(1, 3))
    cup.begin(cluster, 3)
    cluster.close()  # the connection ends as it does when its process dies

    again = cup.cluster(machines)
    cup.open_gate()
    try:
        assert StopReason.FINISHED is cup.play(again)
    finally:
        again.close()

    assert sorted(["accepted", "superseded"] * 3) == sorted(state for *_, state, _ in cup.attempts())
    assert [2, 2, 2] == [result.attempt for result in cup.store.results("cup")]


def test_abandoned_games_end_on_the_workers(cup: Cup, machines: Machines, cluster: Cluster) -> None:
    cup.store.schedule("cup", cup.games(1, 3))
    cup.begin(cluster, 3)

    before = {name: machines.says(name).count("removed what a lost game left") for name in WORKERS}

    assert 3 == len(cluster.kill())

    assert 0 == cluster.running
    for name in WORKERS:
        until(
            lambda name=name: machines.says(name).count("removed what a lost game left") > before[name],  # type: ignore[misc]
            "its boxes are cleared away",
        )
    assert [] == list(machines.folder.glob("*/played/*/*.json"))
