"""The service as a process with one socket, and its Prometheus metrics on another, which a proxy does not expose."""

import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from fastapi import FastAPI
from prometheus_client import make_wsgi_app
from prometheus_client.core import GaugeMetricFamily as Gauge
from prometheus_client.registry import Collector
from starlette.types import ASGIApp

from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.base.service_loop import ServiceLoop
from judge.contest.plan import Planned, load_plan
from judge.contest.run_lock import alone
from judge.contest.settings import finish_change
from judge.contest.window_keeper import PlanFile, WindowKeeper, past_windows
from judge.cup.plan import PlannedCup
from judge.store.queries import Reader
from judge.store.submission_queries import RegisterReader
from judge.submissions.intake import IntakePolicy
from judge.transparency.log import SignedLog
from judge.web.authors import app as authors
from judge.web.authors.app import AuthorsSite
from judge.web.intake import app as intake
from judge.web.kit.answers import new_app
from judge.web.kit.connections import AppServer
from judge.web.kit.middleware import OWN_HEADERS, PUBLIC_HEADERS, Metrics, Middleware, Part
from judge.web.kit.networks import RateLimit
from judge.web.kit.rendering import Renderer
from judge.web.live import api
from judge.web.live.app import ABOUT, Site, alive_router, event_router, health_router, page_router
from judge.web.live.front import FrontPage, HostedContest
from judge.web.live.pages import LivePages
from judge.web.live.static import StaticSite
from judge.web.organisers import app as organisers
from judge.web.organisers.console import Console, opened_console
from judge.web.organisers.views import free_space_of
from judge.web.player.status import player_status

GRACE_S = 5

WRITE_INTERVAL_S = 0.5
"""Of pages that are files."""

POLL_INTERVAL_S = 0.5
"""Of requests for metrics."""

log = get_logger()


def follow(planned: Planned, directory: Path, *, once: bool, archive: str = "") -> bool:
    """Write a contest's pages and events to a directory, until it is over or `once`; return whether it is over.

    Raises InputError before it begins or if the directory has other files, HostError if the disk fails.
    """
    with closing(LivePages(planned, is_static=True, archive=archive)) as pages:
        site = StaticSite(pages, directory)
        while not (is_over := site.write()) and not once:
            time.sleep(WRITE_INTERVAL_S)
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
    organisers = {name: each.state.authors.is_organiser for name, each in hosted.items() if each.state is not None}
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
            state.receiver.gate.remember(past_windows(planned))
            stack.enter_context(WindowKeeper(planned, state.receiver.gate))
        yield HostedContest(planned, site, create_service(planned, site, console, counted), state)


def _has_begun(planned: Planned) -> bool:
    if planned.has_no_store:
        return False
    with closing(Reader(planned.store_url)) as reader:
        return planned.name in reader.contest_names()


def publish_once(plan: Path, directory: Path) -> bool:
    """Return whether the contest is over. Raises as `follow`."""
    return follow(load_plan(plan), directory, once=True)


def create_app(planned: Planned, site: Site, console: Console | None = None) -> FastAPI:
    """Public pages, and with a console the intake's API and the authors' and organisers' pages."""
    about = ABOUT if console is None else f"{ABOUT}{intake.ABOUT}"
    app = new_app("judge live", about, lifespan=site.running)
    app.state.site = site
    app.state.hub = lambda: None if site.watched is None else site.watched.hub
    app.include_router(event_router)
    app.include_router(api.router)
    app.include_router(alive_router)
    if console is None:
        app.state.problems = tuple
        app.include_router(health_router)
    else:
        app.state.intake = console.state
        app.include_router(intake.router)
        renders = site.renders.with_same_caches()
        authors_site = AuthorsSite(console.state, planned.files, site.hosts, site.waiting.file, site.contest, renders)
        authors.add_paths(app, authors_site)
        organisers.add_paths(app, console)
    app.include_router(page_router)
    return app


def create_service(
    planned: Planned, site: Site, console: Console | None = None, metrics: Metrics | None = None
) -> Middleware:
    """Application with each part's headers and limits."""
    parts: dict[str, Part] = {}
    if console is not None:
        limits = console.state.directory.intake
        parts = dict.fromkeys(intake.PATHS, Part.logged("intake", limits))
        parts |= dict.fromkeys(authors.SITE.paths, Part.logged("authors", limits, OWN_HEADERS))
        parts |= dict.fromkeys(organisers.SITE.paths, Part.logged("organisers", limits, OWN_HEADERS))
    viewers = RateLimit(planned.plan.broadcast.requests_per_minute)
    public = Part("pages", PUBLIC_HEADERS, viewers, planned.plan.intake)
    return Middleware(create_app(planned, site, console), public, parts, metrics)


# --- metrics ----------------------------------------------------------------------------------------------------------


class StoreNumbers(Collector):
    """Values read on request."""

    def __init__(self, planned: Planned, site: Site) -> None:
        self._planned = planned
        self._site = site

    def describe(self) -> Iterable[Gauge]:
        """Nothing: the names do not need the store."""
        return []

    def collect(self) -> Iterator[Gauge]:
        yield Gauge("judge_viewers", "Connections of viewers.", self._site.viewers())
        room = free_space_of(self._planned.folder)
        problems = player_status(self._planned.folder, self._planned.name).problems
        yield Gauge("judge_player_up", "1 if a process checks submissions and plays.", not problems)
        yield Gauge("judge_disk_free_bytes", "Free bytes on the disk of the contest's folder.", room.disk)
        yield Gauge("judge_memory_available_bytes", "Available memory of the machine.", room.memory)
        try:
            yield from self._of_store()
            is_up = 1
        except (HostError, InputError) as error:
            log.error("the store cannot be read", error=str(error))  # noqa: TRY400 - a sentence
            is_up = 0
        yield Gauge("judge_store_up", "1 if the store answers.", is_up)

    def _of_store(self) -> Iterator[Gauge]:
        planned = self._planned
        if planned.has_no_store:
            return
        with closing(Reader(planned.store_url)) as reader:
            if planned.name in reader.contest_names():
                games, attempts = reader.counts(planned.name), reader.attempt_counts(planned.name)
                yield _by_state("judge_games", "Games of the schedule, by state; `pending` is the queue.", games)
                yield _by_state("judge_attempts", "Attempts at games, by state, including voids.", attempts)
                is_open = reader.state(planned.name) == "open"
                yield Gauge("judge_contest_open", "1 if games are started, 0 if it is paused or stopped.", is_open)
        with closing(RegisterReader(planned.store_url, planned.name)) as register:
            yield _by_state("judge_submissions", "Submissions, by state.", register.counts())


def _by_state(name: str, about: str, counts: Mapping[Any, int]) -> Gauge:
    found = Gauge(name, about, labels=["state"])
    for state, count in counts.items():
        found.add_metric([state.value], count)
    return found


class _Quiet(WSGIRequestHandler):
    timeout = 10

    def log_message(self, *_: object) -> None:
        """Do nothing."""


@contextmanager
def served_metrics(metrics: Metrics, listener: socket.socket) -> Iterator[None]:
    """Serve Prometheus, in one thread."""
    app = make_wsgi_app(metrics.registry)
    host, port = listener.getsockname()[:2]
    with WSGIServer((host, port), _Quiet, bind_and_activate=False) as server:
        server.socket.close()
        server.socket = listener
        server.server_name, server.server_port = host, port
        server.setup_environ()
        server.set_app(app)
        server.timeout = POLL_INTERVAL_S

        def step() -> float:
            server.handle_request()
            return 0.0

        with ServiceLoop("metrics", step):
            yield
