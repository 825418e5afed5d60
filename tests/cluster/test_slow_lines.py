"""Answers with full folders arrive over slow lines, and delay no answers of other workers."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from judge.cluster import connection
from judge.cluster.checkers import MAX_PROCESSES, Checkers
from judge.contest.attempts import EndedAttempt
from judge.contest.runner import StopReason
from tests.cluster.cables import Cable, laid
from tests.cluster.machines import Cup, Machines
from tests.cluster.test_lies import ELAPSED_S, job, played, record
from tests.patience import PATIENCE_S

PADDING_BYTES = 1 << 20
BITS_PER_S = 4_000_000

SCHEDULER = """
from judge.cluster import bound_scheduler
bound_scheduler.GATHER_S = 0.1
from judge.cli import main
main()
"""

WORKER = f"""
from judge.cluster import tasks

honest = tasks.play

def play(order):
    answer = honest(order)
    return answer + b" " * {PADDING_BYTES} if answer.startswith(b'{{"kind":"played"') else answer

play.__module__, play.__qualname__ = "judge.cluster.tasks", "play"
tasks.play = play
from judge.cli import main
main()
"""
"""Its answers are as long as those with folders."""


@pytest.fixture
def cable() -> Iterator[Cable]:
    with laid(1) as (found,):
        found.slow_down(BITS_PER_S)
        yield found


@pytest.mark.slow
def test_large_answer_over_a_slow_line_counts(
    cable: Cable, cup: Cup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes longer than each of the timeouts without its size."""
    monkeypatch.setattr(connection, "ANSWER_S", 0.5)
    machines = Machines.behind({"n1": cable}, tmp_path)
    address = f"tls://0.0.0.0:{machines.port}"
    start = {
        "scheduler": ([], SCHEDULER, ["scheduler", "--listen", address, "--tls", str(machines.keys)]),
        "n1": (cable.inside, WORKER, ["worker", "--join", str(tmp_path / "keys/n1.join"), "--slots", "1"]),
    }
    try:
        for name, (prefix, code, words) in start.items():
            with (tmp_path / f"{name}.log").open("ab") as log:
                if name == "n1":
                    words = [*words, "--folder", "n1", "--allow-processes"]
                command = [*prefix, sys.executable, "-c", code, *words]
                machines.workers[name] = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
        machines.scheduler = machines.workers.pop("scheduler")
        machines.wait_for_scheduler()
        cup.open_gate()
        cup.store.schedule("cup", cup.games(1, 1))
        with closing(cup.cluster(machines)) as cluster:
            assert StopReason.FINISHED is cup.play(cluster)
    finally:
        machines.stop()
    assert [(1, 1, "accepted", "n1")] == cup.attempts()


def test_slow_answers_delay_no_other() -> None:
    has_come, asked = Event(), job()
    answer = played(record(asked)).model_dump_json().encode()
    connected: Any = SimpleNamespace(fetch=lambda task, _: answer if task != "slow" or has_come.wait() else None)
    tasks: list[Any] = ["slow"] * MAX_PROCESSES + ["fast"]
    with closing(Checkers(connected)) as checkers:
        *slow, fast = [checkers.check(task, 1, asked, ELAPSED_S) for task in tasks]
        try:
            assert isinstance(fast.result(PATIENCE_S), EndedAttempt)
            assert not any(check.done() for check in slow)
        finally:
            has_come.set()
        assert all(isinstance(check.result(), EndedAttempt) for check in slow)
