"""`kill -9` of a backup, a restore and an export, at random moments.

A former backup stays. A restored folder is complete. A folder has no export or a whole one, and the next one completes.
"""

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
from judge.contest.backup_check import MANIFEST, BackupManifest, read_manifest
from judge.contest.file_names import EXPORTS
from judge.contest.restore import restore
from judge.publish.export.export import write_export
from judge.publish.verify.export import verify_export
from judge.sandbox.docker.reaper import reap
from judge.transparency.keys import KEY_FILE, make_key
from tests.contests import nothing
from tests.examples import of_evidence, sized
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.store.server import database

KILLS = sized(5, 50)

SEED = 43


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Cup]:
    with Cup(tmp_path / "cup", STRONG_TO_WEAK, more="[failures]\nafter = 1000") as cup:
        cup.play(2)
        yield cup


@pytest.fixture(params=["sqlite", *of_evidence("postgresql")])
def store_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Request it before `temporary`, which the user of a PostgreSQL server cannot enter."""
    with database(request.param) as url:
        yield url


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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


def killed_at_random(work: Callable[[], object], calls: int, kills: int = KILLS) -> Iterator[tuple[int, int]]:
    """Do the work in forks, which are killed at one of its calls; the number and the exit code of each."""
    moments, codes = random.Random(SEED), list[int]()
    for number in range(kills):
        codes.append(in_a_fork(work, moments.randint(1, calls)))
        assert codes[-1] in (0, -signal.SIGKILL), number
        yield number, codes[-1]
    assert -signal.SIGKILL in codes


def test_backup_killed_at_any_moment_keeps_the_former_one(running: Cup, tmp_path: Path, temporary: Path) -> None:
    target = tmp_path / "backup"
    calls = calls_of(lambda: back_up(running.planned, tmp_path / "measured"))
    former: BackupManifest | None = None
    for number, code in killed_at_random(lambda: back_up(running.planned, target), calls):
        if (target / MANIFEST).exists():
            found = read_manifest(target)
            assert former is None or code == 0 or found.log_size >= former.log_size
            assert found == restore(target, tmp_path / f"restored-{number}", sample=1).manifest, number
            former = found
        else:
            assert former is None
        if number == KILLS // 2:
            former = back_up(running.planned, target).manifest  # no fork that was killed has completed one
        if number % 2 == 0:
            running.play(1)

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
    for number, code in killed_at_random(lambda: restore(tmp_path / "backup", target, sample=1), calls):
        assert target.exists() or code != 0
        if target.exists():
            # Complete, though perhaps killed after the rename.
            target.rename(tmp_path / f"complete-{number}")
            assert (tmp_path / f"complete-{number}/contest.db").is_file()

    assert manifest == restore(tmp_path / "backup", target).manifest
    assert [] == list(tmp_path.glob(".*.partial"))
    assert [] == left_in(temporary)


def test_export_killed_at_any_moment_is_repeated(store_url: str, tmp_path: Path, temporary: Path) -> None:
    store = f'store = "{store_url}"'
    with Cup(tmp_path / "cup", STRONG_TO_WEAK, more=store, drawn=nothing) as cup:
        make_key(cup.folder / KEY_FILE)
        cup.play(4)
        plan, exports = str(cup.planned.path), cup.folder / EXPORTS
        calls = calls_of(lambda: write_export(plan, "measured"))
        for number, _ in killed_at_random(lambda: write_export(plan, "killed"), calls, sized(4, 50)):
            if (public := exports / "killed/public").exists():
                assert [] == verify_export(public, None).problems
                (exports / "killed").rename(exports / f"whole-{number}")  # complete, though perhaps killed afterwards

        write_export(plan, "killed")
    assert [] == verify_export(exports / "killed/public", None).problems
    assert [] == list(exports.rglob(".*.partial"))
    assert [] == left_in(temporary)
