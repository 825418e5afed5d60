"""`kill -9` of the judge: nothing of it is left after the next start, no record is half there, and the game is played.

That it is killed in the middle of a turn is told in `tests/cli/test_match.py`.
"""

import json
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import docker
import pytest
from docker.models.containers import Container

from judge.base.owner import directories
from tests.cli.brains import write_brain
from tests.cli.conftest import SHORT, Judge, orphans
from tests.cli.running import begin_game, box_of, runs_python

pytestmark = pytest.mark.alone

GOMOKU = ("--policy", "gomocup-fastgame", *SHORT, "--set", "clock.starved_share=1")
PROCESS = ("--box", "process", "--json")


@pytest.mark.docker
@pytest.mark.parametrize(
    "is_so",
    [lambda _: True, lambda container: container.status == "running", runs_python],
    ids=["box-is-made", "box-runs", "agent-starts-up"],
)
def test_killed_before_a_game_has_begun(judge: Judge, tmp_path: Path, is_so: Callable[[Container], bool]) -> None:
    slow = write_brain(tmp_path, "slow", at_once="time.sleep(60)")
    patient = ("--set", "clock.start_ms=60000")
    with begin_game(tmp_path, slow, "house-instant", *GOMOKU, *patient) as process:
        with closing(docker.from_env()) as client:
            box_of(client, process, is_so)
        process.kill()

    again = judge("match", "house-instant", "house-instant", *GOMOKU, "--json")

    assert (0, "draw") == (again.code, again.games[0]["verdict"]), again.err
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
    with begin_game(tmp_path, *game) as process:
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
