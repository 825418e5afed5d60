"""Agents with several builds, in containers on this host: which one plays, and what the record says."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from judge.agents.agents import Agent, stage_agent
from judge.base.instruction_sets import INSTRUCTION_SETS, processor_flags
from judge.base.resources import BUILD_DIRECTORY
from judge.games.types import Verdict
from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from judge.referee.play import play
from judge.referee.policy import load_policy
from judge.referee.spec import GameSpec, PlayedBuild, RecordFile
from judge.referee.verify import verify

POLICY = load_policy("gomocup-freestyle", ["game.options.width=5", "game.options.height=5"])
HERE = sorted(INSTRUCTION_SETS & processor_flags())
ELSEWHERE = sorted(INSTRUCTION_SETS - processor_flags())


def write_builds(directory: Path, needs: Sequence[Sequence[str]]) -> Path:
    """An agent whose builds are programs with different names: two house agents."""
    directory.mkdir()
    lines = ['name = "two"']
    for number, names in enumerate(needs):
        house = ("house-instant", "house-stamp")[number]
        (program,) = (path for path in (BUILD_DIRECTORY / house).iterdir() if path.read_bytes()[:4] == b"\x7fELF")
        shutil.copy(program, directory / house)
        lines += ["[[builds]]", f"needs = {list(names)}", f'command = ["./{house}"]']
    (directory / "agent.toml").write_text("\n".join(lines) + "\n")
    return directory


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    build_images(["native"])
    build_house_agents()
    return tmp_path


def game(staging: Path, needs: Sequence[Sequence[str]]) -> RecordFile:
    def staged(named: str) -> Agent:
        return stage_agent(named, staging)

    one, two = staged("house-instant"), staged(str(write_builds(staging / "source", needs)))
    spec = GameSpec(seats=(one.seat(POLICY), two.seat(POLICY)), policy=POLICY)
    return play(spec, {each.digest: each.program for each in (one, two)})


@pytest.mark.docker
@pytest.mark.parametrize(
    ("needs", "number", "name"),
    [
        ([HERE[:2], []], 1, "house-instant"),
        ([[HERE[0], ELSEWHERE[0]], []], 2, "house-stamp"),
        ([ELSEWHERE[:2], []], 2, "house-stamp"),
    ],
)
def test_first_build_that_the_host_can_run_plays(
    agents: Path, needs: Sequence[Sequence[str]], number: int, name: str
) -> None:
    file = RecordFile.model_validate_json(game(agents, needs).to_json())

    has = tuple(sorted({flag for names in needs for flag in names} & processor_flags()))
    assert (PlayedBuild(seat=1, number=number, instruction_sets=has),) == file.record.placement.builds
    assert file.record.verdict is not Verdict.VOID
    assert name in file.record.seats[1].about["name"]
    assert [] == list(verify(file).problems)


@pytest.mark.docker
def test_record_whose_build_contradicts_its_instruction_sets_is_refused(agents: Path) -> None:
    file = game(agents, [[ELSEWHERE[0]], []])
    record = file.record

    (played,) = record.placement.builds
    claims = [
        ((), "its builds are not those of its agents"),
        ((played.model_copy(update={"number": 1}),), "two played with build 1, which its instruction sets do not give"),
        ((played.model_copy(update={"seat": 0}),), "its builds are not those of its agents"),
        ((played.model_copy(update={"instruction_sets": ELSEWHERE[:1]}),), "two played with build 2, which"),
    ]
    for builds, problem in claims:
        placement = record.placement.model_copy(update={"builds": builds})
        forged = file.model_copy(update={"record": record.model_copy(update={"placement": placement})})
        (found,) = verify(forged).problems
        assert found.startswith(problem)


def test_record_without_builds_has_no_new_keys(agents: Path) -> None:
    agent = stage_agent("house-instant", agents)
    assert "builds" not in agent.seat(POLICY).model_dump()
    assert "builds" not in agent.manifest.model_dump()
