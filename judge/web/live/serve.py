"""The service as a process, with one socket."""

import socket
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from judge.base.scheduling import lower_priority
from judge.contest.event_log.store_changes import stamp_of
from judge.contest.plan import Planned, load_plan
from judge.contest.window_keeper import ContestProcess, FileWindows, WindowKeeper, remembered
from judge.store.queries import Reader
from judge.tournament.snapshot import read_snapshot
from judge.transparency.log import SignedLog
from judge.web.authors import app as authors
from judge.web.intake import app as intake
from judge.web.kit.clients import ClientLimits
from judge.web.kit.connections import uvicorn_options
from judge.web.kit.errors import new_app
from judge.web.kit.middleware import OWN_HEADERS, PUBLIC_HEADERS, Middleware, Part
from judge.web.live.app import ABOUT, BegunContest, Site, alive_router, event_router, health_router, page_router
from judge.web.live.hub import Hub
from judge.web.live.metrics import Metrics, StoreNumbers, served_metrics
from judge.web.live.pages import LivePages
from judge.web.live.static import StaticSite
from judge.web.organisers import app as organisers
from judge.web.organisers.console import Console, opened_console

GRACE_S = 5


def hub_of(planned: Planned) -> Hub:
    """Unread. Raises InputError before the contest begins."""
    if planned.has_no_store:
        raise planned.not_begun()
    with closing(Reader(planned.store_url)) as reader:
        snapshot = read_snapshot(reader.document(planned.name))
    return Hub(planned.folder, snapshot.policy)


def follow(planned: Planned, directory: Path, *, once: bool, interval_s: float = 0.5) -> None:
    """Write a contest's pages and events to a directory, until it is over or `once`.

    Raises InputError before it begins or if the directory has other files, HostError if the disk fails.
    """
    hub = hub_of(planned)
    stamp = stamp_of(planned)
    with closing(hub), closing(LivePages(planned, hub.painter, is_static=True)) as pages:
        site = StaticSite(hub, pages, directory)
        while not site.write(stamp()) and not once:
            time.sleep(interval_s)


def serve(
    planned: Planned,
    listener: socket.socket,
    *,
    state: intake.AppState | None = None,
    proxy: str = "",
    root_path: str = "",
    slots: int = 1,
    metrics: socket.socket | None = None,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal, also before the contest begins. Only `proxy` may send X-Forwarded-For. `state` is a running
    intake's, `metrics` a socket for Prometheus. Raises HostError if the store is unreadable.
    """
    watching = planned.plan.broadcast
    limits = planned.plan.intake.model_copy(
        update={"connections": watching.viewers, "connections_per_address": watching.connections_per_address}
    )
    with ExitStack() as stack:

        def begin() -> BegunContest | None:
            if not _has_begun(planned):
                return None
            hub = hub_of(planned)
            hub.catch_up()
            hub.told = counted.told
            pages = stack.enter_context(closing(LivePages(planned, hub.painter, has_authors=state is not None)))
            return BegunContest(hub, pages, stamp_of(planned), slots)

        log = None
        if not planned.has_no_store:
            log = stack.enter_context(closing(SignedLog(planned.store_url, planned.name, planned.folder)))
        counted = Metrics()
        submitted = tuple if state is None else partial(_submitted, state)
        site = Site(planned, begin, log, FileWindows(planned).look, submitted, has_authors=state is not None)
        if metrics is not None:
            counted.registry.register(StoreNumbers(planned, site.viewers))
            stack.enter_context(served_metrics(counted, metrics))
        console = None
        if state is not None:
            console = stack.enter_context(opened_console(planned, state, publish_once))
            gate = state.receiver.gate
            gate.remember(remembered(planned))
            process = ContestProcess(planned.path)
            keeper = WindowKeeper(planned, state.register, gate, process.ensure, lambda: process.is_done)
            stack.enter_context(keeper)
        service = create_service(planned, site, state, console, counted)
        options = uvicorn_options(limits, proxy) | {
            "lifespan": "on",
            "root_path": root_path,
            "timeout_graceful_shutdown": 1 if state is None else GRACE_S,
        }
        is_organiser = None if state is None else state.authors.is_organiser
        bounded = ClientLimits(service, limits, is_organiser)
        server = uvicorn.Server(uvicorn.Config(bounded, **options))
        ready()
        lower_priority()  # threads started earlier keep their priority
        server.run(sockets=[listener])


def _submitted(state: intake.AppState) -> Sequence[str]:
    return [each.title or each.name for each in state.register.entries()]


def _has_begun(planned: Planned) -> bool:
    if planned.has_no_store:
        return False
    with closing(Reader(planned.store_url)) as reader:
        return planned.name in reader.contest_names()


def publish_once(plan: Path, directory: Path) -> None:
    """Raises as `follow`."""
    follow(load_plan(plan), directory, once=True)


def create_app(
    planned: Planned, site: Site, state: intake.AppState | None = None, console: Console | None = None
) -> FastAPI:
    """Public pages, and with an intake its API and the authors' and organisers' pages."""
    about = ABOUT if state is None else f"{ABOUT}{intake.ABOUT}"
    app = new_app("judge live", about, lifespan=site.running)
    app.state.site = site
    app.include_router(event_router)
    app.include_router(alive_router)
    if state is None:
        app.include_router(health_router)
    else:
        app.state.intake = state
        app.include_router(intake.router)
        authors.add_paths(app, authors.AuthorsSite(state, planned.files, site.hosts, planned.plan.about))
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
        parts = dict.fromkeys(intake.PATHS, Part.limited("intake", limits))
        parts |= dict.fromkeys(authors.PATHS, Part.limited("authors", limits, OWN_HEADERS))
        if console is not None:
            parts[organisers.FOLDER] = Part.limited("organisers", limits, OWN_HEADERS)
    public = Part("pages", PUBLIC_HEADERS, planned.plan.broadcast.requests_per_minute)
    app = create_app(planned, site, state, console)
    return Middleware(app, public, parts, (metrics or Metrics()).answered)
