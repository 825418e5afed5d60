"""Around every request to the pages: the limit on the requests of an address, and the headers of every answer."""

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge.site.pages import LIVE_POLICY
from judge.web.kit.rate_limit import RateLimit, address_key

HEADERS = {
    "content-security-policy": f"{LIVE_POLICY}; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Headers of every answer."""


class PublicMiddleware:
    """An ASGI application around another."""

    def __init__(self, app: ASGIApp, requests_per_minute: int) -> None:
        self._app = app
        self._addresses = RateLimit(requests_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        wait_s = self._addresses.spend(address_key((scope.get("client") or ("",))[0]))
        if wait_s:
            refusal = PlainTextResponse("too many requests from your address", 429, {"retry-after": str(wait_s)})
            await refusal(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)
