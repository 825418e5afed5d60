"""The service as a process, with one socket."""

import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from fastapi import FastAPI
from starlette.types import ASGIApp

from judge.base.errors import InputError
from judge.contest.plan import Planned, load_plan
from judge.contest.run_lock import alone
from judge.contest.settings import finish_change
from judge.contest.window_keeper import PlanFile, WindowKeeper, past_windows
from judge.cup.plan import PlannedCup
from judge.store.queries import Reader
from judge.submissions.intake import IntakePolicy
from judge.transparency.log import SignedLog
from judge.web.authors import app as authors
from judge.web.intake import app as intake
from judge.web.kit.answers import new_app
from judge.web.kit.connections import AppServer
from judge.web.kit.middleware import OWN_HEADERS, PUBLIC_HEADERS, Metrics, Middleware, Part
from judge.web.kit.networks import RateLimit
from judge.web.kit.rendering import Renderer
from judge.web.live import api
from judge.web.live.app import ABOUT, Site, alive_router, event_router, health_router, page_router
from judge.web.live.front import FrontPage, HostedContest
from judge.web.live.metrics import StoreNumbers, served_metrics
from judge.web.live.pages import LivePages
from judge.web.live.static import StaticSite
from judge.web.organisers import app as organisers
from judge.web.organisers.console import Console, opened_console

GRACE_S = 5


def follow(planned: Planned, directory: Path, *, once: bool, interval_s: float = 0.5, archive: str = "") -> bool:
    """Write a contest's pages and events to a directory, until it is over or `once`; return whether it is over.

    Raises InputError before it begins or if the directory has other files, HostError if the disk fails.
    """
    with closing(LivePages(planned, is_static=True, archive=archive)) as pages:
        site = StaticSite(pages, directory)
        while not (is_over := site.write()) and not once:
            time.sleep(interval_s)
        return is_over


@contextmanager
def opened_server(
    planned: Planned,
    listener: socket.socket,
    *,
    state: intake.AppState | None = None,
    proxy: str = "",
    root_path: str = "",
    metrics: socket.socket | None = None,
) -> Iterator[AppServer]:
    """The server of a contest. Only `proxy` may send X-Forwarded-For. Raises HostError if the store is unreadable."""
    counted = Metrics()
    with opened_service(planned, state, counted) as hosted, ExitStack() as stack:
        if metrics is not None:
            counted.registry.register(StoreNumbers(planned, hosted.site))
            stack.enter_context(served_metrics(counted, metrics))
        yield _server(hosted.service, _limits(planned), {"": hosted}, listener, proxy, root_path)


@contextmanager
def opened_front_server(
    title: str,
    contests: Sequence[tuple[Planned, intake.AppState | None]],
    listener: socket.socket,
    *,
    cup: PlannedCup | None = None,
    proxy: str = "",
    root_path: str = "",
) -> Iterator[AppServer]:
    """The server of several contests, with the pages of a `cup` if given. Raises as `opened_server`, and InputError."""
    with ExitStack() as stack:
        renders = stack.enter_context(closing(Renderer()))
        hosted = [
            stack.enter_context(opened_service(planned, state, Metrics(), renders=renders.with_same_caches()))
            for planned, state in contests
        ]
        limits = [_limits(planned) for planned, _ in contests]
        widest = max(limits, key=lambda each: each.connections)
        requests = max(planned.plan.broadcast.requests_per_minute for planned, _ in contests)
        front = FrontPage(title, hosted, requests, widest, cup)
        yield _server(front, widest, {each.name: each for each in hosted}, listener, proxy, root_path)


def _limits(planned: Planned) -> IntakePolicy:
    watching = planned.plan.broadcast
    return planned.plan.intake.model_copy(
        update={"connections": watching.viewers, "connections_per_address": watching.connections_per_address}
    )


def _server(
    app: ASGIApp,
    limits: IntakePolicy,
    hosted: Mapping[str, HostedContest],
    listener: socket.socket,
    proxy: str,
    root_path: str,
) -> AppServer:
    organisers = {name: each.is_organiser for name, each in hosted.items() if each.is_organiser is not None}
    options = {"lifespan": "on", "root_path": root_path, "timeout_graceful_shutdown": GRACE_S if organisers else 1}
    return AppServer(app, limits, listener, proxy, organisers, **options)


@contextmanager
def opened_service(
    planned: Planned, state: intake.AppState | None, counted: Metrics, renders: Renderer | None = None
) -> Iterator[HostedContest]:
    """A contest with its application; `renders` may be shared by contests."""
    with ExitStack() as stack:

        def begin() -> LivePages | None:
            if not _has_begun(planned):
                return None
            pages = stack.enter_context(closing(LivePages(planned, has_authors=state is not None)))
            pages.hub.catch_up()
            pages.hub.metrics = counted
            return pages

        if state is not None:
            with suppress(InputError), alone(planned):  # the contest that runs has begun: its file is final
                finish_change(planned)
        log = None
        if not planned.has_no_store:
            log = stack.enter_context(closing(SignedLog(planned.store_url, planned.name, planned.folder)))
        register = None if state is None else state.register
        site = Site(begin, PlanFile(planned), log, register, renders=renders)
        console = None
        if state is not None:
            console = stack.enter_context(opened_console(planned, state, publish_once))
            gate = state.receiver.gate
            gate.remember(past_windows(planned))
            stack.enter_context(WindowKeeper(planned, gate))
        service = create_service(planned, site, state, console, counted)
        if state is None:
            yield HostedContest(planned, site, service)
        else:
            yield HostedContest(planned, site, service, state.authors.is_organiser, lambda: state.player.problems)


def _has_begun(planned: Planned) -> bool:
    if planned.has_no_store:
        return False
    with closing(Reader(planned.store_url)) as reader:
        return planned.name in reader.contest_names()


def publish_once(plan: Path, directory: Path) -> bool:
    """Return whether the contest is over. Raises as `follow`."""
    return follow(load_plan(plan), directory, once=True)


def create_app(
    planned: Planned, site: Site, state: intake.AppState | None = None, console: Console | None = None
) -> FastAPI:
    """Public pages, and with an intake its API and the authors' and organisers' pages."""
    about = ABOUT if state is None else f"{ABOUT}{intake.ABOUT}"
    app = new_app("judge live", about, lifespan=site.running)
    app.state.site = site
    app.state.hub = lambda: None if site.watched is None else site.watched.hub
    app.include_router(event_router)
    app.include_router(api.router)
    app.include_router(alive_router)
    if state is None:
        app.state.problems = tuple
        app.include_router(health_router)
    else:
        app.state.intake = state
        app.include_router(intake.router)
        authors.add_paths(
            app,
            authors.AuthorsSite(
                state, planned.files, site.hosts, site.waiting.file, site.contest, site.renders.with_same_caches()
            ),
        )
        if console is not None:
            organisers.add_paths(app, console)
    app.include_router(page_router)
    return app


def create_service(
    planned: Planned,
    site: Site,
    state: intake.AppState | None = None,
    console: Console | None = None,
    metrics: Metrics | None = None,
) -> Middleware:
    """Application with each part's headers and limits."""
    parts: dict[str, Part] = {}
    if state is not None:
        limits = state.directory.intake
        parts = dict.fromkeys(intake.PATHS, Part.logged("intake", limits))
        parts |= dict.fromkeys(authors.SITE.paths, Part.logged("authors", limits, OWN_HEADERS))
        if console is not None:
            parts |= dict.fromkeys(organisers.SITE.paths, Part.logged("organisers", limits, OWN_HEADERS))
    viewers = RateLimit(planned.plan.broadcast.requests_per_minute)
    public = Part("pages", PUBLIC_HEADERS, viewers, planned.plan.intake)
    app = create_app(planned, site, state, console)
    return Middleware(app, public, parts, metrics)
