"""Tests that run in an event loop."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

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
