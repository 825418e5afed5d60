"""Every attack on a service, played: its defence holds; and with that one defence off it succeeds."""

from typing import Any

import pytest

from judge.attacks.services import SERVICE_ATTACKS, ServiceAttack, try_service
from judge.host.build_images import build_images

ROWS: list[Any] = [
    pytest.param(attack, id=attack.id, marks=[pytest.mark.docker] if attack.image else [pytest.mark.slow])
    for attack in SERVICE_ATTACKS
]


def build_image_of(attack: ServiceAttack) -> None:
    if attack.image:
        build_images([attack.image])


@pytest.mark.parametrize("attack", ROWS)
def test_defence_holds(attack: ServiceAttack) -> None:
    build_image_of(attack)

    trial = try_service(attack, None)

    assert trial.held, trial.seen


@pytest.mark.parametrize("attack", ROWS)
def test_attack_succeeds_with_its_defence_off(attack: ServiceAttack) -> None:
    build_image_of(attack)

    trial = try_service(attack, attack.control)

    assert trial.held, trial.seen
