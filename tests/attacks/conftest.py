"""The suite of attacks, as `judge selftest` has it, in the test's own process."""

import os
from collections.abc import Iterator

import pytest

from judge.attacks.runner import Suite
from judge.contest.host_setup import slot_alone
from judge.host.build_images import build_images
from judge.referee.play import Slot
from judge.referee.policy import load_policy
from judge.sandbox.machine.cores import available

again_where_busy = pytest.mark.flaky(reruns=10, reruns_delay=15, only_rerun="BusyHostError")
"""Where others use the slot's core nothing is proved: the proof is tried again later, and must come in the end."""


@pytest.fixture
def slot() -> Iterator[Slot]:
    """A core for the agents and one for this process, as far as there are two; the next test has all again."""
    before = available()
    with slot_alone("docker", print) as slot:
        yield slot
    os.sched_setaffinity(0, before)


@pytest.fixture(scope="module")
def suites() -> Iterator[dict[Slot, Suite]]:
    """The suites of this module, by their slot: one remembers how its opponents play in peace."""
    build_images(["native"])
    suites: dict[Slot, Suite] = {}
    yield suites
    for suite in suites.values():
        suite.close()


@pytest.fixture
def suite(slot: Slot, suites: dict[Slot, Suite]) -> Suite:
    """The suite under an official policy."""
    if slot not in suites:
        suites[slot] = Suite(load_policy("gomocup-fastgame"), slot)
    return suites[slot]
