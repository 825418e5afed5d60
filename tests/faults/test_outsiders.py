"""Another process holds or kills an agent in its own turn: the game is void, replayed, and at last the organiser's."""

import json
from collections.abc import Callable
from pathlib import Path

import docker
import pytest
from docker.errors import APIError
from docker.models.containers import Container

from judge.sandbox.machine import cgroup
from tests.cli.brains import write_brain
from tests.cli.conftest import SHORT, Judge
from tests.cli.running import begin, in_its_turn
from tests.examples import of_evidence

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("nothing_left")]

GOMOKU = ("--policy", "gomocup-fastgame", *SHORT, "--set", "clock.starved_share=1")
QUICK = ("--set", "clock.turn_ms=5000")
"""Time enough to find the box of who is to move, and to hold it, also on a busy host."""


def freeze(container: Container) -> None:
    """As somebody who may write the container's cgroup."""
    groups = cgroup.find_cgroups(int(container.attrs["State"]["Pid"]), str(container.id)) or {}
    for hierarchy, file, word in ((cgroup.UNIFIED, "cgroup.freeze", "1"), ("freezer", "freezer.state", "FROZEN")):
        if hierarchy in groups:
            (groups[hierarchy] / file).write_text(word)
            return
    pytest.skip("the cgroups of this host's containers are not to be seen")


def pause(container: Container) -> None:
    """As somebody who may use the Engine, and who asks again.

    runc gives up with "unable to freeze" while a process of the box waits for the disk.
    """
    while True:
        try:
            return container.pause()
        except APIError as refused:
            if "unable to freeze" not in str(refused):
                raise


def pause_for_a_turn(container: Container) -> None:
    """Nothing stands still any more when the agent is judged; the Engine remembers."""
    pause(container)
    container.unpause()


@pytest.mark.parametrize("hold", [freeze, *of_evidence(pause, pause_for_a_turn)])
def test_an_agent_held_still_from_outside_is_not_to_blame(
    judge: Judge, tmp_path: Path, client: docker.DockerClient, hold: Callable[[Container], None]
) -> None:
    slow = write_brain(tmp_path, "slow", "time.sleep(60)")
    with begin(tmp_path, "match", "house-instant", slow, *GOMOKU, *QUICK, "--set", "attempts=1") as process:
        hold(in_its_turn(client, process))
        _, err = process.communicate()

    (path,) = (tmp_path / "records").glob("*.json")
    game = json.loads(path.read_text())["record"]
    assert (1, "void", None) == (process.returncode, game["verdict"], game["winner"]), err
    assert "held still: another process" in game["reason"]
    assert 0 == judge("verify", str(path)).code


def test_same_agent_loses_when_not_held(judge: Judge, tmp_path: Path) -> None:
    """The control: the judge's own freezing of it is not taken for an outsider's."""
    slow = write_brain(tmp_path, "slow", "time.sleep(60)")

    (game,) = judge("match", "house-instant", slow, *GOMOKU, "--set", "clock.turn_ms=500", "--json").games

    assert ("turn-time", 0) == (game["verdict"], game["winner"])


def test_a_void_that_comes_again_goes_to_the_organiser(tmp_path: Path, client: docker.DockerClient) -> None:
    """As often as the policy says, each attempt with its record; then the command says so and fails."""
    slow = write_brain(tmp_path, "slow", "time.sleep(60)")
    turn = ("--set", "clock.turn_ms=60000", "--set", "attempts=2")
    with begin(tmp_path, "match", "house-instant", slow, *GOMOKU, *turn) as process:
        for _ in range(2):
            in_its_turn(client, process).kill()
        _, err = process.communicate()

    assert 1 == process.returncode
    assert "a game stayed void; its record has the reason" in err
    records = [json.loads(path.read_text())["record"] for path in (tmp_path / "records").glob("*.json")]
    assert {1: "void", 2: "void"} == {record["attempt"]: record["verdict"] for record in records}
    assert all("another client of the Engine ended its container" in record["reason"] for record in records)
