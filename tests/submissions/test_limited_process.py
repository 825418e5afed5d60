"""Hostile files are read in a process whose limits count against the upload, and whose failures do not."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from judge.agents.recipe import Sources, recipe_for
from judge.base.errors import HostError, InputError
from judge.submissions.limited_process import LimitedProcess, limited_process
from judge.submissions.path_checks import RefusedError
from tests.cpu_limit import run_limited


@pytest.fixture
def reader() -> Iterator[LimitedProcess]:
    """A process with little time."""
    with limited_process(cpu_s=1) as process:
        yield process


def refuse(text: str) -> None:
    """Fail as a reader of an upload does."""
    raise InputError(text)


def search_by_squares(size: int) -> bool:
    """Search blank lines by an expression that needs time with the square of them."""
    return re.search(r"(?im)^\s*program\s+\w+", "\n" * size) is not None


def hold(size: int) -> int:
    """Use memory."""
    return len(bytes(size))


def die() -> None:
    """End as a process that the host kills."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_results_and_refusals_come_back(reader: LimitedProcess) -> None:
    assert 3 == reader.run(len, "abc")
    with pytest.raises(InputError, match="a fault"):
        reader.run(refuse, "a fault")
    assert [1, 2] == reader.run(sorted, [2, 1])


@pytest.mark.slow
def test_too_much_cpu_time_counts_against_the_upload(reader: LimitedProcess) -> None:
    with pytest.raises(RefusedError, match=r"took more than 1 s of CPU time"):
        reader.run(search_by_squares, 1_000_000)


@pytest.mark.slow
def test_same_search_continues_without_the_limit() -> None:
    """The control: more than the limit of the test above, and nothing ends it."""
    with limited_process(cpu_s=1000) as process:
        assert process.run(search_by_squares, 12_000) is False


def test_too_much_memory_counts_against_the_upload(reader: LimitedProcess) -> None:
    with pytest.raises(RefusedError, match="bytes of memory"):
        reader.run(hold, 8 << 30)


def test_a_process_that_is_killed_is_the_hosts_failure(reader: LimitedProcess) -> None:
    with pytest.raises(HostError, match="ended with -9"):
        reader.run(die)


# --- what it reads ---------------------------------------------------------------------------------------------------

HOSTILE = {
    "pascal": {f"{n}.pas": "\n" * 1_000_000 for n in range(6)},
    "pascal words": {"a.pas": "program" + " " * 900_000, "b.pas": "program\n" * 100_000, "c.pas": "program x;"},
    "go": {"go.mod": "\n" * 1_000_000, "main.go": ""},
    "cmake": {"CMakeLists.txt": "add_executable" + " " * 500_000 + "\n" * 400_000 + "project(" * 10_000},
    "make": {"Cargo.toml": '[package]\nname = "a"', "Makefile": "\t" * 500_000 + "a = " * 100_000 + "cargo" * 10_000},
    "java": {f"{n}.java": "static final " * 70_000 + " " * 50_000 + "package a." * 5_000 for n in range(10)},
    "c": {f"{n}.c": "a " * 200_000 + "a* " * 100_000 + "\n" * 100_000 for n in range(10)},
    "python": {"main.py": "print " * 100_000 + "except " * 100_000 + "\n" * 100_000 + "#! " + "-a " * 10_000},
    "first line": {"main.py": "#!" + " -a" * 300_000},
}


@pytest.mark.slow
@pytest.mark.parametrize("case", HOSTILE)
def test_the_time_for_sources_grows_with_their_size(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At these sizes a step that grows with the square needs hours."""
    for name, text in HOSTILE[case].items():
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("JUDGE_TEST_TREE", str(tmp_path))

    assert "read" == run_limited(read_tree, cpu_s=20)


def read_tree() -> None:
    """Find the recipe of a tree, or the reason why there is none."""
    with suppress(InputError):
        recipe_for(Sources(Path(os.environ["JUDGE_TEST_TREE"]), "bot"))
    os.write(1, b"read")
