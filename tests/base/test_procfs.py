"""Readings of /proc."""

import errno
import os
from pathlib import Path

import pytest

from judge.base.owner import Fate, Owner
from judge.base.procfs import started_ticks

READ = Path.read_text


def refuse(monkeypatch: pytest.MonkeyPatch, *numbers: int) -> None:
    """Let the next readings of a process's `stat` fail with errors of these numbers."""
    errors = [OSError(number, os.strerror(number)) for number in numbers]

    def read(path: Path, encoding: str, errors_: str) -> str:
        if path.name == "stat" and errors:
            raise errors.pop(0)
        return READ(path, encoding=encoding, errors=errors_)

    monkeypatch.setattr(Path, "read_text", lambda path, encoding, errors="strict": read(path, encoding, errors))


def test_reading_is_repeated_while_the_kernel_has_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = started_ticks(os.getpid())
    refuse(monkeypatch, errno.ENOMEM, errno.ENOMEM)

    assert expected == started_ticks(os.getpid())


@pytest.mark.parametrize(
    ("number", "fate"), [(errno.ENOENT, Fate.GONE), (errno.ESRCH, Fate.GONE), (errno.EMFILE, Fate.UNKNOWN)]
)
def test_only_a_missing_process_is_gone(number: int, fate: Fate, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = Owner.me()
    assert Fate.ALIVE is owner.fate()
    refuse(monkeypatch, number)

    assert fate is owner.fate()
