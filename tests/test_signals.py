"""A test run ends at Ctrl-C, also where the shell that has started it lets its programs ignore that."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples import evidence
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[1]

ENDLESS = """
from pathlib import Path
from threading import Event

def test_endless() -> None:
    Path("begun").write_text("yes")
    Event().wait()
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [pytest.param("0", marks=evidence), "1"])
def test_run_that_begins_with_ignored_signals_ends_at_sigint(workers: str, tmp_path: Path) -> None:
    (tmp_path / "test_endless.py").write_text(ENDLESS)
    words = ["-m", "pytest", "-p", "tests.conftest", "-n", workers, "test_endless.py"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    os.mkfifo(tmp_path / "begun")
    process = subprocess.Popen(
        ["sh", "-c", "trap '' INT HUP QUIT; exec \"$@\"", "sh", sys.executable, *words],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
    )
    try:
        assert "yes" == (tmp_path / "begun").read_text()
        process.send_signal(signal.SIGINT)

        assert pytest.ExitCode.INTERRUPTED == process.wait(timeout=PATIENCE_S)
    finally:
        process.kill()
