"""Limits per client: running requests, streams, and response bytes. It is the outermost part of each service.

A client is an address, as reported by the proxy if there is one. Its networks have limits too
(`judge.web.kit.networks`). Streams have their own room. When a room is full, the client with most of it ends.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge.base.errors import InputError
from judge.submissions.intake import IntakePolicy
from judge.translations.language import CODES
from judge.web.kit.answers import problem
from judge.web.kit.lanes import Lane
from judge.web.kit.middleware import CONNECTION, HEADERS, STREAM, abort_connection, path_of, scope_below
from judge.web.kit.networks import NetworkCounts, client_of, networks_of

ORGANISERS = "organiser"

HEALTH = "health"

PIECE_BYTES = 16 << 10
"""Larger responses are sent in pieces."""

LARGE_ANSWER_BYTES = 64 << 10
"""Larger responses are counted while they are in memory."""

ANSWER_BYTES = 64 << 20
"""Of a client's large answers at once."""

ALL_ANSWER_BYTES = 2 * ANSWER_BYTES

ARRIVAL_S = 0.01
"""One request begins in this time while others arrive, networks in turn. So a burst is read, and mostly refused, before
the work for it begins.
"""

RETRY_INTERVAL_S = 5

MAX_REQUESTS = 1024

ORGANISER_ROOM = 32
"""Further requests for signed-in organisers."""

SIGN_IN_ROOM = 8
"""Further requests for organisers' sign-ins."""

HEALTH_ROOM = 8
"""Further requests for the state of the service."""

SPARE_CONNECTIONS = 64
"""Further connections that wait for a request. Beyond this number, the oldest one is ended."""

MAX_SPARE_CONNECTIONS = 4 * SPARE_CONNECTIONS

OWN_DESCRIPTORS = 256
"""Files, databases and pipes of the service."""

MIN_ROOM = 64

IsOrganiser = Callable[[Scope], Awaitable[bool]]


class Rooms(NamedTuple):
    """The numbers of requests and streams at once."""

    requests: int
    streams: int

    @property
    def connections(self) -> int:
        """The number of connections that have a request."""
        return self.requests + self.streams + ORGANISER_ROOM + SIGN_IN_ROOM + HEALTH_ROOM

    @classmethod
    def wanted(cls, limits: IntakePolicy) -> "Rooms":
        return cls(min(limits.connections, MAX_REQUESTS), limits.connections)

    @classmethod
    def for_descriptors(cls, limits: IntakePolicy, descriptors: int) -> "Rooms":
        """Those of `limits`, or fewer, as many as `descriptors` allow. Raises InputError if these are too few."""
        wanted = cls.wanted(limits)
        reserved = OWN_DESCRIPTORS + MAX_SPARE_CONNECTIONS + cls(0, 0).connections
        free = descriptors - reserved
        if free < MIN_ROOM:
            raise InputError(
                f"this process may open and watch {descriptors} files, and the service needs at least "
                f"{reserved + MIN_ROOM}: raise LimitNOFILE= of its unit, the hard limit of ulimit -n, or "
                "fs.epoll.max_user_watches"
            )
        if wanted.requests + wanted.streams <= free:
            return wanted
        requests = min(wanted.requests, free // 3)
        return cls(requests, min(wanted.streams, free - requests))


class Endable(Protocol):
    """A connection."""

    def end(self) -> None:
        """End it, whatever its client does."""


@dataclass(slots=True, eq=False)
class _Guest:
    network: str
    size: int
    connection: Endable | None


class SharedRoom:
    """Room for a number of requests, or bytes. If it is full, the network with most of it loses its newest."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._taken = 0
        self._by_network: defaultdict[str, dict[_Guest, None]] = defaultdict(dict)
        self._sums: defaultdict[str, int] = defaultdict(int)

    @contextmanager
    def entered(self, host: str, connection: Endable | None, size: int = 1) -> Iterator[bool]:
        """Take room; False if it is full. `connection` is ended to make room for others."""
        guest = _Guest(networks_of(host)[-1].name, size, connection)
        is_in = self._make_room(guest)
        if is_in:
            self._by_network[guest.network][guest] = None
            self._sums[guest.network] += size
            self._taken += size
        try:
            yield is_in
        finally:
            self._leave(guest)

    def _make_room(self, guest: _Guest) -> bool:
        while self._taken and self._taken + guest.size > self._size:
            network = max(self._sums, key=lambda name: self._sums[name])
            guest_sum = self._sums.get(guest.network, 0)
            if network == guest.network or self._sums[network] <= guest_sum + guest.size:
                return False
            newest = next(reversed(self._by_network[network]))
            self._leave(newest)
            if newest.connection is not None:
                newest.connection.end()
        return True

    def _leave(self, guest: _Guest) -> None:
        guests = self._by_network.get(guest.network, {})
        if guest not in guests:
            return
        del guests[guest]
        self._taken -= guest.size
        self._sums[guest.network] -= guest.size
        if not guests:
            del self._by_network[guest.network], self._sums[guest.network]


class ClientLimits:
    """ASGI middleware that limits each client."""

    def __init__(
        self, app: ASGIApp, limits: IntakePolicy, allowed: Rooms, organisers: Mapping[str, IsOrganiser] | None = None
    ) -> None:
        """`organisers` check a cookie, by the first word of the path: a contest, or "" in a service of one contest."""
        self._app = app
        self._limits = limits
        self._organisers = organisers or {}
        self._rooms = {False: SharedRoom(allowed.requests), True: SharedRoom(allowed.streams)}
        self._counts = {is_stream: NetworkCounts(limits.connections_per_address) for is_stream in (False, True)}
        self._reserved: Counter[str] = Counter()
        self._starting = Lane()
        self._arrived = 0
        self._answers = SharedRoom(ALL_ANSWER_BYTES)
        self._bytes = NetworkCounts(ANSWER_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._arrived += 1
        host = client_of(scope)
        words = path_of(scope).split("/")
        # Viewers of a game also open pages.
        is_stream = words[-1] == STREAM
        counts = self._counts[is_stream]
        if not counts.has_room(host):
            await self._refuse(429, "too many requests of your address are under way", scope, receive, send)
            return
        with ExitStack() as stack:
            counts.add(host)
            stack.callback(counts.add, host, -1)
            room = self._rooms[is_stream].entered(host, _connection(scope))
            if not stack.enter_context(room):
                reserved = None if is_stream else await self._reserved_room(scope, words)
                if reserved is None:
                    await self._refuse(503, "the service has no room for more requests", scope, receive, send)
                    return
                self._reserved[reserved] += 1
                stack.callback(self._reserved.subtract, [reserved])
            async with self._starting.turn(host):
                await self._let_others_arrive()
            await self._app(scope, receive, self._in_pieces(host, scope, receive, send))

    async def _let_others_arrive(self) -> None:
        """Wait for a round of the event loop in which no request arrives, for `ARRIVAL_S` at most."""
        loop = asyncio.get_running_loop()
        end = loop.time() + ARRIVAL_S
        arrived = -1
        while arrived != self._arrived and loop.time() < end:
            arrived = self._arrived
            await asyncio.sleep(0)

    async def _reserved_room(self, scope: Scope, words: list[str]) -> str | None:
        """The room for organisers, sign-ins or checks of the service that this request may take."""
        contest = ""
        if len(words) > 1 and words[0] in self._organisers:
            contest, words = words[0], words[1:]
            scope = scope_below(scope, contest)
        words = words[1:] if words[0] in CODES[1:] else words
        if HEALTH in words[:2]:
            return HEALTH if self._reserved[HEALTH] < HEALTH_ROOM else None
        is_organiser = self._organisers.get(contest)
        if words[:1] != [ORGANISERS] or is_organiser is None:
            return None
        if self._reserved[ORGANISERS] < ORGANISER_ROOM and await is_organiser(scope):
            # Others may have arrived during the check.
            return ORGANISERS if self._reserved[ORGANISERS] < ORGANISER_ROOM else None
        is_sign_in = words in ([ORGANISERS, "session"], [ORGANISERS, "index.html"])
        return "sign in" if is_sign_in and self._reserved["sign in"] < SIGN_IN_ROOM else None

    def _in_pieces(self, host: str, scope: Scope, receive: Receive, send: Send) -> Send:
        started: list[Message] = []

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                started.append(message)
                return
            body: bytes = message.get("body", b"")
            with ExitStack() as stack:
                if len(body) > LARGE_ANSWER_BYTES and not self._count_answer(stack, host, scope, len(body)):
                    if started:
                        started.clear()
                        why = "too many large answers to your address are under way"
                        await self._refuse(429, why, scope, receive, send)
                    else:
                        abort_connection(scope)
                    return
                while started:
                    await send(started.pop())
                await self._send_pieces(message, body, scope, send)

        return send_on

    def _count_answer(self, stack: ExitStack, host: str, scope: Scope, size: int) -> bool:
        """Count a large answer until the stack ends; False without room for it."""
        is_refused = not self._bytes.has_room(host, size)
        if is_refused or not stack.enter_context(self._answers.entered(host, _connection(scope), size)):
            return False
        self._bytes.add(host, size)
        stack.callback(self._bytes.add, host, -size)
        return True

    async def _send_pieces(self, message: Message, body: bytes, scope: Scope, send: Send) -> None:
        if len(body) <= PIECE_BYTES:
            await send(message)
            return
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
                message = {**message, "headers": [*message["headers"], *HEADERS.raw]}
            await send(message)

        await problem(status, why, {"retry-after": str(RETRY_INTERVAL_S)})(scope, receive, send_with_headers)


def _connection(scope: Scope) -> Endable | None:
    connection: Endable | None = scope.get("extensions", {}).get(CONNECTION)
    return connection
