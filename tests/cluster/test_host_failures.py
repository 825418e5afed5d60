"""What a host lacks for a while costs an attempt at most. No slot is lost, and no worker is distrusted."""

import os
import resource
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge.base.procfs import children_of, started_ticks
from judge.base.worker_processes import Worker
from judge.cluster import checkers
from judge.cluster.cluster import _Attempt
from judge.cluster.live_moves import GameClient
from judge.cluster.machine import Machine
from judge.cluster.messages import Broken, Lacks, Order, Played
from judge.contest.runner import StopReason
from judge.contest_games import ScheduledGame
from judge.play.venue import Slot
from tests.cluster.machines import Cup, Machines
from tests.file_limit import no_more_files
from tests.patience import until

FORK_SERVER = b"multiprocessing.forkserver"


@pytest.fixture
def cup(cup: Cup) -> Cup:
    cup.open_gate()
    return cup


def fork_server(pid: int) -> int:
    (found,) = (child for child in children_of(pid) if FORK_SERVER in Path(f"/proc/{child}/cmdline").read_bytes())
    return found


def soft_limit(pid: int) -> int:
    return resource.prlimit(pid, resource.RLIMIT_NOFILE)[0]


@pytest.mark.slow
def test_worker_plays_a_game_whose_process_starts_at_a_second_try(cup: Cup, machines: Machines) -> None:
    """Its fork server has no file left for the first game's process."""
    machines.start_scheduler()
    machines.start_worker("w1", ("env",))  # its fork server is no fork of this process
    machines.wait_for_scheduler()
    cup.store.schedule("cup", cup.games(1, 2))
    with closing(cup.cluster(machines)) as cluster:
        until(lambda: cluster.free or cluster.wait(0.1), "a worker")
        server = fork_server(machines.workers["w1"].pid)
        resource.prlimit(server, resource.RLIMIT_NOFILE, (3, resource.prlimit(server, resource.RLIMIT_NOFILE)[1]))

        assert StopReason.FINISHED is cup.play(cluster)

        assert 1 == cluster.free
    assert [(number, 1, "accepted", "w1") for number in (1, 2)] == cup.attempts()
    until(lambda: started_ticks(server) is None, "it ends")


def test_worker_raises_its_limit_of_files_before_it_starts_processes(cup: Cup, machines: Machines) -> None:
    machines.start_scheduler()
    machines.start_worker("w1", ("prlimit", "--nofile=200:3000"))
    machines.wait_for_scheduler()
    with closing(cup.cluster(machines)) as cluster:
        until(lambda: cluster.free or cluster.wait(0.1), "a worker")
        worker = machines.workers["w1"].pid

        assert [3000, 3000] == [soft_limit(pid) for pid in (worker, fork_server(worker))]


@pytest.mark.slow
def test_answer_whose_check_was_killed_is_checked_again(cup: Cup, machines: Machines) -> None:
    """As by a host without memory. Only one game is played after the checking processes were stopped."""
    machines.start_scheduler()
    machines.start_worker("w1")
    machines.wait_for_scheduler()
    cup.store.schedule("cup", cup.games(1, 1))
    stopped: dict[int, Worker[Any]] = {}

    def stop_checkers() -> list[ScheduledGame]:
        if stopped:
            return []
        stopped.update({process.pid: process for process in cluster._checkers._idle.queue if process.pid})
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        return cup.games(2, 2)

    def kill_busy_checkers() -> None:
        for pid, process in stopped.items():
            if process.pid == pid and process._answer is None:
                os.kill(pid, signal.SIGKILL)

    with closing(cup.cluster(machines)) as cluster:
        assert StopReason.FINISHED is cup.play(cluster, kill_busy_checkers, stop_checkers)
    assert [(number, 1, "accepted", "w1") for number in (1, 2)] == cup.attempts()
    assert "game 2, attempt 1: the answer of worker w1 could not be checked here: its check did not" in cup.journal()
    assert "is given no games" not in cup.journal()


@pytest.mark.slow
def test_attempt_whose_answer_can_never_be_checked_is_void(
    cup: Cup, machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkers, "CHECK_S", -1e9)
    machines.start_scheduler()
    machines.start_worker("w1")
    machines.wait_for_scheduler()
    cup.store.schedule("cup", cup.games(1, 1))
    with closing(cup.cluster(machines)) as cluster:
        assert StopReason.PAUSED is cup.play(cluster)

        assert 1 == cluster.free
    assert [(1, attempt, "void", "w1") for attempt in (1, 2)] == cup.attempts()
    assert "its answer could not be checked 3 times" in cup.journal()
    assert "is given no games" not in cup.journal()


def test_worker_without_a_free_file_ends_the_attempt_and_plays_the_next(cup: Cup, tmp_path: Path) -> None:
    cup.store.schedule("cup", cup.games(1, 1))
    issued = cup.store.issue("cup", "w1")
    assert issued
    order = Order.model_validate_json(_Attempt(cup.contest.job(issued), 600, 1).order({}))
    (tmp_path / "w1").mkdir()
    with closing(Machine("w1", tmp_path / "w1", [Slot()], allows_processes=True)) as machine:
        assert isinstance(machine.play(order, GameClient()), Lacks)
        for agent in cup.agents:
            machine._agents.put(agent.program)
        with no_more_files():
            answer = machine.play(order, GameClient())
        assert isinstance(answer, Broken)
        assert "Too many open files" in answer.why

        assert isinstance(machine.play(order, GameClient()), Played)
