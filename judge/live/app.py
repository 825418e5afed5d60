"""The HTTP paths by which everybody watches a contest. All of them read, and none of them changes anything."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Annotated

from fastapi import FastAPI, Path, Query, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

import judge
from judge.errors import HostError, InputError
from judge.live.connections import stream_of
from judge.live.hub import Hub, Topic
from judge.live.pages import RUNNING, LivePage, LivePages

ABOUT = """
Watch a contest while it is played. `GET /feed` and `GET /events` have the same events, which docs/live.md describes;
all other paths are pages and files, as `judge contest export` writes them.
"""

MOST_IN_ANSWER = 1000
"""Events of one answer of the feed."""

LEAST_PACKED_BYTES = 1400
"""What is shorter fits into one packet as it is."""

LARGEST_SEQ = (1 << 53) - 1


@dataclass(frozen=True, slots=True)
class Watched:
    """What the paths share; `version` changes whenever the contest's store does, `slots` is how many games run at once
    at most."""

    hub: Hub
    pages: LivePages
    version: Callable[[], object]
    slots: int = 1


class EventStream(Response):
    """Server-sent events: after the headers the hub writes to the connection itself, the same bytes for everybody."""

    def __init__(self, hub: Hub, topic: Topic, since: int) -> None:
        super().__init__()
        self._hub, self._topic, self._since = hub, topic, since

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stay until the client is gone."""
        headers = {"content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no"}
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": encoded})
        # The server sends headers with the first bytes of the body.
        await send({"type": "http.response.body", "body": b": events\n\n", "more_body": True})
        viewer = self._hub.join(stream_of(scope), self._topic, self._since)
        try:
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            self._hub.leave(viewer)


Since = Annotated[int, Query(ge=0, le=LARGEST_SEQ, description="The last event that you have.")]
Game = Annotated[int, Query(ge=0, le=1_000_000, description="Events of this game and of the contest; 0: of all games.")]
Moves = Annotated[bool, Query(description="False: nothing of what happens within a game.")]


def create_app(watched: Watched) -> FastAPI:
    """The application."""
    hub = watched.hub

    @asynccontextmanager
    async def run(_app: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(hub.run())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        hub.close()

    app = FastAPI(
        title="judge live",
        version=judge.__version__,
        description=ABOUT,
        lifespan=run,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )

    @app.exception_handler(InputError)
    @app.exception_handler(HostError)
    async def _failed(_request: Request, _error: Exception) -> Response:
        return PlainTextResponse("this page cannot be shown now: the organiser's log says why", 503)

    _add_feed(app, hub)
    _add_pages(app, watched)
    return app


def _add_feed(app: FastAPI, hub: Hub) -> None:
    lines = {"schema": {"type": "string"}, "example": '{"seq":17,"game":3,"attempt":1,"type":"move","ply":9}\n'}
    head = {
        "Judge-Log": {"schema": {"type": "string"}, "description": "The log's name: another one has other numbers."},
        "Judge-Now-Ms": {"schema": {"type": "integer"}, "description": "Milliseconds of Unix time at the judge."},
    }

    @app.get(
        "/feed",
        response_class=Response,
        responses={200: {"content": {"application/x-ndjson": lines}, "headers": head, "description": "Whole lines."}},
        tags=["events"],
    )
    async def feed(
        since: Since = 0,
        game: Game = 0,
        moves: Moves = True,
        limit: Annotated[int, Query(ge=1, le=MOST_IN_ANSWER)] = MOST_IN_ANSWER,
    ) -> Response:
        """The events after a number, each a line of JSON; ask again with the last `seq` until nothing comes."""
        found = hub.since(since, limit, Topic(game, moves))
        headers = {
            "judge-log": hub.live.log,
            "judge-now-ms": str(round(time.time() * 1000)),
            "cache-control": "no-store",
        }
        body = b"".join(sent.line + b"\n" for sent in found)
        return Response(body, media_type="application/x-ndjson", headers=headers)

    stream = {"schema": {"type": "string"}, "example": 'id: 17\ndata: {"seq":17,"type":"table","lines":[]}\n\n'}

    @app.get(
        "/events",
        response_class=Response,
        responses={200: {"content": {"text/event-stream": stream}, "description": "Events until you close it."}},
        tags=["events"],
    )
    async def events(
        request: Request,
        since: Since = 0,
        game: Game = 0,
        moves: Moves = True,
    ) -> Response:
        """The same as server-sent events. `Last-Event-ID` counts more than `since`. `beat` comes every five seconds;
        after `again` begin with the pages, for you lack too much or the log was made again."""
        last = request.headers.get("last-event-id", "")
        number = int(last) if last.isascii() and last.isdigit() and len(last) < 17 else since
        return EventStream(hub, Topic(game, moves), number)


def _add_pages(app: FastAPI, watched: Watched) -> None:
    hub, pages = watched.hub, watched.pages

    @app.get("/", include_in_schema=False)
    async def top(request: Request) -> Response:
        """The page of running games."""
        return RedirectResponse(f"{request.scope.get('root_path', '')}/{RUNNING}", 307)

    @app.get("/{path:path}", include_in_schema=False)
    async def page(request: Request, path: Annotated[str, Path(max_length=200)]) -> Response:
        """A page or a file of the contest."""
        place = pages.place(path)
        if place.path == RUNNING:
            return _answer(request, pages.running(hub.live, hub.viewers, watched.slots, place), hub.live.seq)
        number = place.path.removeprefix("games/").removesuffix(".html")
        if place.path == f"games/{number}.html" and number.isdigit():
            running = hub.live.games.get(int(number))
            if running is not None:
                return _answer(request, pages.running_game(running, hub.live, hub.viewers, place), hub.live.seq)
        seq = hub.live.seq
        found = await run_in_threadpool(pages.get, path, hub.live, watched.version())
        if found is None:
            return PlainTextResponse("there is no such page", 404)
        return _answer(request, found, seq)


def _answer(request: Request, page: LivePage, seq: int) -> Response:
    headers = {
        "cache-control": "public, max-age=31536000, immutable" if page.is_fixed else "no-cache",
        "vary": "accept-encoding",
    }
    if "gzip" in request.headers.get("accept-encoding", "") and len(page.data) > LEAST_PACKED_BYTES:
        return Response(page.packed(seq), media_type=page.kind, headers={**headers, "content-encoding": "gzip"})
    return Response(page.numbered(seq), media_type=page.kind, headers=headers)
