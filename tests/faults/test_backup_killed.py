"""`kill -9` of a backup and of a restore, at random moments: a former backup stays, a restored folder is complete."""

import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from judge.base.owner import mark_of
from judge.contest.backup import back_up
from judge.contest.backup_check import MANIFEST, read_manifest
from judge.contest.restore import restore
from judge.sandbox.docker.reaper import reap
from tests.examples import sized
from tests.publish.cups import STRONG_TO_WEAK, Cup

KILLS = sized(5, 50)

SEED = 43


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Cup]:
    with Cup(tmp_path / "cup", STRONG_TO_WEAK, more="[failures]\nafter = 1000") as cup:
        cup.play(2)
        yield cup


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def left_in(temporary: Path) -> list[Path]:
    """What the next judge does not remove. It removes a directory without a mark later."""
    reap(containers=False)
    return [path for path in temporary.iterdir() if mark_of(path).exists()]


def calls_of(work: Callable[[], object], last: int = 0) -> int:
    """Do the work; the number of its calls of functions written in C. This process is killed at call number `last`."""
    calls = 0

    def count(_frame: FrameType, event: str, _function: object) -> None:
        nonlocal calls
        if event == "c_call":
            calls += 1
            if calls == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def in_a_fork(work: Callable[[], object], last_call: int) -> int:
    """The exit code of a fork that does the work, and is killed at a call; the number of a signal below 0."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            calls_of(work, last_call)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def test_backup_killed_at_any_moment_keeps_the_former_one(running: Cup, tmp_path: Path, temporary: Path) -> None:
    target = tmp_path / "backup"
    calls = calls_of(lambda: back_up(running.planned, tmp_path / "measured"))
    moments, killed = random.Random(SEED), 0
    for number in range(KILLS):
        former = read_manifest(target) if (target / MANIFEST).exists() else None
        if number % 2:
            running.play(1)
        code = in_a_fork(lambda: back_up(running.planned, target), moments.randint(1, calls))
        killed += code == -signal.SIGKILL
        assert code in (0, -signal.SIGKILL), number
        if (target / MANIFEST).exists():
            found = read_manifest(target)
            assert former is None or code == 0 or found.log_size >= former.log_size
            restored = tmp_path / f"restored-{number}"
            assert found == restore(target, restored, sample=1).manifest, number
        else:
            assert former is None
    assert killed

    back_up(running.planned, target)
    assert restore(target, tmp_path / "last").manifest.games == len(running.contest.view().results)
    assert 2 >= len(list((target / "database").iterdir()))
    assert [] == list(target.rglob("*.partial"))
    assert [] == left_in(temporary)


def test_restore_killed_at_any_moment_leaves_all_or_nothing(running: Cup, tmp_path: Path, temporary: Path) -> None:
    running.play(4)
    manifest = back_up(running.planned, tmp_path / "backup").manifest
    target = tmp_path / "restored"
    calls = calls_of(lambda: restore(tmp_path / "backup", tmp_path / "measured", sample=1))
    moments, killed = random.Random(SEED), 0
    for number in range(KILLS):
        code = in_a_fork(lambda: restore(tmp_path / "backup", target, sample=1), moments.randint(1, calls))
        killed += code == -signal.SIGKILL
        assert code in (0, -signal.SIGKILL), number
        if target.exists():
            # Complete, though perhaps killed after the rename.
            target.rename(tmp_path / f"complete-{number}")
            assert (tmp_path / f"complete-{number}/contest.db").is_file()
        else:
            assert code != 0
    assert killed

    assert manifest == restore(tmp_path / "backup", target).manifest
    assert [] == list(tmp_path.glob(".*.partial"))
    assert [] == left_in(temporary)
