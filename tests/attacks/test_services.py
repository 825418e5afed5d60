"""Attacks on services, played: the defence holds; and with that one defence off the attack succeeds.

The full lane plays one attack of each danger, the evidence all of them.
"""

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from judge.attacks import scheduler, web
from judge.attacks.services import SERVICE_ATTACKS, ServiceAttack, try_service
from judge.attacks.serving import serving
from judge.host.build_images import build_images
from tests.attacks.conftest import of_this_lane
from tests.forked import ForkedProcess

ROWS: list[Any] = [
    pytest.param(attack, id=attack.id, marks=[pytest.mark.docker] if attack.image else [pytest.mark.slow])
    for attack in of_this_lane(SERVICE_ATTACKS)
]


@pytest.fixture(autouse=True)
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services that import the judge once for all attacks."""
    monkeypatch.setattr(web, "serving", partial(serving, start=ForkedProcess[str]))
    monkeypatch.setattr(scheduler, "subprocess", SimpleNamespace(Popen=ForkedProcess[bytes]))


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
