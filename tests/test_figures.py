"""The figures of a run, from a run of pytest."""

import os
import subprocess
import sys
from pathlib import Path

from tests.figures import figures_of

ROOT = Path(__file__).parents[1]

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
