"""A judge whose process is stopped and goes on (Ctrl-Z, a suspended job): no agent loses by what it missed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from judge.base.procfs import stat_fields
from judge.games.types import Verdict
from judge.host.house_agents import build_house_agents
from judge.record.spec import RecordFile, read_record
from judge.record.transcript import Entry, EntryKind, unseal
from judge.referee.verify import verify
from tests.cli.brains import write_brain
from tests.examples import evidence
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S, until

IS_ASKED = """
if not os.path.exists(marks + "/asked"):
    open(marks + "/asked", "w").close()
    while not os.path.exists(marks + "/stopped") or not answers:
        time.sleep(0.001)
"""
MARKS = """
marks, answers = {marks!r}, {answers!r}
plain = say

def say(text):
    plain(text)
    if "," in text:
        open(marks + "/answered", "w").close()
"""
"""Is asked its first move, and answers when the judge has been stopped, or never. Later it plays at once."""
RESTARTS = """
if word == "RESTART":
    taken.clear()
    say("OK")
"""

MANIFEST = 'name = "slow"\ncommand = ["python3", "slow.py"]\nruntime = "python"\n'

TURN_MS = 1000
PAUSE_S = 1.5
"""Longer than the turn."""


def write_slow(folder: Path, *, answers: bool = True) -> Path:
    """The agent's folder, in which it shows what it does."""
    build_house_agents()
    agent = folder / "slow"
    agent.mkdir()
    write_brain(agent, "slow", IS_ASKED, MARKS.format(marks=str(folder), answers=answers), other=RESTARTS)
    (agent / "agent.toml").write_text(MANIFEST)
    return agent


@contextmanager
def asked(folder: Path, where: str, *words: str, answers: bool = True) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A judge that waits for the first move of the slow agent, and the process of it that plays."""
    write_slow(folder, answers=answers)
    command = [sys.executable, "-m", "tests.faults.paused_judge", where, str(folder), *words]
    # A group of its own: the agents' processes have sessions of theirs.
    with ForkedProcess(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout
        player = int(process.stdout.readline())
        try:
            until(lambda: (folder / "asked").exists())
            yield process, player
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGCONT)
            process.wait(PATIENCE_S)


@contextmanager
def stopped(folder: Path, pids: Sequence[int]) -> Iterator[None]:
    """Processes are stopped meanwhile; when they are, the agent answers."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    until(lambda: all(stat_fields(pid)[0] == "T" for pid in pids))
    (folder / "stopped").touch()
    yield
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def stop_for(span_s: float, folder: Path, pids: Sequence[int], *, answers: bool = True) -> None:
    """Stop processes for so long, and until the agent has answered. The length of the pause is what is tested: the
    agent's limit ends in it."""
    with stopped(folder, pids):
        began = time.monotonic()
        if answers:
            until(lambda: (folder / "answered").exists())
        time.sleep(max(0.0, began + span_s - time.monotonic()))


def records(folder: Path) -> list[RecordFile]:
    files = [read_record(path) for path in sorted(folder.glob("[0-9].json"))]
    assert [] == [problem for file in files for problem in verify(file).problems]
    return files


def paused_ms(entries: Sequence[Entry]) -> float:
    return sum(int(entry.data) for entry in entries if entry.kind is EntryKind.PAUSED) / 1e6


@pytest.mark.parametrize(
    ("where", "is_group"),
    [
        ("main", False),
        ("worker", True),
        pytest.param("crew", False, marks=evidence),
        pytest.param("main", True, marks=evidence),
        pytest.param("worker", False, marks=evidence),
        pytest.param("crew", True, marks=evidence),
    ],
)
def test_an_answer_that_came_while_the_judge_was_stopped_is_void(tmp_path: Path, where: str, is_group: bool) -> None:
    """Stopped is the process that plays, or its whole group."""
    with asked(tmp_path, where, str(TURN_MS)) as (process, player):
        stop_for(PAUSE_S, tmp_path, sorted({player, process.pid}) if is_group else [player])

    void, scored = records(tmp_path)
    assert Verdict.VOID is void.record.verdict
    assert "the judge did not run for" in void.record.reason
    found = void.record.seats[0].evidence
    assert found is not None
    assert (found.judge_paused_ms or 0) >= TURN_MS > found.charged_ms
    assert void.record.judge_late_ms >= TURN_MS
    assert Verdict.VOID is not scored.record.verdict
    assert scored.record.seats[0].fault is None


def test_without_the_defence_the_agent_loses(tmp_path: Path) -> None:
    with asked(tmp_path, "main", str(TURN_MS), "deaf") as (_, player):
        stop_for(PAUSE_S, tmp_path, [player])

    (file,) = records(tmp_path)
    assert Verdict.TURN_TIME is file.record.seats[0].fault


def test_an_answer_in_time_counts_and_is_charged_without_the_pause(tmp_path: Path) -> None:
    with asked(tmp_path, "main", "600000") as (_, player):
        stop_for(PAUSE_S, tmp_path, [player])

    (file,) = records(tmp_path)
    assert file.record.seats[0].fault is None
    entries = unseal(file.transcript)
    turn = [entry for entry in entries if entry.seat == 0 and entry.kind in (EntryKind.THAWED, EntryKind.READ)]
    thawed = next(number for number, entry in enumerate(turn) if entry.kind is EntryKind.THAWED)
    elapsed_ms = (turn[thawed + 1].ns - turn[thawed].ns) / 1e6
    assert elapsed_ms >= PAUSE_S * 1000
    assert elapsed_ms - paused_ms(entries) == pytest.approx(file.record.plies[0].ms, abs=0.01)


def test_one_that_does_not_answer_has_its_time_after_the_pause_and_loses(tmp_path: Path) -> None:
    with asked(tmp_path, "main", str(TURN_MS), answers=False) as (_, player):
        stop_for(PAUSE_S, tmp_path, [player], answers=False)

    (file,) = records(tmp_path)
    assert (Verdict.TURN_TIME, Verdict.TURN_TIME) == (file.record.verdict, file.record.seats[0].fault)
    found = file.record.seats[0].evidence
    assert found is not None
    assert (found.judge_paused_ms or 0) >= TURN_MS <= found.charged_ms


def test_a_worker_plays_on_while_only_its_parent_is_stopped(tmp_path: Path) -> None:
    with asked(tmp_path, "worker", "600000") as (process, player):
        assert player != process.pid
        with stopped(tmp_path, [process.pid]):
            until(lambda: (tmp_path / "1.json").exists())

    (file,) = records(tmp_path)
    assert 0 == paused_ms(unseal(file.transcript))
    assert file.record.seats[0].fault is None


def test_a_check_that_was_stopped_finds_no_late_answer(tmp_path: Path) -> None:
    clock = [f"clock.turn_ms={TURN_MS}", "clock.tolerance_ms=0", "clock.starved_share=1"]
    command = [sys.executable, "-m", "judge.cli", "check", str(write_slow(tmp_path)), "--box", "process"]
    command += [word for setting in clock for word in ("--set", setting)]
    pipe = subprocess.PIPE
    with ForkedProcess(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            until(lambda: (tmp_path / "asked").exists())
            stop_for(PAUSE_S, tmp_path, [process.pid])
            out, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.send_signal(signal.SIGCONT)

    assert "pass    begin: BEGIN, then TURN: 2 answers" in out, out + err
    assert "did not answer" not in out


@pytest.mark.docker
def test_an_agent_in_a_container_does_not_lose_while_the_judge_is_stopped(tmp_path: Path) -> None:
    """The agent thinks for half a second of three, and the judge is stopped soon after that has begun.

    It sleeps, because it is in a container and sees nothing of this test.
    """
    build_house_agents()
    agent = tmp_path / "slow"
    agent.mkdir()
    write_brain(agent, "slow", "if len(taken) < 4: time.sleep(0.5)")
    (agent / "agent.toml").write_text(MANIFEST)
    command = [sys.executable, "-m", "tests.faults.paused_judge", "main", str(tmp_path), "3000", "docker"]
    with ForkedProcess(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout
        while (line := process.stdout.readline()) != "asked\n":
            assert line
        (tmp_path / "answered").touch()
        stop_for(4.0, tmp_path, [process.pid])
        process.communicate(timeout=PATIENCE_S)

    played = records(tmp_path)
    assert [None] * len(played) == [file.record.seats[0].fault for file in played]
    assert Verdict.VOID is not played[-1].record.verdict
    assert paused_ms(unseal(played[0].transcript)) >= 3000
