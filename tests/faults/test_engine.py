"""The Engine stops, dies and comes back in the middle of a game: no agent loses by it, and a game that ends counts."""

import json
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.brains import write_brain
from tests.cli.conftest import SHORT, Judge
from tests.cli.running import begin, in_its_turn
from tests.examples import of_evidence
from tests.private_engine import PrivateEngine

pytestmark = pytest.mark.docker

GOMOKU = ("--policy", "gomocup-fastgame", *SHORT, "--set", "clock.starved_share=1")
NO_FOLDERS = ("--set", "folders.temporary=false", "--set", "folders.persistent=false")
ONCE = ("--set", "clock.turn_ms=60000", "--set", "attempts=1")


@pytest.fixture(autouse=True)
def at_the_private_engine(engine: PrivateEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[PrivateEngine]:
    """Every judge of these tests uses the private Engine, which runs before and after each."""
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    yield engine
    if not engine.answers():
        engine.start()


def test_a_game_plays_on_when_its_engine_is_killed_and_its_result_counts(
    judge: Judge, tmp_path: Path, engine: PrivateEngine
) -> None:
    """The container is there, and so is the agent; what it leaves behind the next judge removes."""
    paced = [write_brain(tmp_path, name, "time.sleep(0.03)") for name in ("one", "two")]
    with begin(tmp_path, "match", *paced, *GOMOKU, *NO_FOLDERS) as process:
        assert process.stdout
        output = [next(process.stdout) for _ in range(8)]
        engine.end(signal.SIGKILL)
        output += list(process.stdout)
        _, complaints = process.communicate()

    assert 0 == process.returncode, complaints
    (record,) = _records(tmp_path)
    assert ("win", 0, 81) == (record["verdict"], record["winner"], len(record["plies"]))
    judge("verify", *map(str, (tmp_path / "records").glob("*.json")), code=0)
    engine.start()
    _plays_again_and_leaves_nothing(judge, engine)


@pytest.mark.parametrize("end", [signal.SIGTERM, *of_evidence(signal.SIGKILL)])
def test_game_is_void_when_its_container_ends_with_the_engine(
    judge: Judge, tmp_path: Path, engine: PrivateEngine, end: signal.Signals
) -> None:
    """An Engine that stops ends its containers; one that was killed ends them when it comes back."""
    slow = write_brain(tmp_path, "slow", "time.sleep(60)")
    with begin(tmp_path, "match", "house-instant", slow, *GOMOKU, *NO_FOLDERS, *ONCE) as process:
        with closing(engine.client()) as client:
            in_its_turn(client, process)
        engine.end(end)
        engine.start()
        _, complaints = process.communicate()

    assert 1 == process.returncode
    (record,) = _records(tmp_path)
    assert ("void", None) == (record["verdict"], record["winner"])
    assert "Engine" in record["reason"]
    assert [None, None] == [seat["fault"] for seat in record["seats"]]
    assert "a game stayed void" in complaints
    _plays_again_and_leaves_nothing(judge, engine)


def _records(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text())["record"] for path in (directory / "records").glob("*.json")]


def _plays_again_and_leaves_nothing(judge: Judge, engine: PrivateEngine) -> None:
    again = judge("match", "house-instant", "house-instant", *GOMOKU, "--json")
    assert (0, "draw") == (again.code, again.games[0]["verdict"]), again.err
    with closing(engine.client()) as client:
        assert [] == client.containers.list(all=True, filters={"label": "judge.owner"})
