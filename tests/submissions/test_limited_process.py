"""Hostile files are read in a process whose limits count against the upload, and whose failures do not."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from judge.base.errors import HostError, InputError
from judge.submissions.limited_process import LimitedProcess
from judge.submissions.path_checks import RefusedError


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[LimitedProcess]:
    """A process with little time, which can import the tests."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    with closing(LimitedProcess(cpu_s=1)) as process:
        yield process


def refuse(text: str) -> None:
    """Fail as a reader of an upload does."""
    raise InputError(text)


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


def test_too_much_memory_counts_against_the_upload(reader: LimitedProcess) -> None:
    with pytest.raises(RefusedError, match="bytes of memory"):
        reader.run(hold, 8 << 30)


def test_a_process_that_is_killed_is_the_hosts_failure(reader: LimitedProcess) -> None:
    with pytest.raises(HostError, match="ended with -9"):
        reader.run(die)
