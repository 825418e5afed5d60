"""Threads and tasks of a service that repeat a step until they are stopped.

An error of a step is logged, and the step is repeated after a pause. If a loop ends without being stopped, the process
ends with `EXIT_CODE`, so that a supervisor such as systemd restarts it.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from inspect import isawaitable
from threading import Event, Thread
from typing import Self
from weakref import WeakSet

from judge.base.logs import get_logger
from judge.base.text import duration

EXIT_CODE = 70

RETRY_INTERVAL_S = 1.0

STALLED_S = 120.0
"""A loop without a successful step for this time is stalled."""

log = get_logger()

_loops: WeakSet["ServiceLoop"] = WeakSet()


class ServiceLoop:
    """A step that is repeated in a thread (as a context manager) or in an asyncio task (`run_async`)."""

    def __init__(
        self, name: str, step: Callable[[], float | Awaitable[float]], finish: Callable[[], None] = lambda: None
    ) -> None:
        """`step` returns the seconds until the next step; only that of a task may be a coroutine function.

        `finish` runs once, after the last step of a thread.
        """
        self.name = name
        self._step = step
        self._finish = finish
        self._end = Event()
        self._wake = Event()
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._succeeded_at = time.monotonic()
        self._error = ""
        self._is_running = False

    def __enter__(self) -> Self:
        self._begin()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._wake.set()
        self._thread.join()

    def wake(self) -> None:
        """Begin the next step of a thread now. Thread-safe."""
        self._wake.set()

    @property
    def problem(self) -> str:
        """That the loop is stalled; empty if it is not. The log has the error."""
        silent_s = time.monotonic() - self._succeeded_at
        if not self._is_running or silent_s < STALLED_S:
            return ""
        return f"{self.name}: no success for {duration(1000 * int(silent_s))}"

    async def run_async(self) -> None:
        """Repeat the step until cancelled."""
        self._begin()
        try:
            while True:
                pause_s = RETRY_INTERVAL_S
                try:
                    result = self._step()
                    pause_s = await result if isawaitable(result) else result
                    self._succeed()
                except Exception as error:  # noqa: BLE001 - the next step may succeed
                    self._fail(error)
                await asyncio.sleep(pause_s)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - a service must not run without it
            _end_process(self.name, error)
        finally:
            self._is_running = False

    def run_step(self) -> None:
        """One step in this thread, and its pause."""
        try:
            self._wake.clear()
            pause_s = self._step()
            if isawaitable(pause_s):
                raise TypeError("a coroutine is for run_async")
            self._succeed()
        except Exception as error:  # noqa: BLE001 - the next step may succeed
            self._fail(error)
            self._end.wait(RETRY_INTERVAL_S)
        else:
            if pause_s and not self._end.is_set():
                self._wake.wait(pause_s)

    def _begin(self) -> None:
        self._succeeded_at = time.monotonic()
        self._is_running = True
        _loops.add(self)

    def _run(self) -> None:
        try:
            while not self._end.is_set():
                self.run_step()
            self._finish()
        except BaseException as error:  # noqa: BLE001 - a service must not run without it
            _end_process(self.name, error)
        finally:
            self._is_running = False

    def _succeed(self) -> None:
        self._succeeded_at = time.monotonic()
        self._error = ""

    def _fail(self, error: Exception) -> None:
        with suppress(Exception):  # memory or the log's disk may be full
            text = f"{type(error).__name__}: {error}"
            if text != self._error:
                log.error("a step failed; it is repeated", loop=self.name, error=text)
            self._error = text


def stalled_loops() -> Sequence[str]:
    """Why loops of this process are stalled, a sentence for each."""
    return [problem for loop in list(_loops) if (problem := loop.problem)]


def _end_process(name: str, error: BaseException) -> None:
    try:
        log.error("a loop of the service has ended; the process ends", loop=name, error=repr(error))
    finally:
        os._exit(EXIT_CODE)
