"""Who runs on which core, and how busy cores were."""

import time

import pytest

from judge.errors import InputError
from judge.sandbox.cores import (
    TICK_NS,
    available,
    busy_ns,
    parse_untaken_ns,
    place,
)
from tests.sandbox.guest import work_for

STAT = """\
cpu  300 3 60 9000 20 0 9 4 0 0
cpu0 100 1 20 3000 10 0 3 1 50 0
cpu1 200 2 40 6000 10 0 6 3 0 0
cpu10 7 0 0 0 0 0 0 0 0 0
intr 12345 0 0
ctxt 99
"""


@pytest.mark.parametrize(
    ("available", "slots", "width", "judge", "of_slots", "shared"),
    [
        ((0, 1), 1, 1, 0, ((1,),), False),
        ((3,), 1, 1, 3, ((3,),), True),
        ((0, 1), 2, 1, 0, ((1,), (0,)), True),
        ((2, 5, 7, 9), 2, 1, 2, ((9,), (7,)), False),
        ((0, 1, 2, 3, 4), 2, 2, 0, ((3, 4), (1, 2)), False),
        ((0, 1, 2, 3), 2, 2, 0, ((2, 3), (0, 1)), True),
    ],
)
def test_the_judge_gets_the_lowest_core_and_slots_the_highest(
    available: tuple[int, ...],
    slots: int,
    width: int,
    judge: int,
    of_slots: tuple[tuple[int, ...], ...],
    shared: bool,
) -> None:
    placement = place(available, slots, width)
    assert placement.judge == (judge,)
    assert placement.slots == of_slots
    assert placement.shared is shared


@pytest.mark.parametrize(("slots", "width"), [(3, 1), (1, 3), (0, 1)])
def test_slots_that_do_not_fit_are_refused(slots: int, width: int) -> None:
    with pytest.raises(InputError):
        place((0, 1), slots, width)


@pytest.mark.parametrize(
    ("cores", "ticks"),
    [((0,), 3013), ((1,), 6016), ((0, 1), 9029), ((10,), 0), ((), 0), ((64,), 0)],
)
def test_what_nobody_had_is_idle_and_waiting_and_interrupts(
    cores: tuple[int, ...], ticks: int
) -> None:
    assert parse_untaken_ns(STAT, cores) == ticks * TICK_NS


def test_busy_grows_by_no_more_than_time_passes() -> None:
    cores = sorted(available())
    began, before = time.monotonic_ns(), busy_ns(cores)
    work_for(0.05)
    grown, passed = busy_ns(cores) - before, time.monotonic_ns() - began
    coarse = TICK_NS * len(cores)
    assert 50_000_000 - coarse <= grown <= passed * len(cores) + coarse
