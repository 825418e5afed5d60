"""A test run has figures. It ends at Ctrl-C, also where the shell that has started it lets its programs ignore that."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples import evidence
from tests.figures import figures_of
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


TESTS = """
import pytest

@pytest.mark.parametrize("case", ["one", "two", "three"])
def test_of_cases(case, record_property):
    record_property("figure", f"{case} letters: {len(case)}")
    record_property("other", 1)
    if case == "two":
        pytest.skip("not here")
    assert case == "one"

def test_alone():
    pass
"""


def test_figures_are_the_cases_that_passed_and_what_tests_say(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    durations = tmp_path / "durations.jsonl"
    environment = os.environ | {"JUDGE_DURATIONS": str(durations), "PYTHONPATH": str(ROOT)}
    environment.pop("PYTEST_XDIST_WORKER", None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "--rootdir", str(tmp_path), "test_it.py"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert 1 == ran.returncode, ran.stdout + ran.stderr
    assert [
        "test_it.py::test_of_cases: 1 of 2",
        "test_it.py::test_of_cases[one]: one letters: 3",
        "test_it.py::test_of_cases[three]: three letters: 5",
    ] == [*figures_of(durations.read_text().splitlines())]
