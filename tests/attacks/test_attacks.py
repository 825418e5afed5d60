"""Every attack, played: its defence holds; and with that one defence off it succeeds."""

from typing import Any

import pytest

from judge.attacks.attack import Attack, Control
from judge.attacks.fixtures import killed_judge
from judge.attacks.runner import Suite
from judge.attacks.table import ATTACKS
from tests.attacks.conftest import again_where_busy

CONTROLLED = [attack for attack in ATTACKS if isinstance(attack.control, Control)]


NEED_CALM = {"R7", "R10", "O4.populate"}
"""Attacks that a busy host ends otherwise: a box is not clean in time and thrown away, memory is not mapped in time."""


def marked(attack: Attack) -> Any:
    """An attack that is after a void proves nothing if others use its core; one kills a judge, one races the Engine."""
    is_racing = attack.policy.get("box", {}).get("freeze") == "engine"
    is_alone = attack.earns_void or attack.scene is killed_judge or is_racing or attack.id in NEED_CALM
    return pytest.param(attack, id=attack.id, marks=[pytest.mark.alone] if is_alone else [])


@pytest.mark.docker
@again_where_busy
@pytest.mark.parametrize("attack", [*map(marked, ATTACKS)])
def test_the_defence_holds_and_nobody_else_is_harmed(suite: Suite, attack: Attack) -> None:
    trial = suite.attack(attack)

    assert () == trial.problems


@pytest.mark.docker
@pytest.mark.parametrize("attack", [*map(marked, CONTROLLED)])
def test_with_its_defence_off_the_attack_succeeds(suite: Suite, attack: Attack) -> None:
    trial = suite.control(attack)

    assert () == trial.problems
