"""The service as a process: one socket, and on it the pages, the events and the intake. Nothing is lost when it is
killed."""

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import uvicorn

from judge.contest.plan import Planned
from judge.contest.recorder_process import stamp_of
from judge.contest.snapshot import read_snapshot
from judge.errors import InputError
from judge.intake.app import PATHS as INTAKE_PATHS
from judge.intake.connections import uvicorn_options
from judge.intake.serve import Intake
from judge.live.app import Site, Watched, create_app
from judge.live.connections import streaming
from judge.live.hub import Hub
from judge.live.middleware import PublicMiddleware
from judge.live.pages import LivePages
from judge.live.service import Service
from judge.live.static import StaticSite
from judge.store.queries import Reader

GRACE_S = 5
"""How long uploads may take to end when the service ends."""


def hub_of(planned: Planned) -> Hub:
    """The events of a contest; none are read yet. Raises InputError if it has not begun."""
    if planned.has_no_store:
        raise InputError(f"{planned.name} has not begun: judge contest run {planned.path} begins it")
    with closing(Reader(planned.store_url)) as reader:
        snapshot = read_snapshot(reader.document(planned.name))
    return Hub(planned.folder, snapshot.policy)


def follow(planned: Planned, directory: Path, *, once: bool, interval_s: float = 0.5) -> None:
    """Write the pages and events of a contest to a directory, again and again until it is over, or once.

    Raises InputError if it has not begun or the directory has other files, HostError if the disk fails.
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
    intake: Intake | None = None,
    proxy: str = "",
    root_path: str = "",
    slots: int = 1,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal ends it; `proxy` is the one address whose X-Forwarded-For header is trusted.

    With an `intake` it can be started before the contest begins. Raises InputError if the contest has not begun and
    there is no intake, and HostError if its store cannot be read.
    """
    watching = planned.plan.broadcast
    limits = planned.plan.intake.model_copy(
        update={"connections": watching.viewers, "connections_per_address": watching.connections_per_address}
    )
    with ExitStack() as stack:

        def begin() -> Watched | None:
            if intake is not None and not intake.state.register.has_begun():
                return None
            hub = hub_of(planned)
            hub.catch_up()
            return Watched(hub, stack.enter_context(closing(LivePages(planned, hub.painter))), stamp_of(planned), slots)

        site = Site(planned.name, begin)
        described = [] if intake is None else [intake.api]
        pages = PublicMiddleware(create_app(site, *described), watching.requests_per_minute)
        parts = {} if intake is None else dict.fromkeys(INTAKE_PATHS, intake.app)
        options = uvicorn_options(limits, proxy) | {
            "http": streaming(limits, proxy),
            "lifespan": "on",
            "root_path": root_path,
            "timeout_graceful_shutdown": 1 if intake is None else GRACE_S,
        }
        server = uvicorn.Server(uvicorn.Config(Service(pages, parts), **options))
        ready()
        server.run(sockets=[listener])
