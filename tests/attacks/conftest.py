"""The suites of attacks and controls, in the test's own process."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import pytest

from judge.attacks.attack import Attack
from judge.attacks.runner import Suite
from judge.contest.host_setup import pair_alone
from judge.host.build_images import build_images
from judge.play.venue import Slot
from judge.record.policy import load_policy
from judge.sandbox.machine.cores import available
from tests.attacks.controls import ControlSuite
from tests.examples import EVIDENCE

S = TypeVar("S", bound=Suite)
Suites = dict[tuple[type[Suite], Slot], Suite]

SLOWER = float(os.environ.get("JUDGE_ATTACKS_SLOWER", "1"))
"""As `judge selftest --slower`."""

again_where_busy = pytest.mark.flaky(reruns=10, reruns_delay=15, only_rerun="BusyHostError")
"""Where others use the slot's core nothing is proved: the proof is tried again later, and must come in the end."""


def of_this_lane(attacks: Sequence[Attack], is_preferred: Callable[[Attack], bool]) -> Sequence[Attack]:
    """All in the evidence; else the first attack of each program against each promise, if possible one that
    `is_preferred`."""
    chosen: dict[tuple[str, str], Attack] = {}
    for attack in attacks:
        kind = (attack.program, attack.id[0])
        first = chosen.setdefault(kind, attack)
        if is_preferred(attack) and not is_preferred(first):
            chosen[kind] = attack
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
def suites() -> Iterator[Suites]:
    """The suites of this module: one remembers how its opponents play in peace."""
    build_images(["native"])
    suites: Suites = {}
    yield suites
    for suite in suites.values():
        suite.close()


def _suite(kind: type[S], slots: tuple[Slot, Slot | None], suites: Suites) -> S:
    slot, pair = slots
    if (kind, slot) not in suites:
        suites[kind, slot] = kind(load_policy("gomocup-fastgame"), slot, SLOWER, pair)
    suite = suites[kind, slot]
    assert isinstance(suite, kind)
    return suite


@pytest.fixture
def suite(slots: tuple[Slot, Slot | None], suites: Suites) -> Suite:
    return _suite(Suite, slots, suites)


@pytest.fixture
def control_suite(slots: tuple[Slot, Slot | None], suites: Suites) -> ControlSuite:
    return _suite(ControlSuite, slots, suites)
