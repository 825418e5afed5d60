"""A contest's public, read-only HTTP paths, also before its start."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, FastAPI, Query, Request
from fastapi import Path as PathPart
from fastapi.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from judge.base.errors import HostError, InputError
from judge.base.service_loop import ServiceLoop
from judge.contest.hosts import ContestHost
from judge.contest.window_keeper import PlanFile
from judge.contest_view.view import ContestView
from judge.site.pages import ASSETS, LIVE_POLICY, PagePlace, render
from judge.site.rules import format_text, game_facts, limit_facts, rules_in_words
from judge.store.submission_queries import RegisterReader
from judge.store.types import NotFoundError
from judge.submissions.starters import starters_of
from judge.transparency.keys import fingerprint
from judge.transparency.log import SignedLog
from judge.web.kit.answers import attachment, check_health, error_responses, kind_of, route_with_errors
from judge.web.kit.connections import take_connection
from judge.web.kit.lanes import Lane, disconnected
from judge.web.kit.networks import client_of
from judge.web.kit.rendering import Renderer, response_of
from judge.web.live.archive import ARCHIVE
from judge.web.live.hub import Hub, Topic
from judge.web.live.pages import (
    INDEX,
    MOMENTS_SCRIPT,
    NAVIGATION,
    RUNNING,
    WAITING_SCRIPT,
    LivePages,
    asset_page,
    log_page,
)
from judge.web.live.paint import plots_path
from judge.web.live.running_pages import LivePage

ABOUT = """
Watch a contest while it is played. `GET /feed` and `GET /events` have the same events, which docs/live.md describes.
`GET /api/...` has standings, games and agents, as the commands print them with `--json`; all other paths are pages and
files, as `judge contest export` writes them.
"""

MAX_EVENTS_PER_ANSWER = 1000
MIN_COMPRESSED_BYTES = 1400
MAX_SEQ = (1 << 53) - 1
POLL_INTERVAL_S = 1.0

NO_PAGE = "there is no such page"
NO_ARCHIVE = "there is no export of the final results yet: see verify.html"
NO_EVENTS = "there are no events: the contest has not begun"

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class WaitingContest:
    """Pages before the start: rules, schedule, entries, commitment to the draw. `register`: of submissions, if any."""

    file: PlanFile
    log: SignedLog | None
    register: RegisterReader | None

    def page(self, path: str) -> LivePage | None:
        """A page or file; None if unknown."""
        if path in (WAITING_SCRIPT, MOMENTS_SCRIPT) or path in ASSETS:
            return asset_page(path)
        place = PagePlace.of_file(path)
        if place.path not in NAVIGATION:
            return None if self.log is None else log_page(self.log, path)
        planned, language = self.file.current_value(), place.language
        plan, policy = planned.plan, planned.policy
        key = None if self.log is None else self.log.key
        agents = [(each.name or Path(each.path).name, "") for each in plan.agents]
        has_authors = self.register is not None
        if self.register is not None:
            agents += [(each.title or each.name, each.author) for each in self.register.entries()]
        values = {
            "is_coming": True,
            "here": "index",
            "contest_name": plan.title or plan.name,
            "has_authors": has_authors,
            "policy": LIVE_POLICY,
            "about": plan.about,
            "moments": plan.windows.moments,
            "rules": rules_in_words(policy, plan.clocks, language),
            "facts": {
                **game_facts(policy, language),
                **limit_facts(policy, plan.clocks, language),
                language.gettext("Format"): format_text(plan.format, language),
                language.gettext("Policy"): plan.policy,
                language.gettext("Agents per author"): plan.agents_per_author or "",
            },
            "check_command": plan.check_command,
            "starters": starters_of(policy) if has_authors else {},
            "entries": sorted(agents, key=lambda agent: agent[0].lower()),
            "commitment": None if self.log is None else self.log.commitment(),
            "fingerprint": "" if key is None else fingerprint(key.public_key()),
        }
        return LivePage(render("waiting.html", place, values, package=__package__), kind_of(path))


class Site:
    """A contest; `watched`, its pages, is None before it begins."""

    def __init__(
        self,
        begin: Callable[[], LivePages | None],
        file: PlanFile,
        log: SignedLog | None = None,
        register: RegisterReader | None = None,
        *,
        renders: Renderer | None = None,
    ) -> None:
        """`begin` opens the contest if it has begun. `renders` may be shared; the others are of `WaitingContest`."""
        self.waiting = WaitingContest(file, log, register)
        self.watched = begin()
        self._begin = begin
        # They must not take the uploads' threads, nor wait for each other.
        self.pages, self.packing, self.drawing, self.reading = Lane(), Lane(), Lane(), Lane()
        self.renders = renders or Renderer()
        self._beginning = CapacityLimiter(1)

    def viewers(self) -> int:
        return 0 if self.watched is None else self.watched.hub.viewers

    def hosts(self) -> Sequence[ContestHost]:
        """Hosts that play; thread-safe."""
        return () if self.watched is None else self.watched.hosts()

    def contest(self) -> ContestView | None:
        """The contest; None before it begins. Thread-safe."""
        return None if self.watched is None else self.watched.contest()

    async def step(self) -> float:
        """Begin to show the contest, or send news; return the seconds until the next step."""
        if self.watched is None:
            self.watched = await to_thread.run_sync(self._begin, limiter=self._beginning)
            return POLL_INTERVAL_S
        return self.watched.hub.step()

    @asynccontextmanager
    async def running(self, _app: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(ServiceLoop("live events", self.step).run_async())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        if self.watched is not None:
            self.watched.hub.close()
        self.renders.close()

    async def in_turn(self, request: Request, find: Callable[[LivePages], Found]) -> Found:
        """What `find` returns for the begun contest, in the client's turn. Raises ClientDisconnect if it goes."""
        if self.watched is None:
            raise NotBegunError(NO_EVENTS)
        return await self.pages.run(request.receive, client_of(request.scope), partial(find, self.watched))

    async def draw(self, request: Request, draw: Callable[[], Found]) -> Found:
        """What `draw` returns for the running games, when it is the client's turn. Raises as `in_turn`."""
        return await self.drawing.run(request.receive, client_of(request.scope), draw, in_thread=False)

    async def final(self, request: Request) -> ContestView | None:
        """None before the end."""
        if self.watched is None or self.watched.hub.live.games:
            return None
        return await self.in_turn(request, LivePages.final)


class EventStream(Response):
    """Written by the hub after the headers."""

    def __init__(self, hub: Hub, topic: Topic, since: int) -> None:
        super().__init__()
        self._hub, self._topic, self._since = hub, topic, since

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers({"content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no"})
        await send({"type": "http.response.start", "status": 200, "headers": headers.raw})
        # Sends the headers.
        await send({"type": "http.response.body", "body": b": events\n\n", "more_body": True})
        viewer = self._hub.join(take_connection(scope), self._topic, self._since)
        try:
            await disconnected(receive)
        finally:
            self._hub.leave(viewer)


Since = Annotated[int, Query(ge=0, le=MAX_SEQ, description="The last event that you have.")]
Game = Annotated[int, Query(ge=0, le=1_000_000, description="Events of this game and of the contest; 0: of all games.")]
Moves = Annotated[bool, Query(description="False: no events within games.")]


class NotBegunError(NotFoundError):
    """There are no events yet."""


async def _not_begun(_request: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), 404)


async def _failed(_request: Request, _error: Exception) -> Response:
    return PlainTextResponse("this page cannot be shown now: the cause is in the organiser's log", 503)


event_router = APIRouter(route_class=route_with_errors(_not_begun, NotBegunError))
"""First: programs poll often, and each earlier router costs time."""

page_router = APIRouter(route_class=route_with_errors(_failed, InputError, HostError))
"""Last: it matches any address."""

alive_router = APIRouter()

health_router = APIRouter()
"""For a service without an intake. The health check of an intake is more thorough."""


async def site_of(request: Request) -> Site:
    """A coroutine, because FastAPI runs other functions in threads."""
    site: Site = request.app.state.site
    return site


async def hub_of(request: Request) -> Hub:
    """The hub of a contest that has begun, or of the front page. Raises NotBegunError."""
    hub: Hub | None = request.app.state.hub()
    if hub is None:
        raise NotBegunError(NO_EVENTS)
    return hub


Shown = Annotated[Site, Depends(site_of)]

Followed = Annotated[Hub, Depends(hub_of)]


@alive_router.get("/health/live", tags=["public"])
async def alive() -> dict[str, bool]:
    """Check that the process answers, without its store."""
    return {"ok": True}


@health_router.get("/health/ready", tags=["public"])
async def ready() -> dict[str, bool]:
    """Check that the service answers."""
    await check_health()
    return {"ok": True}


@health_router.get("/health", tags=["public"])
async def health(request: Request) -> dict[str, bool]:
    """Check that the service answers, and that its contests are played."""
    await check_health(problems=request.app.state.problems())
    return {"ok": True}


_LINES = {"schema": {"type": "string"}, "example": '{"seq":17,"game":3,"attempt":1,"type":"move","ply":9}\n'}
_HEAD = {
    "Judge-Log": {
        "schema": {"type": "string"},
        "description": "The log's name. Event numbers are only valid for this log.",
    },
    "Judge-Now-Ms": {"schema": {"type": "integer"}, "description": "Milliseconds of Unix time at the judge."},
}
_STREAM = {"schema": {"type": "string"}, "example": 'id: 17\ndata: {"seq":17,"type":"table","lines":[]}\n\n'}
_NOT_BEGUN = {404: {"description": "The contest has not begun."}, **error_responses(422)}


@event_router.get(
    "/feed",
    response_class=Response,
    responses={
        200: {"content": {"application/x-ndjson": _LINES}, "headers": _HEAD, "description": "Whole lines."},
        **_NOT_BEGUN,
    },
    tags=["events"],
)
async def feed(
    request: Request,
    hub: Followed,
    since: Since = 0,
    game: Game = 0,
    moves: Moves = True,
    limit: Annotated[int, Query(ge=1, le=MAX_EVENTS_PER_ANSWER)] = MAX_EVENTS_PER_ANSWER,
) -> Response:
    """Return the events after a number as JSON lines; repeat with the last `seq` until the answer is empty."""
    headers = {"judge-log": hub.log, "judge-now-ms": str(round(time.time() * 1000)), "cache-control": "no-store"}
    found = await hub.find(request.receive, client_of(request.scope), since, limit, Topic(game, moves))
    return Response(b"".join(sent.line + b"\n" for sent in found), media_type="application/x-ndjson", headers=headers)


@event_router.get(
    "/events",
    response_class=Response,
    responses={
        200: {"content": {"text/event-stream": _STREAM}, "description": "Events until you close it."},
        **_NOT_BEGUN,
    },
    tags=["events"],
)
async def events(request: Request, hub: Followed, since: Since = 0, game: Game = 0, moves: Moves = True) -> Response:
    """Return the same events as server-sent events. `Last-Event-ID` overrides `since`. `beat` is sent every five
    seconds. After `again` reload the pages: you missed too many events, or the log was recreated.
    """
    last = request.headers.get("last-event-id", "")
    is_number = last.isascii() and last.isdigit() and len(last) < 17
    return EventStream(hub, Topic(game, moves), int(last) if is_number else since)


@event_router.head("/events", include_in_schema=False)
async def no_event(_hub: Followed) -> Response:
    """Return the stream's headers."""
    return Response(media_type="text/event-stream")


@page_router.get("/", include_in_schema=False)
async def top(request: Request, site: Shown) -> Response:
    """Redirect to the running games, or to the final standings."""
    is_over = await site.final(request) is not None
    return RedirectResponse(f"{request.scope.get('root_path', '')}/{INDEX if is_over else RUNNING}", 307)


@page_router.get(f"/{ARCHIVE}", include_in_schema=False)
async def archive(request: Request, site: Shown) -> Response:
    """Return the newest export of the final results."""
    found = None if site.watched is None else await site.in_turn(request, LivePages.archive)
    if found is None:
        return PlainTextResponse(NO_ARCHIVE, 404)
    # Reads the manifest and all names.
    chunks = await site.packing.run(request.receive, client_of(request.scope), found)
    headers = {**attachment(ARCHIVE), "cache-control": "no-cache"}
    return StreamingResponse(_packed(request, chunks, site.packing), media_type="application/gzip", headers=headers)


async def _packed(request: Request, chunks: Iterator[bytes], lane: Lane) -> AsyncIterator[bytes]:
    threads = CapacityLimiter(1)
    while True:
        async with lane.turn(client_of(request.scope)):
            chunk = await to_thread.run_sync(next, chunks, b"", limiter=threads)
        if not chunk:
            return
        yield chunk


@page_router.get("/{path:path}", include_in_schema=False)
async def page(request: Request, site: Shown, path: Annotated[str, PathPart(max_length=200)]) -> Response:
    """Return a page or a file of the contest."""
    pages = site.watched
    if pages is None:
        waiting = await site.pages.run(request.receive, client_of(request.scope), partial(site.waiting.page, path))
        return PlainTextResponse(NO_PAGE, 404) if waiting is None else answer(request, waiting)
    hub = pages.hub
    place = PagePlace.of_file(path)
    if place.path == RUNNING:
        with_boards = request.query_params.get("boards") != "no"
        followed = next(
            (name for name, number in hub.live.agents.items() if str(number) == request.query_params.get("agent")), ""
        )
        over = await site.final(request)
        hosts = await site.reading.run(request.receive, client_of(request.scope), pages.hosts)
        draw = partial(pages.games.all, with_boards=with_boards, final=over, agent=followed, hosts=hosts)
        return answer(request, await site.draw(request, lambda: draw(hub.live, hub.viewers, place)))
    number = place.path.partition("/")[2].partition(".")[0]
    running = hub.live.games.get(int(number)) if number.isascii() and number.isdigit() else None
    if running is not None:
        if path == plots_path(running):
            return answer(request, await site.draw(request, lambda: pages.games.plots(running, hub.live)))
        if place.path == f"games/{number}.html":
            # Its attempt may begin again while the client waits for its turn.
            game_page = await site.draw(
                request,
                lambda: pages.games.one(hub.live.games.get(running.game, running), hub.live, hub.viewers, place),
            )
            return answer(request, game_page)
    found = await site.in_turn(request, lambda pages: pages.find(path))
    if found is None:
        return PlainTextResponse(NO_PAGE, 404)
    if isinstance(found, LivePage):
        return answer(request, found)
    if isinstance(found, Path):
        return response_of(found, kind_of(path), _caching(is_fixed=False))
    rendered = await site.renders.render(request.receive, client_of(request.scope), found.task)
    if isinstance(rendered, Path):
        return response_of(rendered, found.kind, _caching(is_fixed=found.is_fixed))
    return answer(request, found.page(rendered))


def _caching(*, is_fixed: bool) -> Mapping[str, str]:
    return {
        "cache-control": "public, max-age=31536000, immutable" if is_fixed else "no-cache",
        "vary": "accept-encoding",
    }


def answer(request: Request, page: LivePage) -> Response:
    """A page, compressed if the client allows it."""
    headers = _caching(is_fixed=page.is_fixed)
    if "gzip" in request.headers.get("accept-encoding", "") and len(page.data) > MIN_COMPRESSED_BYTES:
        return Response(page.packed(), media_type=page.kind, headers={**headers, "content-encoding": "gzip"})
    return Response(page.numbered(), media_type=page.kind, headers=headers)
