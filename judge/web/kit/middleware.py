"""Around every request: limits on rate and time, and security headers on every answer.

Each request is logged with its method, route, address, author and status, but without its query and headers, which may
contain a token.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, NamedTuple

from judge.base.logs import get_logger
from judge.submissions.intake import IntakePolicy
from judge.web.kit.answers import AsciiJSON, Problem
from judge.web.kit.rate_limit import RateLimit, address_key

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Headers of every answer: it is data for programs, so browsers are denied everything."""

log = get_logger()


UPLOADS = frozenset({"submissions", "author/submissions"})
"""The paths to which a file is sent."""

ORDERS = frozenset({"organiser/orders"})
"""The paths whose answer may take minutes: an export is written before it."""


def longest_s(limits: IntakePolicy) -> float:
    """The duration of the slowest upload that is allowed, in seconds."""
    return limits.idle_s + limits.upload_bytes / limits.least_bytes_per_s + limits.request_s


class Deadlines(NamedTuple):
    """Limits of a request in seconds: until its whole body has arrived, and until its answer begins."""

    body_s: float
    answer_s: float


def deadlines_of(limits: IntakePolicy, method: str, path: str) -> Deadlines:
    """The limits of a request; only an upload may be slow, and only an order may take long."""
    if method == "POST" and path in UPLOADS:
        return Deadlines(longest_s(limits), longest_s(limits))
    if method == "POST" and path in ORDERS:
        return Deadlines(limits.request_s, longest_s(limits))
    return Deadlines(limits.request_s, limits.request_s)


def path_of(scope: Scope) -> str:
    """The path of a request below the root path, without a slash at the beginning."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", "")).lstrip("/")


class Middleware:
    """An ASGI application around another."""

    def __init__(self, app: Asgi, limits: IntakePolicy, headers: Mapping[str, str] = HEADERS) -> None:
        self._app = app
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]
        self._limits = limits
        self._addresses = RateLimit(limits.address_requests_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        answered: list[int] = []

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered.append(message["status"])
                message = {**message, "headers": [*message.get("headers", []), *self._headers]}
            await send(message)

        try:
            await self._answer(scope, receive, send_with_headers, answered)
        finally:
            route = scope.get("route")
            log.info(
                "request",
                method=scope["method"][:16],
                route=getattr(route, "path", None),
                status=answered[0] if answered else None,
                ms=round((time.monotonic() - began) * 1000, 1),
                address=(scope.get("client") or ("",))[0],
                author=scope.get("state", {}).get("author"),
            )

    async def _answer(self, scope: Scope, receive: Receive, send: Send, answered: list[int]) -> None:
        wait_s = self._addresses.spend(address_key((scope.get("client") or ("",))[0]))
        if wait_s:
            await problem(429, "too many requests from your address", {"retry-after": str(wait_s)})(
                scope, receive, send
            )
            return
        loop = asyncio.get_running_loop()
        body_s, answer_s = deadlines_of(self._limits, scope["method"], path_of(scope))
        try:
            async with asyncio.timeout(body_s) as limit:

                async def receive_in_time() -> Message:
                    message = await receive()
                    if not answered and not message.get("more_body"):
                        limit.reschedule(loop.time() + answer_s)
                    return message

                async def send_on(message: Message) -> None:
                    # Sending has its own limit (`judge.web.kit.clients`), and each part of a long answer has its time.
                    limit.reschedule(None)
                    await send(message)
                    limit.reschedule(loop.time() + answer_s)

                await self._app(scope, receive_in_time, send_on)
        except TimeoutError:
            if answered:
                abort_connection(scope)
                return
            await problem(408, "the request took too long", {"connection": "close"})(scope, receive, send)


CONNECTION = "judge.connection"
"""The extension of a request's scope that is its connection."""


def abort_connection(scope: Scope) -> None:
    """End a request's connection at once, whatever the client has not read."""
    connection = scope.get("extensions", {}).get(CONNECTION)
    if connection is not None:
        connection.transport.abort()


def problem(status: int, error: str, headers: dict[str, str]) -> AsciiJSON:
    """An answer that says why a request is refused."""
    return AsciiJSON(Problem(error=error).model_dump(), status, headers)
