"""An upload comes in piece by piece: to the disk, bounded in size and in slowness, and never whole in memory."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from judge.errors import InputError
from judge.store.incoming import Incoming
from judge.store.submission import TooMuchError
from judge.submissions.intake import IntakePolicy


class TooLargeError(InputError):
    """More bytes than an upload may have."""


class TooSlowError(InputError):
    """Fewer bytes a second than an upload must have, or none for too long."""


class AtOnce:
    """How many uploads of an author are under way."""

    def __init__(self, allowed: int) -> None:
        self._allowed = allowed
        self._now: Counter[str] = Counter()

    @contextmanager
    def one_more(self, author: str) -> Iterator[None]:
        """Count one while it lasts; TooMuchError."""
        if self._now[author] >= self._allowed:
            raise TooMuchError(f"{self._allowed} of your uploads are under way already: wait for them", 10)
        self._now[author] += 1
        try:
            yield
        finally:
            self._now[author] -= 1
            if not self._now[author]:
                del self._now[author]


def check_length(request: Request, limits: IntakePolicy) -> int:
    """The length that a request says its body has, 0 where it says none; TooLargeError before a byte of it is read."""
    length = int(request.headers.get("content-length", "0"))
    if length > limits.upload_bytes:
        raise _too_large(limits)
    return length


async def receive_body(request: Request, incoming: Incoming, limits: IntakePolicy) -> None:
    """Put a request's body on the disk; TooLargeError, TooSlowError, HostError, InputError where there is nothing."""
    async for chunk in _pieces(request, limits):
        if incoming.size + len(chunk) > limits.upload_bytes:
            raise _too_large(limits)
        await run_in_threadpool(incoming.write, chunk)
    if not incoming.size:
        raise InputError("the upload is empty: send the file as the request's body")


async def _pieces(request: Request, limits: IntakePolicy) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    stream = request.stream().__aiter__()
    total = 0
    while True:
        try:
            async with asyncio.timeout(limits.idle_s):
                chunk = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise TooSlowError(f"nothing came for {limits.idle_s:g} s: send the upload again") from None
        total += len(chunk)
        if loop.time() - began > limits.idle_s + total / limits.least_bytes_per_s:
            raise TooSlowError(f"slower than {limits.least_bytes_per_s} bytes a second: send it over a better line")
        yield chunk


def _too_large(limits: IntakePolicy) -> TooLargeError:
    return TooLargeError(f"an upload has at most {limits.upload_bytes} bytes: send a smaller one")
