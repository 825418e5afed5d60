"""A loop of a service survives each error of a step; if it ends, its process ends."""

import asyncio
import errno
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from judge.base import service_loop
from judge.base.service_loop import EXIT_CODE, ServiceLoop, stalled_loops
from judge.base.text import duration

ERRORS = [
    OSError(errno.EMFILE, "Too many open files"),
    OSError(errno.ENOSPC, "No space left on device"),
    BlockingIOError(errno.EAGAIN, "fork: Resource temporarily unavailable"),
    MemoryError(),
    RuntimeError("can't start new thread"),
    RecursionError(),
    ValueError("anything"),
]


@pytest.fixture(autouse=True)
def without_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_loop, "RETRY_INTERVAL_S", 0.0)


def steps_of(error: Exception, ended: Callable[[], None]) -> Callable[[], float]:
    results = iter([None, error, None, error, error, None])

    def step() -> float:
        for result in results:
            if result is not None:
                raise result
            return 0.0
        ended()
        return 0.01

    return step


def run_thread(error: Exception) -> None:
    ended, finished = threading.Event(), threading.Event()
    with ServiceLoop("test", steps_of(error, ended.set), finished.set):
        assert ended.wait(60)
    assert finished.is_set()


def run_task(error: Exception) -> None:
    async def run() -> None:
        ended = asyncio.Event()
        task = asyncio.create_task(ServiceLoop("test", steps_of(error, ended.set)).run_async())
        await ended.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("run", [run_thread, run_task])
def test_step_is_repeated_after_an_error(run: Callable[[Exception], None], error: Exception) -> None:
    run(error)


ENDING = """
import asyncio, sys, time
from judge.base.service_loop import ServiceLoop
def step():
    raise SystemExit(0)
if sys.argv[1] == "thread":
    ServiceLoop("test", step).__enter__()
    time.sleep(600)
else:
    asyncio.run(ServiceLoop("test", step).run_async())
"""


@pytest.mark.parametrize("kind", ["thread", "task"])
def test_process_ends_with_a_code_and_a_line_if_a_loop_ends(kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDING, kind], capture_output=True, text=True, timeout=300, check=False
    )
    assert EXIT_CODE == done.returncode
    assert "a loop of the service has ended" in done.stderr + done.stdout


def test_loop_that_fails_or_hangs_for_long_is_stalled_until_it_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    now, errors = [0.0], [OSError("disk")]
    monkeypatch.setattr("judge.base.service_loop.time.monotonic", lambda: now[0])

    def step() -> float:
        if errors:
            raise errors[0]
        return 0.0

    def stalled() -> list[str]:
        return [each for each in stalled_loops() if each.startswith("schedule")]

    loop = ServiceLoop("schedule", step)
    loop._begin()
    assert [] == stalled()
    now[0] += service_loop.STALLED_S
    loop.run_step()
    assert [f"schedule: no success for {duration(1000 * service_loop.STALLED_S)}"] == stalled()
    errors.clear()
    loop.run_step()
    assert "" == loop.problem
