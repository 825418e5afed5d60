"""Every attack, played: its defence holds; and with that one defence off it succeeds."""

import pytest

from judge.attacks.attack import Attack, Control
from judge.attacks.runner import BusyHostError, Suite
from judge.attacks.table import ATTACKS

CONTROLLED = [attack for attack in ATTACKS if isinstance(attack.control, Control)]


@pytest.mark.docker
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_the_defence_holds_and_nobody_else_is_harmed(suite: Suite, attack: Attack) -> None:
    try:
        trial = suite.attack(attack)
    except BusyHostError as busy:
        pytest.skip(str(busy))

    assert () == trial.problems


@pytest.mark.docker
@pytest.mark.parametrize("attack", CONTROLLED, ids=lambda attack: attack.id)
def test_with_its_defence_off_the_attack_succeeds(suite: Suite, attack: Attack) -> None:
    trial = suite.control(attack)

    assert () == trial.problems
