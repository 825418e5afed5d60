"""The starters for authors: each is built as it tells, and plays a whole game without a fault."""

import shutil
import subprocess
from pathlib import Path

import pytest

from judge.sandbox.compiled import IMAGES
from tests.cli.conftest import Judge

STARTERS = sorted(path.name for path in IMAGES.glob("starter-*"))


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("name", STARTERS)
def test_a_starter_plays_without_a_fault(judge: Judge, tmp_path: Path, name: str) -> None:
    agent = tmp_path / name
    shutil.copytree(IMAGES / name, agent)
    if (agent / "Makefile").exists():
        subprocess.run(["make", "-s"], cwd=agent, check=True)
    game, policy = (
        ("stratego", "stratego-2012") if "stratego" in name else ("qchess", "qchess-2013")
    )

    played = judge("match", str(agent), f"house-{game}", "--policy", policy, "--json",
                   "--set", "clock.turn_ms=20000", "--set", "clock.starved_share=1").games[0]  # fmt: skip

    assert [None, None] == [seat["fault"] for seat in played["seats"]]
    assert 0 == judge("verify", played["record"]).code


def test_there_is_a_starter_for_each_game_and_language() -> None:
    assert [
        f"starter-{g}-{n}" for g in ("qchess", "stratego") for n in ("cpp", "python")
    ] == STARTERS
