"""A program for each runtime plays a game in it, where the policy admits it."""

from pathlib import Path

import pytest

from judge.host.build_images import build_images
from tests.cli.conftest import Judge

HERE = Path(__file__).parents[1] / "languages"
PLAYERS = {"numpy": HERE / "numpy", "node": HERE / "node", "python2": HERE / "python2" / "player"}
"""By the runtime that they ask for."""

pytestmark = pytest.mark.docker


def match(judge: Judge, player: Path, runtime: str) -> None:
    """The player ends a game with the fastest house agent, by the rules, and its record verifies."""
    build_images(["native", "keeper", runtime])

    played = judge(
        "match", str(player), "house-instant", "--policy", "gomocup-freestyle:fast", "--json",
        "--set", f"admits=['native', '{runtime}']",
    )  # fmt: skip

    assert played.code == 0, played.err
    [game] = played.games
    assert "win" == game["verdict"]
    assert judge("verify", game["record"]).code == 0


@pytest.mark.parametrize("runtime", PLAYERS)
def test_a_program_plays_in_its_runtime(judge: Judge, runtime: str) -> None:
    match(judge, PLAYERS[runtime], runtime)


@pytest.mark.parametrize("command", ["check", "match"])
def test_a_runtime_that_the_policy_does_not_admit_is_refused(judge: Judge, command: str) -> None:
    opponent = ["house-instant"] if command == "match" else []

    refused = judge(command, str(PLAYERS["numpy"]), *opponent, "--policy", "gomocup-freestyle")

    assert refused.code != 0
    assert (
        "runtime 'numpy': policy gomocup-freestyle admits native, python, java, wine, mono; an organiser" in refused.err
    )
    assert '"mono", "numpy"]' in refused.err
