"""Attacks, played: the defence holds; and with that one defence off the attack succeeds.

The full lane plays one attack of each program against each promise, the evidence all of them.
"""

from typing import Any

import pytest

from judge.attacks.attack import Attack
from judge.attacks.runner import Suite
from judge.attacks.scenes import killed_judge
from judge.attacks.table import ATTACKS
from tests.attacks.conftest import again_where_busy, of_this_lane
from tests.attacks.controls import CONTROLS, ControlSuite

NEED_CALM = {"R7", "R10", "O4.populate", "I8"}
"""Attacks that end differently on a busy host: a box is not clean in time, memory is not mapped in time, or the judge
gets too little processor time to spin."""

CONTROLS_NEED_CALM = {"A9.thread", "A9.process", "D19", "D19.image", "E2.endless", "O1"}
"""Without the defence, an attack gets no time to think or to print, or its opponent is late before it has begun; or the
games of other tests drop the cached pages in which it looks for a number.
"""


def needs_calm(attack: Attack) -> bool:
    """Whether others disturb an attack: it kills a judge, races the Engine, its opponent is measured, or it
    may share its core with the judge."""
    is_racing = attack.policy.get("box", {}).get("freeze") == "engine"
    is_measured = attack.is_tight or len(attack.seats) > 1 or attack.shares_core or attack.ponders
    return attack.scene is killed_judge or is_racing or is_measured or attack.id in NEED_CALM


def parameter(attack: Attack, is_alone: bool) -> Any:
    return pytest.param(attack, id=attack.id, marks=[pytest.mark.alone] if is_alone else [])


def can_succeed(attack: Attack) -> bool:
    return attack.id in CONTROLS and CONTROLS[attack.id].is_possible


def is_preferred(attack: Attack) -> bool:
    is_calm = not (needs_calm(attack) or attack.earns_void or attack.id in CONTROLS_NEED_CALM)
    return can_succeed(attack) and is_calm


PLAYED = of_this_lane(ATTACKS, is_preferred)

DEFENCES = [parameter(attack, needs_calm(attack) or attack.earns_void) for attack in PLAYED]
"""An attack that is after a void proves nothing if others use its core; its control only plays on."""

PLAYED_CONTROLS = [
    parameter(attack, needs_calm(attack) or attack.id in CONTROLS_NEED_CALM or CONTROLS[attack.id].raises_watches)
    for attack in PLAYED
    if attack.id in CONTROLS
]
"""One that raises a limit of the host runs alone: the boxes of other tests rely on it."""


@pytest.mark.docker
@again_where_busy
@pytest.mark.parametrize("attack", DEFENCES)
def test_defence_holds_and_harms_no_other(suite: Suite, attack: Attack) -> None:
    trial = suite.attack(attack)

    assert () == trial.problems


@pytest.mark.docker
@again_where_busy
@pytest.mark.parametrize("attack", PLAYED_CONTROLS)
def test_with_its_defence_off_the_attack_succeeds(control_suite: ControlSuite, attack: Attack) -> None:
    if not can_succeed(attack):
        pytest.skip("the attack needs a newer kernel")

    trial = control_suite.control(CONTROLS[attack.id])

    assert () == trial.problems
