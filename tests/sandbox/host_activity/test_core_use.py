"""How busy processors are, and with whose work."""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from judge.base.procfs import TICK_NS, process_ids, program_name
from judge.sandbox.host_activity.core_use import (
    INTERRUPT_FIELDS,
    CoreUse,
    OwnTime,
    counts_interrupts,
    own_processes,
    parse_ns,
)
from judge.sandbox.machine.cores import available
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
def test_unused_time_is_idle_wait_and_interrupt_time(cores: tuple[int, ...], ticks: int) -> None:
    assert parse_ns(STAT, cores) == ticks * TICK_NS


def test_busy_grows_by_no_more_than_time_passes() -> None:
    cores = sorted(available())
    use = CoreUse(cores)
    began, before = time.monotonic_ns(), use.now().busy_ns
    with Popen(["sh", "-c", "while :; do :; done"]) as other:
        while time.clock_gettime_ns((~other.pid << 3) | 2) < 100_000_000:
            time.sleep(0.01)
        grown, passed = use.now().busy_ns - before, time.monotonic_ns() - began
        other.kill()
    coarse = TICK_NS * len(cores)
    assert 100_000_000 - coarse <= grown <= passed * len(cores) + coarse


def test_judge_usage_is_not_counted_as_load_of_others() -> None:
    """Its threads and the processes that it has started, such as a worker."""
    own_time = OwnTime(available())
    before = own_time.ns()
    with Popen([sys.executable, "-c", BURNS], stdin=PIPE, stdout=PIPE) as worker, ThreadPoolExecutor(1) as pool:
        assert worker.stdout is not None
        assert b"done\n" == worker.stdout.readline()
        pool.submit(work_for, 0.2).result()
        own_time._listed_at = float("-inf")  # as when a second has passed
        grown = own_time.ns() - before
        worker.kill()

    assert grown >= 400_000_000


def test_processes_of_another_program_are_others_and_a_judge_elsewhere_uses_none_of_these() -> None:
    with Popen(["sleep", "60"]) as other:
        try:
            assert other.pid not in own_processes()
            assert os.getpid() in own_processes()
        finally:
            other.kill()
    assert 0 == OwnTime([os.sysconf("SC_NPROCESSORS_CONF")]).ns()


BURNS = """
import sys, time
while time.process_time() < 0.2: pass
print("done", flush=True)
sys.stdin.read()
"""


def test_the_threads_of_the_kernel_are_those_that_may_run_there_but_for_interrupts() -> None:
    (core, *others) = sorted(available())
    names = {program_name(pid) for pid in CoreUse([core]).kernel_threads()}
    if not names:  # hidden from this process
        assert 2 not in process_ids()
        return
    assert {"kthreadd", f"migration/{core}"} <= names
    assert names.isdisjoint({f"ksoftirqd/{core}", *(f"migration/{other}" for other in others)})
    assert os.getpid() not in CoreUse([core]).kernel_threads()


def test_kernel_thread_usage_is_counted_on_their_processor() -> None:
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


def test_interrupts_are_those_that_the_kernel_counts() -> None:
    assert 3 * TICK_NS == parse_ns(STAT, (0,), INTERRUPT_FIELDS)
    found = CoreUse(sorted(available())).now().interrupts_ns
    assert (found is not None) is counts_interrupts()
