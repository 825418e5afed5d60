"""Limits of a client over all its connections: requests and streams under way, and bytes of answers.

A client is an address (IPv6: one /64), behind a server in front the one that this server names. Connections cannot be
counted for this: all of them are those of the server in front.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from judge.submissions.intake import IntakePolicy
from judge.web.kit.answers import problem
from judge.web.kit.middleware import HEADERS, STREAM, Asgi, Message, Receive, Scope, Send, abort_connection, path_of
from judge.web.kit.rate_limit import address_key

ORGANISERS = "organiser"
"""The first word of the organisers' paths."""

ORGANISER_ROOM = 32
"""Requests beyond `connections` for organisers who are signed in."""

SIGN_IN_ROOM = 8
"""Requests beyond `connections` with which an organiser signs in."""

PIECE_BYTES = 64 << 10
"""A larger answer is sent in pieces of this size, each when the client has taken the ones before."""

ANSWER_BYTES = 64 << 20
"""Answers in pieces that are under way to a client, together; a single one may be larger."""

AGAIN_S = 5
"""When a client that was refused may try again."""

IsOrganiser = Callable[[Scope], Awaitable[bool]]


class ClientLimits:
    """An ASGI application around another, with the limits of each client."""

    def __init__(self, app: Asgi, limits: IntakePolicy, is_organiser: IsOrganiser | None = None) -> None:
        """`connections` and `connections_per_address` of `limits` bound the requests under way. `is_organiser` says
        whether a request has the cookie of an organiser; it is called only when there is no other room."""
        self._app = app
        self._limits = limits
        self._is_organiser = is_organiser
        self._headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
        self._requests: Counter[object] = Counter()
        self._bytes: Counter[object] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        client = address_key((scope.get("client") or ("",))[0])
        path = path_of(scope)
        # The stream is counted by itself: viewers of a game still open pages.
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
        """The room in which a request is counted; None if there is none."""
        if self._requests["all"] < self._limits.connections:
            return "all"
        words = path.split("/")
        if words[0] != ORGANISERS or self._is_organiser is None:
            return None
        if self._requests["organisers"] < ORGANISER_ROOM and await self._is_organiser(scope):
            # Others may have come while the cookie was looked for.
            return "organisers" if self._requests["organisers"] < ORGANISER_ROOM else None
        is_sign_in = words == [ORGANISERS, "session"] or (words == [ORGANISERS, "index.html"])
        return "sign in" if is_sign_in and self._requests["sign in"] < SIGN_IN_ROOM else None

    def _in_pieces(self, client: str, scope: Scope, receive: Receive, send: Send) -> Send:
        """A function that sends an answer, a large one in pieces. One that does not fit is refused."""
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

        await problem(status, why, {"retry-after": str(AGAIN_S)})(scope, receive, send_with_headers)


@contextmanager
def _counted(counts: Counter[object], key: object, number: int) -> Iterator[None]:
    counts[key] += number
    try:
        yield
    finally:
        counts[key] -= number
        if not counts[key]:
            del counts[key]
