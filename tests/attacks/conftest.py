"""The suite of attacks, as `judge selftest` has it, in the test's own process."""

import os
from collections.abc import Iterator

import pytest

from judge.attacks.runner import Suite
from judge.cli.match import slot_alone
from judge.referee.play import Slot
from judge.referee.policy import load_policy
from judge.sandbox import images
from judge.sandbox.cores import available


@pytest.fixture(scope="module")
def slot() -> Iterator[Slot]:
    """A core for the agents and one for this process, as far as there are two; the next tests have all again."""
    before = available()
    with slot_alone("docker") as slot:
        yield slot
    os.sched_setaffinity(0, before)


@pytest.fixture(scope="module")
def suite(slot: Slot) -> Suite:
    """The suite under an official policy."""
    images.build(["native"])
    return Suite(load_policy("gomocup-fastgame"), slot)
