"""`kill -9` of the judge: the next start removes what it left, no record is half there, and the game is played."""

import json
import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import docker
import pytest

from judge.base.owner import directories
from tests.cli.brains import write_brain
from tests.cli.conftest import SHORT, Judge, orphans
from tests.cli.running import begin, box_of, in_its_turn, thinking
from tests.examples import evidence

Running = subprocess.Popen[str]

GOMOKU = ("--policy", "gomocup-fastgame", *SHORT, "--set", "clock.starved_share=1")
PROCESS = ("--box", "process", "--json")


SLEEPS = "time.sleep(60)"
MOMENTS: dict[str, tuple[dict[str, str], Callable[[docker.DockerClient, Running], object]]] = {
    "box is made": ({"at_once": SLEEPS}, box_of),
    "box runs": ({"at_once": SLEEPS}, partial(box_of, is_so=lambda box: box.status == "running")),
    "agent starts up": ({"at_once": SLEEPS}, thinking),
    "turn": ({"trick": SLEEPS}, in_its_turn),
}


@pytest.mark.alone
@pytest.mark.docker
@pytest.mark.parametrize("moment", [pytest.param(each, marks=[evidence] * (each == "box runs")) for each in MOMENTS])
def test_killed_in_a_game(judge: Judge, tmp_path: Path, client: docker.DockerClient, moment: str) -> None:
    brain, wait = MOMENTS[moment]
    seats = [write_brain(tmp_path, "slow", **brain), "house-instant"][:: -1 if moment == "turn" else 1]
    patient = ("--set", "clock.start_ms=60000", "--set", "clock.turn_ms=60000")
    with begin(tmp_path, "match", *seats, *GOMOKU, *patient) as process:
        wait(client, process)
        process.kill()

    again = judge("match", "house-instant", "house-instant", *GOMOKU, "--json")

    assert (0, "draw") == (again.code, again.games[0]["verdict"]), again.err
    # Another judge on this host may have cleaned up before this one.
    assert not orphans()
    assert [] == _directories_of(process.pid)
    assert [Path(again.games[0]["record"]).name] == _records(tmp_path / "records")


def test_killed_while_it_writes_the_record(judge: Judge, tmp_path: Path) -> None:
    """A record that is written into a pipe of the test's: the judge stands in the middle of it when it is killed."""
    game = ("house-instant", "house-instant", *GOMOKU, *PROCESS)
    name = Path(judge("match", *game, "--out", "first").games[0]["record"]).name
    records = tmp_path / "records"
    records.mkdir()
    partial = records / f"{name}.partial"
    os.mkfifo(partial)
    with begin(tmp_path, "match", *game) as process:
        with partial.open("rb", buffering=0) as pipe:
            half = pipe.read(1000)
            process.kill()
        process.communicate()
    partial.unlink()
    partial.write_bytes(half)

    assert half.startswith(b"{")
    assert [] == _records(records)

    again = judge("match", *game)

    assert (0, "draw") == (again.code, again.games[0]["verdict"]), again.err
    assert [name] == _records(records)
    assert not partial.exists()
    assert 0 == judge("verify", again.games[0]["record"]).code
    assert [] == _directories_of(process.pid)


def _directories_of(pid: int) -> list[Path]:
    return [path for path, owner in directories() if owner and owner.pid == pid]


def _records(directory: Path) -> list[str]:
    """The names of the records in a directory, each of which is whole."""
    paths = sorted(directory.glob("*.json"))
    for path in paths:
        json.loads(path.read_text())
    return [path.name for path in paths]
