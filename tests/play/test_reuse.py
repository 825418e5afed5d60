"""Whole games in boxes that are kept for their agents: what the record says, and what a fault between games costs."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.agents.agents import stage_agent
from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from judge.play.game import play
from judge.record.policy import load_policy, policy_names
from judge.record.spec import GameSpec, RecordFile
from judge.referee.verify import verify
from judge.sandbox.docker.kept import KEPT

REUSED = ("docker-pipes, reused", "docker-pipes, reused")
FRESH = ("docker-pipes, fresh", "docker-pipes, fresh")

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root renews boxes")


@pytest.fixture
def staging(tmp_path: Path) -> Iterator[Path]:
    """Where agents are staged; no box is kept before the test, nor after it."""
    build_images(["native"])
    build_house_agents()
    KEPT.close()
    yield tmp_path
    KEPT.close()


@only_root
@pytest.mark.docker
def test_each_record_states_box_reuse_and_verifies(staging: Path) -> None:
    agent = stage_agent("house-instant", staging)
    policy = load_policy("gomocup-freestyle", ["game.options.width=5", "game.options.height=5", "box.reuse=agent"])
    one, two = (agent.seat(policy).model_copy(update={"name": name}) for name in ("one", "two"))
    specs = [GameSpec(seats=(one, two), policy=policy, number=number) for number in range(2)]
    first, second = (play(spec, {agent.digest: agent.program}) for spec in specs)
    read = RecordFile.model_validate_json(second.to_json())

    assert (FRESH, REUSED) == (first.record.placement.box, read.record.placement.box)
    assert [] == list(verify(read).problems)
    assert [ply.said for ply in first.record.plies] == [ply.said for ply in read.record.plies]


@pytest.mark.parametrize("name", policy_names())
def test_official_policies_have_fresh_boxes_for_each_game(name: str) -> None:
    assert "never" == load_policy(name).box.reuse
