"""Several contests under one address, each in a folder with its name, with a common page and feed."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from judge.base.errors import InputError
from judge.base.service_loop import ServiceLoop
from judge.contest.plan import Planned
from judge.contest_view.values import Stream
from judge.contest_view.view import ContestView
from judge.cup.export import CupSite
from judge.cup.plan import PlannedCup
from judge.cup.results import current_results
from judge.site.feed import FeedEntry, write_feed
from judge.site.pages import STYLE, PagePlace, render
from judge.submissions.intake import IntakePolicy
from judge.translations.language import CODES
from judge.web.intake.app import AppState
from judge.web.kit.answers import kind_of, new_app
from judge.web.kit.lanes import Lane, run_to_the_end, while_connected
from judge.web.kit.middleware import PUBLIC_HEADERS, Middleware, Part, path_of, scope_below
from judge.web.kit.networks import RateLimit, client_of
from judge.web.live.app import NO_PAGE, POLL_INTERVAL_S, Site, alive_router, event_router, health_router
from judge.web.live.hub import Hub, Sent
from judge.web.live.pages import SCRIPT, LivePages, asset_page

FEED, INDEX = "feed.xml", "index.html"

RESERVED = frozenset({FEED, INDEX, STYLE, SCRIPT, "events", "feed", "health", *CODES})
"""Paths of the front page, which no contest may have as its name."""

MAX_FEED_EVENTS = 200

STEP_INTERVAL_S = 0.25
"""Of the page's events, which are rare."""


@dataclass(frozen=True, slots=True)
class HostedContest:
    """A contest and its application."""

    planned: Planned
    site: Site
    service: ASGIApp
    state: AppState | None = None
    """Of its intake."""

    @property
    def name(self) -> str:
        return self.planned.name

    async def contest(self, request: Request) -> ContestView | None:
        """The current contest; None before it begins."""
        if self.site.watched is None:
            return None
        final = await self.site.final(request)
        return await self.site.in_turn(request, LivePages.contest) if final is None else final

    def edition(self) -> int:
        """Rises when the contest changes; 0 before it begins. Not for the event loop's thread."""
        return 0 if self.site.watched is None else self.site.watched.edition()


@dataclass(frozen=True, slots=True)
class _Shown:
    hosted: HostedContest
    contest: ContestView | None

    @property
    def name(self) -> str:
        plan = self.hosted.planned.plan
        return plan.title or plan.name if self.contest is None else self.contest.snapshot.shown_name

    @property
    def state(self) -> str:
        if self.contest is None:
            return "coming"
        return "past" if self.contest.ending else "running"

    @property
    def moments(self) -> Sequence[tuple[str, datetime]]:
        return self.hosted.site.waiting.file.plan.windows.moments

    def events(self) -> Iterator[tuple[str, str]]:
        """Each change of state with its time in UTC."""
        changed = datetime.fromtimestamp(self.hosted.planned.path.stat().st_mtime, UTC)
        if self.contest is None:
            yield "coming", changed.isoformat(timespec="seconds")
            return
        yield "running", self.contest.snapshot.frozen_at
        if self.contest.ending:
            yield "past", self.contest.journal[-1].at


_TITLES = {"coming": "{name} is announced", "running": "{name} has begun", "past": "{name} is over"}


class FrontPage:
    """Passes requests below a contest's name to that contest's service."""

    def __init__(
        self,
        title: str,
        contests: Sequence[HostedContest],
        requests_per_minute: int,
        limits: IntakePolicy,
        cup: PlannedCup | None = None,
    ) -> None:
        """With a `cup` the contests are its leagues. Raises InputError for a name that is used twice or is a page's."""
        names = [hosted.name for hosted in contests]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise InputError(f"two contests are named {name}: under one address each needs its own name")
            if name in RESERVED:
                raise InputError(f"a contest named {name} cannot be served with others; rename it")
        self._title = title
        self._cup = cup
        self._contests = {hosted.name: hosted for hosted in contests}
        self.hub = Hub(secrets.token_hex(8))
        """An event for each change of the contests' results."""
        self._counting = CapacityLimiter(1)
        self._writing = Lane()
        self._written: tuple[int, dict[str, bytes]] = (0, {})
        """Pages after a change."""
        self._cup_site: CupSite | None = None
        """After the same change."""
        app = new_app("judge front page", "Several contests.", lifespan=self._running)
        app.state.hub = lambda: self.hub
        app.state.problems = self._problems
        for router in (event_router, alive_router, health_router, self._router()):
            app.include_router(router, include_in_schema=False)
        self._own = Middleware(app, Part("front", PUBLIC_HEADERS, RateLimit(requests_per_minute), limits))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name, slash, _ = path_of(scope).partition("/") if scope["type"] == "http" else ("", "", "")
        hosted = self._contests.get(name) if slash else None
        if hosted is None:
            await self._own(scope, receive, send)
        else:
            await hosted.service(scope_below(scope, name), receive, send)

    @asynccontextmanager
    async def _running(self, app: FastAPI) -> AsyncIterator[None]:
        loops = (ServiceLoop("front page", self._count), ServiceLoop("events of the front page", self._step))
        async with AsyncExitStack() as stack:
            for hosted in self._contests.values():
                await stack.enter_async_context(hosted.site.running(app))
            tasks = [asyncio.create_task(loop.run_async()) for loop in loops]
            yield
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.hub.close()

    def _problems(self) -> Sequence[str]:
        intakes = {name: hosted.state for name, hosted in self._contests.items() if hosted.state is not None}
        return [f"{name}: {problem}" for name, state in intakes.items() for problem in state.player.problems]

    def _router(self) -> APIRouter:
        router = APIRouter()

        @router.get("/{path:path}")
        async def page(request: Request, path: str) -> Response:
            if path in self._contests:
                return RedirectResponse(f"{request.scope.get('root_path', '')}/{path}/", 307)
            place = PagePlace.of_file(path or INDEX)
            if path in (STYLE, SCRIPT):
                data = asset_page(path).data
            elif (found := await while_connected(request.receive, self._rendered(request, place))) is None:
                return PlainTextResponse(NO_PAGE, 404)
            else:
                data = found
            return Response(data, media_type=kind_of(place.file), headers={"cache-control": "no-cache"})

        return router

    async def _rendered(self, request: Request, place: PagePlace) -> bytes | None:
        """A page, written once after each change."""
        async with self._writing.turn(client_of(request.scope)):
            seq = self.hub.seq
            if self._written[0] != seq:
                self._written = seq, {}
                self._cup_site = None
            written = self._written[1]
            if place.file not in written:
                data = await self._page(request, place, Stream(self.hub.log, str(seq)))
                if data is None:
                    return None
                written[place.file] = data
            return written[place.file]

    async def _page(self, request: Request, place: PagePlace, stream: Stream) -> bytes | None:
        if place.file == FEED:
            return _feed(self._title, await self._shown(request))
        if self._cup is not None:
            if self._cup_site is None:
                self._cup_site = await self._site_of_cup(request, self._cup)
            return await run_to_the_end(partial(self._cup_site.page, place, stream))
        if place.path != INDEX:
            return None
        shown = await self._shown(request)
        values = {
            "contest_name": self._title,
            "here": "",
            "states": {state: [each for each in shown if each.state == state] for state in _TITLES},
            "folder_path": place.file.removesuffix(place.path),
        }
        return render("front.html", place, values, stream, __package__)

    async def _site_of_cup(self, request: Request, cup: PlannedCup) -> CupSite:
        paths = {hosted.planned.path.resolve(): hosted for hosted in self._contests.values()}
        leagues = {name: paths.get(cup.file_of(name).resolve()) for name in cup.cup.by_name}
        hosted = {name: each for name, each in leagues.items() if each is not None}
        contests = {name: await each.contest(request) for name, each in hosted.items()}
        names = {name: each.name for name, each in hosted.items()}
        return CupSite(cup, replace(current_results(cup.cup, contests), name=self._title), names)

    async def _count(self) -> float:
        hosted = self._contests.values()
        seq = sum([await to_thread.run_sync(each.edition, limiter=self._counting) for each in hosted])
        if seq > self.hub.seq:
            self.hub.tell(Sent(seq, 0, False, b'{"seq":%d,"type":"results"}' % seq))
        return POLL_INTERVAL_S

    def _step(self) -> float:
        self.hub.step()
        return STEP_INTERVAL_S

    async def _shown(self, request: Request) -> list[_Shown]:
        return [_Shown(hosted, await hosted.contest(request)) for hosted in self._contests.values()]


def _feed(title: str, shown: Sequence[_Shown]) -> bytes:
    events = [(at, state, each) for each in shown for state, at in each.events()]
    events = sorted(events, key=lambda event: (event[0], event[2].hosted.name), reverse=True)[:MAX_FEED_EVENTS]
    entries = [
        FeedEntry(
            f"{each.hosted.name}:{state}",
            at,
            _TITLES[state].format(name=each.name),
            f"{each.hosted.name}/",
            each.hosted.planned.plan.about,
        )
        for at, state, each in events
    ]
    return write_feed(title, title, FEED, entries)
