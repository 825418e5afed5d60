"""The starters for authors pass `judge check` for every policy that they are for, and play in their containers."""

import pytest

from judge.agents.agents import stage_agent
from judge.base.owner import owned_directory
from judge.base.resources import IMAGES
from judge.games.types import Verdict
from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from judge.play.game import play
from judge.play.venue import Slot
from judge.record.policy import Policy, load_policy
from judge.record.spec import GameSpec
from judge.sandbox.docker import images
from judge.submissions.check import Grade, examine
from tests.examples import evidence, of_evidence
from tests.starters.conftest import STARTERS, Built, protocol_of

POLICIES = {
    "gomocup": ("gomocup-freestyle", "gomocup-standard", "gomocup-caro", "gomocup-swap2", "renju-15"),
    "agi": ("agi-renju", "agi-renju:yamaguchi"),
    "stratego": ("stratego-2012",),
    "qchess": ("qchess-2013",),
}
"""What an agent may be entered for, by protocol."""

WEAK = {"gomocup-caro": {"rule"}}
"""Checks that ask for more than a starter knows: to stop a three."""

OPPONENTS = {
    "gomocup": ("house-instant", "gomocup-standard"),
    "agi": ("house-agi-instant", "agi-renju"),
    "stratego": ("house-stratego-instant", "stratego-2012"),
    "qchess": ("house-qchess-instant", "qchess-2013"),
}
"""The house agent opposite in a container, and the policy."""


def patient(policy: str) -> Policy:
    """The policy for a loaded machine; a game by chance is short."""
    short = ("game.options.turn_limit=50",) if policy.startswith("stratego") else ()
    return load_policy(policy, ("clock.turn_ms=30000", "clock.starved_share=1", *short))


CHECKED = {
    "gomocup-freestyle": "c",
    "gomocup-swap2": "python",
    "renju-15": "java",
    "agi-renju": "cpp",
    "stratego-2012": "c",
    "qchess-2013": "c",
}
"""The policies of the full lane, and the language of each."""

PLAYING = ("starter-gomocup-java", "starter-agi-cpp", "starter-stratego-python", "starter-qchess-c")
"""Starters that play in a container in the full lane: each protocol and each language."""


@pytest.fixture(scope="module", autouse=True)
def house() -> None:
    build_house_agents()


def test_there_is_a_starter_for_each_protocol_and_language() -> None:
    assert {path.name for path in IMAGES.glob("starter-*")} == set(STARTERS)


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        pytest.param(name, policy, marks=() if name.endswith(f"-{CHECKED.get(policy)}") else evidence)
        for name in STARTERS
        for policy in POLICIES[protocol_of(name)]
    ],
)
def test_the_check_finds_no_fault(built: Built, name: str, policy: str) -> None:
    with owned_directory() as staging:
        agent = stage_agent(str(built(name)), staging)
        report = examine(agent, patient(policy), Slot(), "process", staging)

    weak = {finding.check for finding in report.findings if finding.grade is not Grade.PASS}
    assert "about" in weak  # the text that an author replaces
    assert weak - {"time", "about"} <= WEAK.get(policy, set()), report
    assert report.grade is not Grade.FAIL
    assert report.untried == ()


@pytest.mark.docker
@pytest.mark.parametrize("name", [*PLAYING, *of_evidence(*(name for name in STARTERS if name not in PLAYING))])
def test_it_plays_in_its_container_without_a_fault(built: Built, name: str) -> None:
    if name.endswith("-java") and not any(s.id for s in images.listing() if s.recipe.name == "java"):
        pytest.skip("there is no image for Java here: judge images build java")
    build_images(["native", "python"])
    house_agent, policy_name = OPPONENTS[protocol_of(name)]
    policy = patient(policy_name)
    with owned_directory() as staging:
        agent, opponent = (stage_agent(named, staging) for named in (str(built(name)), house_agent))
        seats = agent.seat(policy), opponent.seat(policy)
        programs = {each.digest: each.program for each in (agent, opponent)}
        record = play(GameSpec(seats=seats, policy=policy), programs).record

    assert [None, None] == [seat.fault for seat in record.seats], record.reason
    assert record.verdict in (Verdict.WIN, Verdict.DRAW)
