"""Limits rate and time of requests, counts them, and adds security headers, per part of a service.

Requests of some parts are logged without query and headers, which may contain a token.
"""

import asyncio
import re
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge.base.logs import bound, get_logger
from judge.site.pages import AUTHOR_POLICY, LIVE_POLICY
from judge.submissions.intake import IntakePolicy
from judge.translations.language import CODES
from judge.web.kit.answers import problem
from judge.web.kit.networks import RateLimit, client_of

PUBLIC_HEADERS = Headers(
    {
        "content-security-policy": f"{LIVE_POLICY}; frame-ancestors 'none'",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }
)

HEADERS = Headers(
    {
        **PUBLIC_HEADERS,
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    }
)
"""Headers of data for programs: browsers may do nothing with it."""

OWN_HEADERS = Headers(
    {
        **HEADERS,
        "content-security-policy": f"{AUTHOR_POLICY}; frame-ancestors 'none'",
        # With no-referrer, forms have the origin `null`.
        "referrer-policy": "same-origin",
    }
)

log = get_logger()

STREAM = "events"
"""Endless; handles HEAD itself."""

UPLOADS = frozenset({"submissions", "author/submissions"})

ORDERS = frozenset({"organiser/orders", *(f"{code}/organiser/orders" for code in CODES[1:])})

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_AT = re.compile(rb'"at":"([0-9T:.+Z-]{19,40})"')


@dataclass(frozen=True, slots=True)
class Part:
    """A named part. `limits` has the times of its requests."""

    name: str
    headers: Headers
    addresses: RateLimit
    limits: IntakePolicy
    is_logged: bool = False

    @classmethod
    def logged(cls, name: str, limits: IntakePolicy, headers: Headers = HEADERS) -> "Part":
        """A part of authors or organisers."""
        return cls(name, headers, RateLimit(limits.address_requests_per_minute), limits, is_logged=True)


def longest_s(limits: IntakePolicy) -> float:
    """Seconds of the slowest allowed upload."""
    return limits.idle_s + limits.upload_bytes / limits.least_bytes_per_s + limits.request_s


def deadlines_of(limits: IntakePolicy, method: str, path: str) -> tuple[float, float]:
    """Seconds until the body is complete, and until the response begins. Only uploads and orders may take long."""
    body_s = longest_s(limits) if method == "POST" and path in UPLOADS else limits.request_s
    answer_s = longest_s(limits) if method == "POST" and path in ORDERS else body_s
    return body_s, answer_s


def path_of(scope: Scope) -> str:
    """Path below the root path, without a leading slash."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", "")).lstrip("/")


def scope_below(scope: Scope, folder: str) -> Scope:
    """The request for an application in a folder of the root path."""
    return {**scope, "root_path": f"{scope.get('root_path', '')}/{folder}"}


class Metrics:
    """Prometheus counters of a service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Histogram(
            "judge_http_request_seconds",
            "Seconds from a request to the beginning of its answer, by part of the service.",
            ["part"],
            registry=self.registry,
            buckets=BUCKETS_S,
        )
        self._answers = Counter(
            "judge_http_answers",
            "Answers, by part of the service and status.",
            ["part", "status"],
            registry=self.registry,
        )
        self._moves = Histogram(
            "judge_move_told_seconds",
            "Seconds from a move until it is sent to viewers.",
            registry=self.registry,
            buckets=BUCKETS_S,
        )

    def answered(self, part: str, seconds: float, status: int) -> None:
        """Count a response that began `seconds` after its request."""
        self._requests.labels(part).observe(seconds)
        self._answers.labels(part, str(status)).inc()

    def count_moves(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            if b'"type":"move"' in line and (found := _AT.search(line)):
                moment = datetime.fromisoformat(found[1].decode())
                self._moves.observe(max(0.0, (datetime.now(UTC) - moment).total_seconds()))


class Middleware:
    """The ASGI middleware."""

    def __init__(
        self, app: ASGIApp, rest: Part, parts: Mapping[str, Part] | None = None, metrics: Metrics | None = None
    ) -> None:
        """`parts` maps path prefixes of one or two words; `rest` has all other paths."""
        self._app = app
        self._rest = rest
        self._parts = parts or {}
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """HEAD is handled like GET, except for the event stream."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = path_of(scope)
        if scope["method"] == "HEAD" and path != STREAM:
            # The server omits the body.
            scope = {**scope, "method": "GET"}
        words = path.split("/")
        part = self._parts.get(words[0]) or self._parts.get("/".join(words[:2])) or self._rest
        began = time.monotonic()
        answered: list[int] = []
        request_id = secrets.token_hex(8)
        id_header = (b"x-request-id", request_id.encode())

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered.append(message["status"])
                if self._metrics is not None:
                    self._metrics.answered(part.name, time.monotonic() - began, message["status"])
                message = {**message, "headers": [*message.get("headers", []), *part.headers.raw, id_header]}
            await send(message)

        with bound(request=request_id):
            try:
                if wait_s := part.addresses.spend_address(client_of(scope)):
                    refusal = problem(429, "too many requests from your address", {"retry-after": str(wait_s)})
                    await refusal(scope, receive, send_with_headers)
                elif path == STREAM:
                    await self._app(scope, receive, send_with_headers)
                else:
                    await self._answer(part.limits, scope, receive, send_with_headers, answered)
            finally:
                if part.is_logged:
                    log.info(
                        "request",
                        method=scope["method"][:16],
                        route=getattr(scope.get("route"), "path", None),
                        status=answered[0] if answered else None,
                        ms=round((time.monotonic() - began) * 1000, 1),
                        address=client_of(scope),
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


def abort_connection(scope: Scope) -> None:
    """Abort a request's connection, including unread data."""
    connection = scope.get("extensions", {}).get(CONNECTION)
    if connection is not None:
        connection.transport.abort()
