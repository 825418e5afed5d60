"""Prometheus metrics, on a separate address that a proxy does not expose."""

import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import make_wsgi_app
from prometheus_client.core import GaugeMetricFamily as Gauge
from prometheus_client.registry import Collector

from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.base.service_loop import ServiceLoop
from judge.contest.plan import Planned
from judge.store.queries import Reader
from judge.store.submission_queries import RegisterReader
from judge.web.kit.middleware import Metrics
from judge.web.live.app import Site
from judge.web.organisers.views import free_space_of
from judge.web.player.status import player_status

POLL_INTERVAL_S = 0.5

log = get_logger()


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
