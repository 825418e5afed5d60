"""A cup's leagues are processes, which a signal can reach at any moment."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from judge.contest.run_process import start_run
from judge.cup.run import CupRun, LeagueEnd
from tests.cup.test_plan import HEAD, ONE, plan


@pytest.mark.parametrize("moment", ["before it is listed", "before it receives signals", "after it receives signals"])
def test_league_interrupted_at_start_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    said: list[str] = []
    with CupRun(plan(tmp_path, HEAD + ONE), [], said.append) as cup:

        def interrupted(path: Path, arguments: list[str], *, dies_with_parent: bool) -> subprocess.Popen[bytes]:
            process = start_run(path, arguments, dies_with_parent=dies_with_parent)
            if moment != "before it is listed":
                cup._processes["one"] = process
            while moment == "after it receives signals" and blocks_interrupts(process.pid):
                time.sleep(0.001)
            cup.stop()
            return process

        monkeypatch.setattr("judge.cup.run.start_run", interrupted)
        ends = cup.run()

    assert {"one": LeagueEnd.STOPPED} == ends, said
    assert "one: stopped" == said[-1]


def blocks_interrupts(pid: int) -> bool:
    """Whether SIGINT waits until a process unblocks it."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    blocked = next(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk:"))
    return bool(int(blocked, 16) >> (signal.SIGINT - 1) & 1)
