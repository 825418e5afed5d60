"""Several applications on one port: the public pages, and others that have paths of their own among them."""

from collections.abc import Mapping

from starlette.types import ASGIApp, Receive, Scope, Send


class Service:
    """An ASGI application: a request goes to the one of `parts` that the first word of its path names, else to `pages`.

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
            app = self._parts.get(path.split("/")[1] if path.startswith("/") else "", self._pages)
        await app(scope, receive, send)
