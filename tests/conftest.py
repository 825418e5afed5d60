"""What holds for every test: it has the processors of the machine, whatever the one before it did."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def all_processors() -> Iterator[None]:
    """A judge moves to its own core, and a judge may be played in the test's own process: the next test moves back.

    Else all that follows, and whatever it starts, would share that core, and tests of placement would find none.
    """
    before = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, before)
