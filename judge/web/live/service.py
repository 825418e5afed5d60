"""Several applications on one port: the public pages, and others that have paths of their own among them."""

from collections.abc import Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

EVENTS = "events"
"""The path of the stream, which has no end: it answers a request for its head itself."""


class Service:
    """An ASGI application: a request goes to the one of `parts` with whose words its path begins, else to `pages`.

    A request for the head of what can be read is answered as one for the whole.
    The lifespan is that of `pages`.
    """

    def __init__(self, pages: ASGIApp, parts: Mapping[str, ASGIApp]) -> None:
        self._pages = pages
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        app = self._pages
        if scope["type"] == "http":
            path: str = scope["path"].removeprefix(scope.get("root_path", ""))
            words = path.lstrip("/").split("/")
            if scope["method"] == "HEAD" and words != [EVENTS]:
                # The server sends no body for it.
                scope = {**scope, "method": "GET"}
            app = self._parts.get(words[0]) or self._parts.get("/".join(words[:2])) or self._pages
        await app(scope, receive, send)
