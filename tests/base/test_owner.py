"""Processes of a judge that has ended."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from judge.base.owner import MARK, kill_marked

FREEZER = Path("/sys/fs/cgroup/freezer")


@pytest.mark.skipif(
    not os.access(FREEZER / "cgroup.procs", os.W_OK), reason="needs the freezer of cgroup v1: of version 2 it ends"
)
def test_process_that_cannot_end_is_left_to_the_kernel(tmp_path: Path) -> None:
    group = FREEZER / f"judge-test-{os.getpid()}"
    group.mkdir()
    process = subprocess.Popen(["sleep", "600"], env={MARK: str(tmp_path), "PATH": os.environ["PATH"]})
    try:
        (group / "cgroup.procs").write_text(str(process.pid))
        (group / "freezer.state").write_text("FROZEN")

        kill_marked(tmp_path)
        assert process.poll() is None
    finally:
        (group / "freezer.state").write_text("THAWED")
        process.wait()
        group.rmdir()
    assert -signal.SIGKILL == process.returncode
