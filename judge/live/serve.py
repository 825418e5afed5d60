"""The service as a process: one socket, the pages and the events on it. Nothing is lost when it is killed."""

import socket
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import uvicorn

from judge.contest.plan import Planned
from judge.contest.recorder_process import stamp_of
from judge.contest.snapshot import read_snapshot
from judge.errors import InputError
from judge.intake.connections import uvicorn_options
from judge.live.app import Watched, create_app
from judge.live.connections import streaming
from judge.live.hub import Hub
from judge.live.middleware import PublicMiddleware
from judge.live.pages import LivePages
from judge.live.static import StaticSite
from judge.store.queries import Reader


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
    proxy: str = "",
    root_path: str = "",
    slots: int = 1,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal ends it; `proxy` is the one address whose X-Forwarded-For header is trusted.

    Raises InputError if the contest has not begun, and HostError if its store cannot be read.
    """
    hub = hub_of(planned)
    hub.catch_up()
    watching = planned.plan.broadcast
    limits = planned.plan.intake.model_copy(
        update={"connections": watching.viewers, "connections_per_address": watching.connections_per_address}
    )
    with closing(LivePages(planned, hub.painter)) as pages:
        app = PublicMiddleware(create_app(Watched(hub, pages, stamp_of(planned), slots)), watching.requests_per_minute)
        options = uvicorn_options(limits, proxy) | {
            "http": streaming(limits, proxy),
            "lifespan": "on",
            "root_path": root_path,
            "timeout_graceful_shutdown": 1,
        }
        server = uvicorn.Server(uvicorn.Config(app, **options))
        ready()
        server.run(sockets=[listener])
