"""A permit that the networks of clients get in turn, and work that ends with its client."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from judge.web.kit.networks import networks_of

Result = TypeVar("Result")


class Lane:
    """A permit, which clients' networks get in turn."""

    def __init__(self) -> None:
        self._is_free = True
        self._threads = CapacityLimiter(1)
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[None]:
        """Wait for the permit."""
        if self._is_free:
            self._is_free = False
        else:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(networks_of(client)[-1].name, deque()).append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._pass_on()
                raise
        try:
            yield
        finally:
            self._pass_on()

    async def run(self, receive: Receive, client: str, work: Callable[[], Result], *, in_thread: bool = True) -> Result:
        """The result of `work` in a thread, or if it is short in that of the event loop, which others use in between.

        Raises ClientDisconnect if the client goes before its turn.
        """

        async def work_in_turn() -> Result:
            async with self.turn(client):
                if in_thread:
                    return await run_to_the_end(work, self._threads)
                await asyncio.sleep(0)
                return work()

        return await while_connected(receive, work_in_turn())

    def _pass_on(self) -> None:
        while self._waiting:
            network, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[network] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._is_free = True


async def run_to_the_end(work: Callable[[], Result], limiter: CapacityLimiter | None = None) -> Result:
    """The result of `work` in a thread, which cannot be cancelled: a cancelled caller waits for its end.

    Otherwise the caller would give back its turn, and each client that goes would leave a working thread.
    """
    task = asyncio.ensure_future(to_thread.run_sync(work, limiter=limiter))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        with suppress(BaseException):
            task.exception()
        raise


async def while_connected(receive: Receive, work: Awaitable[Result]) -> Result:
    """The result of `work`, which is cancelled when the client goes. Raises ClientDisconnect then."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(disconnected(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientDisconnect
    finally:
        gone.cancel()
        task.cancel()


async def disconnected(receive: Receive) -> None:
    """Wait until the client goes."""
    while (await receive())["type"] != "http.disconnect":
        pass
