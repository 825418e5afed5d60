"""Around every request: limits on rate and time, and security headers on every answer.

A service has parts, each with the limits and headers of its paths. Each request to a part with limits of time is logged
with its method, route, address, author and status, but without its query and headers, which may contain a token.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from judge.base.logs import get_logger
from judge.site.pages import AUTHOR_POLICY, LIVE_POLICY
from judge.submissions.intake import IntakePolicy
from judge.web.kit.answers import problem
from judge.web.kit.rate_limit import RateLimit, address_key

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

PUBLIC_HEADERS = {
    "content-security-policy": f"{LIVE_POLICY}; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Headers of every page for everybody."""

HEADERS = {
    **PUBLIC_HEADERS,
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}
"""Headers of data for programs: browsers are denied everything."""

OWN_HEADERS = {
    **HEADERS,
    "content-security-policy": f"{AUTHOR_POLICY}; frame-ancestors 'none'",
    # With no-referrer a form has the origin `null`, which cannot be compared. No other site gets a referrer.
    "referrer-policy": "same-origin",
}
"""Headers of pages for a person who may be signed in."""

log = get_logger()

STREAM = "events"
"""The path of the stream of events. It has no end, so it answers a request for its head itself."""

UPLOADS = frozenset({"submissions", "author/submissions"})
"""The paths to which a file is sent."""

ORDERS = frozenset({"organiser/orders"})
"""The paths whose answer may take minutes: an export is written before it."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a service, with its name for metrics. Without `limits` its requests are not logged and may take any
    time."""

    name: str
    headers: Mapping[str, str]
    requests_per_minute: int
    """Of one address."""
    limits: IntakePolicy | None = None

    @classmethod
    def limited(cls, name: str, limits: IntakePolicy, headers: Mapping[str, str] = HEADERS) -> "Part":
        """A part with these limits."""
        return cls(name, headers, limits.address_requests_per_minute, limits)


class Deadlines(NamedTuple):
    """Limits of a request in seconds: until its whole body has arrived, and until its answer begins."""

    body_s: float
    answer_s: float


def longest_s(limits: IntakePolicy) -> float:
    """The duration of the slowest upload that is allowed, in seconds."""
    return limits.idle_s + limits.upload_bytes / limits.least_bytes_per_s + limits.request_s


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


Observe = Callable[[str, float, int], None]
"""Receives the part of a request, the seconds until its answer began, and its status."""


class Middleware:
    """An ASGI application around another."""

    def __init__(
        self,
        app: Asgi,
        rest: Part,
        parts: Mapping[str, Part] | None = None,
        observe: Observe = lambda _part, _seconds, _status: None,
    ) -> None:
        """`parts` are by the beginnings of their paths, of one word or two; `rest` has all other paths."""
        self._app = app
        self._rest = rest
        self._parts = parts or {}
        self._observe = observe
        self._addresses = {part.name: RateLimit(part.requests_per_minute) for part in (rest, *self._parts.values())}
        self._headers = {
            part.name: [(name.encode(), value.encode()) for name, value in part.headers.items()]
            for part in (rest, *self._parts.values())
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; one for the head of what can be read as one for the whole."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = path_of(scope)
        if scope["method"] == "HEAD" and path != STREAM:
            # The server sends no body for it.
            scope = {**scope, "method": "GET"}
        words = path.split("/")
        part = self._parts.get(words[0]) or self._parts.get("/".join(words[:2])) or self._rest
        began = time.monotonic()
        answered: list[int] = []

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered.append(message["status"])
                self._observe(part.name, time.monotonic() - began, message["status"])
                message = {**message, "headers": [*message.get("headers", []), *self._headers[part.name]]}
            await send(message)

        try:
            wait_s = self._addresses[part.name].spend(address_key((scope.get("client") or ("",))[0]))
            if wait_s:
                refusal = problem(429, "too many requests from your address", {"retry-after": str(wait_s)})
                await refusal(scope, receive, send_with_headers)
            elif part.limits is None:
                await self._app(scope, receive, send_with_headers)
            else:
                await self._answer(part.limits, scope, receive, send_with_headers, answered)
        finally:
            if part.limits is not None:
                log.info(
                    "request",
                    method=scope["method"][:16],
                    route=getattr(scope.get("route"), "path", None),
                    status=answered[0] if answered else None,
                    ms=round((time.monotonic() - began) * 1000, 1),
                    address=(scope.get("client") or ("",))[0],
                    author=scope.get("state", {}).get("author"),
                )

    async def _answer(
        self, limits: IntakePolicy, scope: Scope, receive: Receive, send: Send, answered: list[int]
    ) -> None:
        loop = asyncio.get_running_loop()
        body_s, answer_s = deadlines_of(limits, scope["method"], path_of(scope))
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
