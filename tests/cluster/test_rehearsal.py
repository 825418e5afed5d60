"""The rehearsal of a cup, with few games."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from scripts.rehearsal import SMALL_LEAGUES
from tests.examples import evidence

pytestmark = [pytest.mark.docker, pytest.mark.long, evidence]

ROOT = Path(__file__).parents[2]


def test_cup_is_over_after_a_worker_is_killed_and_both_verifiers_accept_it(tmp_path: Path) -> None:
    build_images(["native", "python", "keeper"])
    build_house_agents()

    command = [sys.executable, "-m", "scripts.rehearsal", str(tmp_path / "cups"), "--small", "--games", "6"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert 0 == done.returncode, done.stdout + done.stderr
    summary = json.loads(done.stdout[done.stdout.index("{") :])
    assert (len(SMALL_LEAGUES), 6 * len(SMALL_LEAGUES)) == (summary["games"]["2025"], summary["games"]["2026"])
    assert summary["is_good"]
    assert 1 <= summary["kills"]
    lost = summary["games_of_the_killed_worker"]
    assert lost
    for game in lost:
        assert (True, []) == (game["is_later"], game["faults"])
    assert {league.name for league in SMALL_LEAGUES} == set(summary["hosts"])
    assert [0, "ok: cup-2026"] == summary["verify.mjs"]
    assert summary["judge contest verify"][1].startswith("public: ok: cup-2026, 4 leagues")
