"""The rehearsal of a ladder."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from scripts.ladder_rehearsal import agreement, as_round_robin, waiting_times
from tests.examples import evidence

ROOT = Path(__file__).parents[2]


def test_round_robin_of_a_ladder_starts_from_no_ratings() -> None:
    plan = (
        'policy = "a"\n[format]\nname = "ladder"\ntotal_games = 9\n[slots]\ncores = 1\n[ratings]\nfrom = "../ladder"\n'
    )

    assert {"policy": "a", "format": {"name": "round-robin", "games": 4}, "slots": {"cores": 1}} == tomllib.loads(
        as_round_robin(plan, 2)
    )


def test_agreement_is_the_share_of_pairs_in_the_same_order() -> None:
    assert 1 == agreement([1, 2, 3], [10, 20, 30])
    assert 0.667 == agreement([1, 2, 3], [20, 10, 30])
    assert 1 == agreement([1, 2, 3], [10, 10, 30])


def test_waiting_time_is_from_the_upload_and_from_the_check() -> None:
    journal = [{"event": "passed", "text": "submission 1: anna", "at": "2027-01-01T00:00:10+00:00"}]
    records = [
        {"started_at": f"2027-01-01T00:00:{second}+00:00", "spec": {"seats": [{"digest": "a"}, {"digest": "b"}]}}
        for second in ("30", "12", "01")
    ]
    submissions = [
        {"id": 1, "name": "anna", "version": 1, "agent": "a", "received_at": "2027-01-01T00:00:02+00:00"},
        {"id": 2, "name": "bert", "version": 1, "agent": "c", "received_at": "2027-01-01T00:00:02+00:00"},
    ]

    assert {"anna 1": [10.0, 2.0]} == waiting_times(journal, records, submissions)


@evidence
@pytest.mark.docker
def test_ladder_is_verified_after_kills_new_versions_and_crashes(tmp_path: Path) -> None:
    build_images(["native", "python", "java", "toolchain", "keeper", "node", "toolchain-pascal"])
    build_house_agents()

    command = [sys.executable, "-m", "scripts.ladder_rehearsal", str(tmp_path / "ladder"), "--minutes", "30"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert 0 == done.returncode, done.stdout + done.stderr
    assert json.loads(done.stdout[done.stdout.index("{") :])["is_good"]
