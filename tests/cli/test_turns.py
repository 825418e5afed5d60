"""Several judges at once on one host: games on a core take turns, and who waits says for whom."""

import os
import re
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import docker
import pytest

from judge.base.resources import BUILD_DIRECTORY
from judge.host.build_images import build_images
from judge.sandbox.machine.cores import CoreLocks, whole_cores
from tests.cli.brains import write_brain
from tests.cli.conftest import QUICK, orphans
from tests.cli.running import thinking
from tests.examples import evidence
from tests.web.intake.conftest import make_contest

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("two_cores", "images")]

GAME = ("--policy", "gomocup-fastgame", *QUICK, "--set", "clock.starved_share=1")
LONG = (*GAME, "--set", "clock.turn_ms=60000")


@pytest.fixture(scope="module")
def images() -> None:
    """What the boxes run in."""
    build_images(["native", "python", "keeper", "unpacker"])


@pytest.fixture
def two_cores() -> Iterator[tuple[int, ...]]:
    """All that the judges of a test have, whatever this host has: so games have one core, which is this."""
    before = os.sched_getaffinity(0)
    cores = whole_cores()[:2]
    os.sched_setaffinity(0, sum(cores, ()))
    yield cores[-1]
    os.sched_setaffinity(0, before)


@contextmanager
def begun(directory: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A judge with pipes for what it says, which is ended if the test fails before it ends."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "judge.cli", *words]
    with subprocess.Popen(command, cwd=directory, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def complaint(process: subprocess.Popen[str]) -> str:
    """The line in which a judge says for whom it waits; nothing where it ends without."""
    assert process.stderr
    return next((line for line in iter(process.stderr.readline, "") if "waiting" in line), "")


def waits_for(said: str, core: Sequence[int], command: str, pid: int) -> bool:
    """Whether a judge says that it waits for this process on this core."""
    who = rf"judge: waiting for core {core[0]}: judge {command} .*\(process {pid}, running since "
    return re.match(who, said) is not None


@pytest.mark.alone
def test_second_of_two_matches_waits_and_plays_when_the_first_is_killed(
    two_cores: tuple[int, ...], tmp_path: Path
) -> None:
    """What the dead one left on the core is gone before the second plays there."""
    slow = write_brain(tmp_path, "slow", "time.sleep(60)")
    with begun(tmp_path, "match", slow, "house-instant", *LONG) as first:
        with closing(docker.from_env()) as client:
            thinking(client, first)
        with begun(tmp_path, "match", "house-instant", "house-instant", *GAME) as second:
            said = complaint(second)
            assert waits_for(said, two_cores, "match", first.pid), said
            assert second.poll() is None
            first.send_signal(signal.SIGKILL)
            out, err = second.communicate()

    assert 0 == second.returncode, err
    assert "drawn (draw)" in out
    assert "waiting" not in err
    assert not orphans()


@evidence
def test_an_upload_is_built_at_once_and_examined_when_a_core_is_free(
    two_cores: tuple[int, ...], tmp_path: Path
) -> None:
    make_contest(tmp_path / "cup")
    upload = tmp_path / "mine.tar.gz"
    with tarfile.open(upload, "w:gz") as archive:
        archive.add(BUILD_DIRECTORY / "house-python", ".")
    named = ("--name", "mine")
    core = CoreLocks(two_cores, lambda _: None)
    with core, begun(tmp_path, "submit", str(upload), "cup", *named) as submit:
        said = complaint(submit)
        assert said.startswith(f"judge: waiting for core {two_cores[0]}: "), said
        assert f"(process {os.getpid()}, running since" in said
        assert submit.stdout
        told = [submit.stdout.readline().split()[:2] for _ in range(5)]
        core.__exit__()
        out, err = submit.communicate()

    assert [["ok", stage] for stage in ("received", "unpacked", "built", "staged")] == told[1:]
    assert "passed: mine version 1" in out, err
