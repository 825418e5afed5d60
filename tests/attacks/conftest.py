"""The suite of attacks, as `judge selftest` has it, in the test's own process."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import pytest

from judge.attacks.attack import Attack
from judge.attacks.runner import Suite
from judge.attacks.services import ServiceAttack
from judge.contest.host_setup import pair_alone
from judge.host.build_images import build_images
from judge.referee.play import Slot
from judge.referee.policy import load_policy
from judge.sandbox.machine.cores import available
from tests.examples import EVIDENCE

A = TypeVar("A", Attack, ServiceAttack)

again_where_busy = pytest.mark.flaky(reruns=10, reruns_delay=15, only_rerun="BusyHostError")
"""Where others use the slot's core nothing is proved: the proof is tried again later, and must come in the end."""


def of_this_lane(attacks: Sequence[A], is_preferred: Callable[[A], bool] = lambda _: True) -> Sequence[A]:
    """All in the evidence; else the first attack with each danger, if possible one that `is_preferred`."""
    chosen: dict[str, A] = {}
    for attack in attacks:
        first = chosen.setdefault(attack.danger, attack)
        if is_preferred(attack) and not is_preferred(first):
            chosen[attack.danger] = attack
    return attacks if EVIDENCE else list(chosen.values())


@pytest.fixture
def slots() -> Iterator[tuple[Slot, Slot | None]]:
    """A core for the agents, and a pair of cores where there are two; the next test has all again."""
    before = available()
    with pair_alone(print) as slots:
        yield slots
    os.sched_setaffinity(0, before)


@pytest.fixture
def slot(slots: tuple[Slot, Slot | None]) -> Slot:
    """A core for the agents and one for this process, as far as there are two."""
    return slots[0]


@pytest.fixture(scope="module")
def suites() -> Iterator[dict[Slot, Suite]]:
    """The suites of this module, by their slot: one remembers how its opponents play in peace."""
    build_images(["native"])
    suites: dict[Slot, Suite] = {}
    yield suites
    for suite in suites.values():
        suite.close()


@pytest.fixture
def suite(slots: tuple[Slot, Slot | None], suites: dict[Slot, Suite]) -> Suite:
    """The suite under an official policy."""
    slot, pair = slots
    if slot not in suites:
        suites[slot] = Suite(load_policy("gomocup-fastgame"), slot, pair=pair)
    return suites[slot]
