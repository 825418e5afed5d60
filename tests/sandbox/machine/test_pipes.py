"""Named pipes that cannot be made leave no file open."""

import os
from pathlib import Path

import pytest

from judge.sandbox.machine.pipes import NamedPipes


def test_files_are_closed_if_the_last_pipe_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, opened = os.mkfifo, len([*Path("/proc/self/fd").iterdir()])

    def make_two(path: Path) -> None:
        if path.name == "err":
            raise OSError(28, "No space left on device")
        make(path)

    monkeypatch.setattr(os, "mkfifo", make_two)
    with pytest.raises(OSError, match="No space left"):
        NamedPipes(tmp_path)
    assert opened == len([*Path("/proc/self/fd").iterdir()])
