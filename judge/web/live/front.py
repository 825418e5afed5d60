"""Several contests under one address, each in a folder with its name, with a common page and feed."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse

from judge.base.errors import InputError
from judge.contest.plan import Planned
from judge.cup.export import CupSite
from judge.cup.plan import PlannedCup
from judge.cup.results import current_results
from judge.publish.model import PublishedContest, Stream
from judge.site.feed import FeedEntry, write_feed
from judge.site.pages import STYLE, PagePlace, asset, render
from judge.translations.language import CODES, languages
from judge.web.kit.errors import new_app
from judge.web.kit.middleware import PUBLIC_HEADERS, Asgi, Middleware, Part, Receive, Scope, Send, path_of
from judge.web.live.app import NO_PAGE, POLL_INTERVAL_S, Since, Site
from judge.web.live.hub import BEAT_S
from judge.web.live.page import kind_of
from judge.web.live.pages import SCRIPT, asset_page

FEED, INDEX = "feed.xml", "index.html"

RESERVED = frozenset({FEED, INDEX, STYLE, SCRIPT, "events", "feed", "health", *CODES})
"""Paths of the front page, which no contest may have as its name."""

MAX_FEED_EVENTS = 200


@dataclass(frozen=True, slots=True)
class HostedContest:
    """A contest and its application."""

    planned: Planned
    site: Site
    service: Asgi

    @property
    def name(self) -> str:
        """Its name, which is its folder below the address."""
        return self.planned.name

    async def contest(self) -> PublishedContest | None:
        """The current contest; None before it begins."""
        watched = self.site.watched
        if watched is None:
            return None
        final = await self.site.final()
        if final is not None:
            return final
        find = partial(watched.pages.contest, watched.hub.live, watched.version())
        return await to_thread.run_sync(find, limiter=self.site.rendering)

    async def edition(self) -> int:
        """Rises when the contest changes; 0 before it begins."""
        watched = self.site.watched
        if watched is None:
            return 0
        find = partial(watched.pages.edition, watched.hub.live, watched.version())
        return await to_thread.run_sync(find, limiter=self.site.rendering)


@dataclass(frozen=True, slots=True)
class _Shown:
    hosted: HostedContest
    contest: PublishedContest | None

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
        return self.hosted.site.plan().windows.moments

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
        cup: PlannedCup | None = None,
    ) -> None:
        """With a `cup` the contests are its leagues.

        Raises InputError for a name that is used twice or is a page's.
        """
        names = [hosted.name for hosted in contests]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise InputError(f"two contests are named {name}: under one address each needs its own name")
            if name in RESERVED:
                raise InputError(f"a contest named {name} cannot be served with others; rename it")
        self._title = title
        self._cup = cup
        self._contests = {hosted.name: hosted for hosted in contests}
        self._log = secrets.token_hex(8)
        self._seq, self._counted_at = 0, -POLL_INTERVAL_S
        self._counting = asyncio.Lock()
        self._written: dict[str, bytes] = {}
        """Pages since the last count."""
        app = new_app("judge front page", "Several contests.", lifespan=self._running)
        app.include_router(self._router())
        self._own = Middleware(app, Part("front", PUBLIC_HEADERS, requests_per_minute))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        name, slash, _ = path_of(scope).partition("/") if scope["type"] == "http" else ("", "", "")
        hosted = self._contests.get(name) if slash else None
        if hosted is None:
            await self._own(scope, receive, send)
        else:
            await hosted.service({**scope, "root_path": f"{scope.get('root_path', '')}/{name}"}, receive, send)

    @asynccontextmanager
    async def _running(self, app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for hosted in self._contests.values():
                await stack.enter_async_context(hosted.site.running(app))
            yield

    def _router(self) -> APIRouter:
        router = APIRouter()

        @router.get("/health/live", include_in_schema=False)
        @router.get("/health/ready", include_in_schema=False)
        @router.get("/health", include_in_schema=False)
        async def health() -> dict[str, bool]:
            return {"ok": True}

        @router.get("/feed", include_in_schema=False)
        async def feed(since: Since = 0) -> Response:
            seq, now = await self._count(), self._now()
            headers = {"judge-log": self._log, "judge-now-ms": str(now["now_ms"]), "cache-control": "no-store"}
            line = f"{_changed(seq)}\n" if seq > since else ""
            return Response(line, media_type="application/x-ndjson", headers=headers)

        @router.get("/events", include_in_schema=False)
        async def events(since: Since = 0) -> Response:
            headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
            return StreamingResponse(self._events(since), media_type="text/event-stream", headers=headers)

        @router.get("/{path:path}", include_in_schema=False)
        async def page(request: Request, path: str) -> Response:
            if path in self._contests:
                return RedirectResponse(f"{request.scope.get('root_path', '')}/{path}/", 307)
            place = PagePlace.of_file(path or INDEX, languages(CODES))
            if path == STYLE:
                data = asset(STYLE)
            elif path == SCRIPT:
                data = asset_page(SCRIPT).data
            elif path == FEED:
                data = _feed(self._title, await self._shown())
            elif (found := await self._page(place)) is None:
                return PlainTextResponse(NO_PAGE, 404)
            else:
                data = found
            return Response(data, media_type=kind_of(place.file), headers={"cache-control": "no-cache"})

        return router

    async def _page(self, place: PagePlace) -> bytes | None:
        stream = Stream(self._log, str(await self._count()))
        written = self._written
        if place.file in written:
            return written[place.file]
        if self._cup is not None:
            data = await self._page_of_cup(self._cup, place, stream)
        else:
            data = _index(self._title, await self._shown(), place, stream) if place.path == INDEX else None
        if data is not None:
            written[place.file] = data
        return data

    async def _page_of_cup(self, cup: PlannedCup, place: PagePlace, stream: Stream) -> bytes | None:
        paths = {hosted.planned.path.resolve(): hosted for hosted in self._contests.values()}
        leagues = {name: paths.get(cup.file_of(name).resolve()) for name in cup.cup.by_name}
        hosted = {name: each for name, each in leagues.items() if each is not None}
        contests = {name: await each.contest() for name, each in hosted.items()}
        names = {name: each.name for name, each in hosted.items()}
        site = CupSite(cup, replace(current_results(cup.cup, contests), name=self._title), names)
        return await to_thread.run_sync(site.page, place, stream)

    async def _count(self) -> int:
        """Counted once per `POLL_INTERVAL_S` for all viewers."""
        async with self._counting:
            if time.monotonic() - self._counted_at >= POLL_INTERVAL_S:
                self._seq = sum([await hosted.edition() for hosted in self._contests.values()])
                self._written, self._counted_at = {}, time.monotonic()
            return self._seq

    def _now(self) -> Mapping[str, object]:
        return {"now_ms": round(time.time() * 1000), "viewers": 0, "log": self._log}

    async def _events(self, since: int) -> AsyncIterator[str]:
        yield f"event: hello\ndata: {json.dumps(self._now())}\n\n"
        beat_at = time.monotonic() + BEAT_S
        while True:
            if (seq := await self._count()) > since:
                since = seq
                yield f"id: {seq}\ndata: {_changed(seq)}\n\n"
            if time.monotonic() >= beat_at:
                beat_at = time.monotonic() + BEAT_S
                yield f"event: beat\ndata: {json.dumps(self._now())}\n\n"
            await asyncio.sleep(POLL_INTERVAL_S)

    async def _shown(self) -> list[_Shown]:
        return [_Shown(hosted, await hosted.contest()) for hosted in self._contests.values()]


def _changed(seq: int) -> str:
    return json.dumps({"seq": seq, "type": "results"})


def _index(title: str, shown: Sequence[_Shown], place: PagePlace, stream: Stream) -> bytes:
    folder = place.file.removesuffix(place.path)
    states = {state: [each for each in shown if each.state == state] for state in ("running", "coming", "past")}
    values: Mapping[str, Any] = {"contest_name": title, "here": "", "states": states, "folder_path": folder}
    return render("front.html", place, values, stream, __package__)


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
