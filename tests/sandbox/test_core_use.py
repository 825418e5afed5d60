"""How busy processors are, and with whose work."""

import os
import time
from pathlib import Path

import pytest

from judge.sandbox.core_use import TICK_NS, CoreUse, parse_ns
from judge.sandbox.cores import available
from judge.sandbox.procfs import process_ids, program_name
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
    ("cores", "ticks"),
    [((0,), 3013), ((1,), 6016), ((0, 1), 9029), ((10,), 0), ((), 0), ((64,), 0)],
)
def test_what_nobody_had_is_idle_and_waiting_and_interrupts(cores: tuple[int, ...], ticks: int) -> None:
    assert parse_ns(STAT, cores) == ticks * TICK_NS


def test_busy_grows_by_no_more_than_time_passes() -> None:
    cores = sorted(available())
    began, before = time.monotonic_ns(), CoreUse(cores).now().busy_ns
    work_for(0.05)
    grown, passed = CoreUse(cores).now().busy_ns - before, time.monotonic_ns() - began
    coarse = TICK_NS * len(cores)
    assert 50_000_000 - coarse <= grown <= passed * len(cores) + coarse


def test_the_threads_of_the_kernel_are_those_that_may_run_there_but_for_interrupts() -> None:
    (core, *others) = sorted(available())
    names = {program_name(pid) for pid in CoreUse([core]).kernel_threads()}
    if not names:  # hidden from this process
        assert 2 not in process_ids()
        return
    assert {"kthreadd", f"migration/{core}"} <= names
    assert names.isdisjoint({f"ksoftirqd/{core}", *(f"migration/{other}" for other in others)})
    assert os.getpid() not in CoreUse([core]).kernel_threads()


def test_what_the_threads_of_the_kernel_use_is_counted_on_their_processor() -> None:
    given = available()
    core = min(given)
    use = CoreUse([core])
    ours = {os.getpid(): int(Path("/proc/self/schedstat").read_text().split()[0])}
    os.sched_setaffinity(0, {core})
    try:
        work_for(0.05)
        grown = use.kernel_ns(ours)  # as if this process were one
    finally:
        os.sched_setaffinity(0, given)
    assert 40_000_000 < grown
    assert 0 == CoreUse([4095]).kernel_ns(ours)
