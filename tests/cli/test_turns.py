"""Several judges at once on one host: games on a core take turns, and who waits says for whom."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import docker
import pytest

from judge.host.build_images import build_images
from judge.sandbox.machine.cores import whole_cores
from tests.cli.brains import write_brain
from tests.cli.conftest import QUICK, orphans
from tests.cli.running import thinking

GAME = ("--policy", "gomocup-fastgame", *QUICK, "--set", "clock.starved_share=1")
LONG = (*GAME, "--set", "clock.turn_ms=60000")


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


@pytest.mark.alone
@pytest.mark.docker
def test_second_of_two_matches_waits_and_plays_when_the_first_is_killed(
    two_cores: tuple[int, ...], tmp_path: Path
) -> None:
    """What the dead one left on the core is gone before the second plays there."""
    build_images(["native", "python", "keeper"])
    slow = write_brain(tmp_path, "slow", "time.sleep(60)")
    with begun(tmp_path, "match", slow, "house-instant", *LONG) as first:
        with closing(docker.from_env()) as client:
            thinking(client, first)
        with begun(tmp_path, "match", "house-instant", "house-instant", *GAME) as second:
            assert second.stderr
            said = next((line for line in second.stderr if "waiting" in line), "")
            who = rf"judge: waiting for core {two_cores[0]}: judge match .*\(process {first.pid}, running since "
            assert re.match(who, said), said
            assert second.poll() is None
            first.send_signal(signal.SIGKILL)
            out, err = second.communicate()

    assert 0 == second.returncode, err
    assert "drawn (draw)" in out
    assert "waiting" not in err
    assert not orphans()
