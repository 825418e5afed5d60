"""A cup's leagues are processes, which a signal can reach at any moment."""

import subprocess
from pathlib import Path

import pytest

from judge.contest.run_process import start_run
from judge.cup.run import CupRun, LeagueEnd
from tests.cup.test_plan import HEAD, ONE, plan


@pytest.mark.parametrize("is_listed", [False, True])
def test_league_whose_start_is_interrupted_has_not_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_listed: bool
) -> None:
    """Before its process is listed, or before the process can receive the signal."""
    said: list[str] = []
    with CupRun(plan(tmp_path, HEAD + ONE), [], said.append) as cup:

        def interrupted(path: Path, arguments: list[str], *, dies_with_parent: bool) -> subprocess.Popen[bytes]:
            process = start_run(path, arguments, dies_with_parent=dies_with_parent)
            if is_listed:
                cup._processes["one"] = process
            cup.stop()
            return process

        monkeypatch.setattr("judge.cup.run.start_run", interrupted)
        ends = cup.run()

    assert {"one": LeagueEnd.STOPPED} == ends, said
    assert "one: stopped" == said[-1]
