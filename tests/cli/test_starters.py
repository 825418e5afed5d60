"""The starters for authors: each is built as it tells, and plays a whole game without a fault."""

import shutil
import subprocess
from pathlib import Path

import pytest

from judge.sandbox.compiled import IMAGES
from tests.cli.conftest import Judge

POLICIES = {"agi": "agi-renju", "qchess": "qchess-2013", "stratego": "stratego-2012"}
"""By the game or protocol in a starter's name."""

STARTERS = sorted(path.name for game in POLICIES for path in IMAGES.glob(f"starter-{game}-*"))


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("name", STARTERS)
def test_a_starter_plays_without_a_fault(judge: Judge, tmp_path: Path, name: str) -> None:
    agent = tmp_path / name
    shutil.copytree(IMAGES / name, agent)
    if (agent / "Makefile").exists():
        subprocess.run(["make", "-s"], cwd=agent, check=True)
    game = name.split("-")[1]

    played = judge("match", str(agent), f"house-{game}", "--policy", POLICIES[game], "--json",
                   "--set", "clock.turn_ms=20000", "--set", "clock.starved_share=1").games[0]  # fmt: skip

    assert [None, None] == [seat["fault"] for seat in played["seats"]]
    assert 0 == judge("verify", played["record"]).code


def test_there_is_a_starter_for_each_game_and_language() -> None:
    assert [
        "starter-agi-python",
        "starter-qchess-cpp",
        "starter-qchess-python",
        "starter-stratego-cpp",
        "starter-stratego-python",
    ] == STARTERS
