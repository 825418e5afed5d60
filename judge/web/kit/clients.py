"""Limits per client: running requests, streams, and response bytes.

A client is an address (IPv6: a /64), as reported by the proxy if there is one.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from judge.submissions.intake import IntakePolicy
from judge.translations.language import CODES
from judge.web.kit.answers import problem
from judge.web.kit.middleware import HEADERS, STREAM, Asgi, Message, Receive, Scope, Send, abort_connection, path_of
from judge.web.kit.rate_limit import address_key

ORGANISERS = "organiser"

ORGANISER_ROOM = 32
"""Requests beyond `connections` for signed-in organisers."""

SIGN_IN_ROOM = 8
"""Requests beyond `connections` for organisers' sign-ins."""

PIECE_BYTES = 64 << 10
"""Larger responses are sent in pieces."""

ANSWER_BYTES = 64 << 20

RETRY_INTERVAL_S = 5

IsOrganiser = Callable[[Scope], Awaitable[bool]]


class ClientLimits:
    """ASGI middleware that limits each client."""

    def __init__(self, app: Asgi, limits: IntakePolicy, is_organiser: IsOrganiser | None = None) -> None:
        """`is_organiser` checks a cookie, only at the limit."""
        self._app = app
        self._limits = limits
        self._is_organiser = is_organiser
        self._headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
        self._requests: Counter[object] = Counter()
        self._bytes: Counter[object] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        client = address_key((scope.get("client") or ("",))[0])
        path = path_of(scope)
        # Viewers of a game also open pages.
        key = (client, path == STREAM)
        if self._requests[key] >= self._limits.connections_per_address:
            await self._refuse(429, "too many requests of your address are under way", scope, receive, send)
            return
        with _counted(self._requests, key, 1):
            room = await self._room(scope, path)
            if room is None:
                await self._refuse(503, "the service has no room for more requests", scope, receive, send)
                return
            with _counted(self._requests, room, 1):
                await self._app(scope, receive, self._in_pieces(client, scope, receive, send))

    async def _room(self, scope: Scope, path: str) -> str | None:
        if self._requests["all"] < self._limits.connections:
            return "all"
        words = path.split("/")
        words = words[1:] if words[0] in CODES[1:] else words
        if words[0] != ORGANISERS or self._is_organiser is None:
            return None
        if self._requests["organisers"] < ORGANISER_ROOM and await self._is_organiser(scope):
            # Others may have arrived during the check.
            return "organisers" if self._requests["organisers"] < ORGANISER_ROOM else None
        is_sign_in = words == [ORGANISERS, "session"] or (words == [ORGANISERS, "index.html"])
        return "sign in" if is_sign_in and self._requests["sign in"] < SIGN_IN_ROOM else None

    def _in_pieces(self, client: str, scope: Scope, receive: Receive, send: Send) -> Send:
        started: list[Message] = []

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                started.append(message)
                return
            body: bytes = message.get("body", b"")
            is_large = len(body) > PIECE_BYTES
            if is_large and 0 < self._bytes[client] > ANSWER_BYTES - len(body):
                started.clear()
                await self._refuse(429, "too many large answers to your address are under way", scope, receive, send)
                return
            while started:
                await send(started.pop())
            if not is_large:
                await send(message)
                return
            with _counted(self._bytes, client, len(body)):
                await self._send_pieces(message, body, scope, send)

        return send_on

    async def _send_pieces(self, message: Message, body: bytes, scope: Scope, send: Send) -> None:
        limit_s = self._limits.request_s + len(body) / self._limits.least_bytes_per_s
        try:
            async with asyncio.timeout(limit_s):
                for at in range(0, len(body), PIECE_BYTES):
                    is_last = at + PIECE_BYTES >= len(body)
                    more = message.get("more_body", False) or not is_last
                    await send({**message, "body": body[at : at + PIECE_BYTES], "more_body": more})
        except TimeoutError:
            abort_connection(scope)

    async def _refuse(self, status: int, why: str, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *self._headers]}
            await send(message)

        await problem(status, why, {"retry-after": str(RETRY_INTERVAL_S)})(scope, receive, send_with_headers)


@contextmanager
def _counted(counts: Counter[object], key: object, number: int) -> Iterator[None]:
    counts[key] += number
    try:
        yield
    finally:
        counts[key] -= number
        if not counts[key]:
            del counts[key]
