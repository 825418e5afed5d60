"""Several applications on one port: the public pages, and others that have paths of their own among them."""

from collections.abc import Mapping

from starlette.types import ASGIApp, Receive, Scope, Send


class Service:
    """An ASGI application: a request goes to the one of `parts` with whose words its path begins, else to `pages`.

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
            app = self._parts.get(words[0]) or self._parts.get("/".join(words[:2])) or self._pages
        await app(scope, receive, send)
