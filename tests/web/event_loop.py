"""Tests that run in an event loop, and what a service may not do in its own."""

import asyncio
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec

from sqlalchemy import event
from sqlalchemy.engine import Engine

from tests.patience import PATIENCE_S

P = ParamSpec("P")


def in_event_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Make a test of a coroutine function, which gets a new event loop."""

    @wraps(test)
    def run(*args: P.args, **more: P.kwargs) -> None:
        asyncio.run(test(*args, **more))

    return run


async def until(is_so: Callable[[], bool]) -> None:
    """Let other tasks run until `is_so` is true."""
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():
            await asyncio.sleep(0.001)


async def stays() -> Any:
    """`receive` of a client that neither sends nor goes."""
    await asyncio.Event().wait()


@contextmanager
def without_store_reads() -> Iterator[None]:
    """Raises AssertionError if an event loop of this process used a database: all its clients wait for a slow one."""
    found: list[str] = []

    def note(*_: object) -> None:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        found.append("".join(traceback.format_list([each for each in traceback.extract_stack() if each.line][-40:])))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert not found, f"{len(found)} times, first:\n{found[0]}"
