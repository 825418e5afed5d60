"""Each route of each application that `judge serve` runs is within the limits of a client."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from judge.contest.window_keeper import PlanFile
from judge.submissions.intake import IntakePolicy
from judge.web.intake.app import create_service as create_intake
from judge.web.intake.app import router as intake_router
from judge.web.kit import clients
from judge.web.kit.clients import ClientLimits, Rooms
from judge.web.live.app import Site
from judge.web.live.front import FrontPage, HostedContest
from judge.web.player.status import PlayerFiles, PlayerStatus
from tests.golden.export_files import small_cup
from tests.golden.routes import AUTHORS, INTAKE, ORGANISERS, OTHERS, PAGES, addresses, application
from tests.web.event_loop import in_event_loop, until
from tests.web.organisers.office import PATIENCE
from tests.web.service import scope_of, service_of

LIMIT, ROOM = 4, 12

FRONT = ("/", "/index.html", "/cs/index.html", "/feed", "/events", "/feed.xml", "/style.css", "/live.js", "/health")
HEALTH = ("/health", "/health/live", "/health/ready", "/nothing", "/openapi.json")

HOSTILE = {
    "one address": ("198.51.100.9", LIMIT),
    "a /64": ("2001:db8:1:2::{:x}", LIMIT),
    "a /56": ("2001:db8:1:{:x}::1", ROOM),
    "a /24": ("198.51.100.{}", ROOM),
}
"""Addresses of a client, and how many of its requests may be under way."""


Services = Mapping[str, tuple[ASGIApp, list[str]]]
"""The applications of a contest, of several, and of an intake alone; with their paths."""


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("routes")
    with closing(small_cup(folder / "cup", PATIENCE)) as cup:
        cup.play(2)
        files = PlayerFiles(cup.folder, cup.planned.name)
        with service_of(cup.folder) as (service, console), closing(files):
            every = addresses((*INTAKE, *AUTHORS, *ORGANISERS, *PAGES, *OTHERS), application(console))
            paths = sorted({path.partition("?")[0] for path in every.values()} | {*HEALTH, "/events", "/feed"})
            hosted = HostedContest(cup.planned, Site(lambda: None, PlanFile(cup.planned)), service)
            front = FrontPage("All", [hosted], 10**9, IntakePolicy())
            below = [f"/{cup.planned.name}{path}" for path in paths]
            files.write(PlayerStatus())  # without a player, health is 503
            alone = [path.partition("?")[0] for path in addresses(INTAKE, intake_router).values()]
            yield {
                "one contest": (service, paths),
                "several contests": (front, [*FRONT, *HEALTH, *below]),
                "intake": (create_intake(console.state), [*alone, *HEALTH]),
            }


def limited_app(app: ASGIApp) -> ClientLimits:
    return ClientLimits(app, IntakePolicy(connections=ROOM, connections_per_address=LIMIT), Rooms(ROOM, ROOM))


class Call:
    """A request that stays under way: its client sends no body, or does not read the answer."""

    def __init__(self, app: ASGIApp, host: str, method: str, path: str, *, is_slow_body: bool = False) -> None:
        self.status = 0
        self._is_slow_body = is_slow_body
        self._has_sent = False
        scope = scope_of(method, path, [("host", "here")], client=host)
        self.task = asyncio.ensure_future(app(scope, self._receive, self._send))

    async def _receive(self) -> Any:
        if self._is_slow_body or self._has_sent:
            await asyncio.Event().wait()
        self._has_sent = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        if self.status not in (429, 503):
            await asyncio.Event().wait()

    async def end(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await self.task


async def until_answered(*calls: Call) -> None:
    await until(lambda: all(call.status for call in calls))


async def refused(app: ASGIApp, hosts: list[str], method: str, path: str, expected: int, *, is_slow_body: bool) -> int:
    """How many of these requests at once are refused; and one of another client is not."""
    calls = [Call(app, host, method, path, is_slow_body=is_slow_body) for host in hosts]
    other = Call(app, "203.0.113.1", "GET", "/health/live")
    try:
        await until(lambda: sum(call.status in (429, 503) for call in calls) >= expected and other.status > 0)
        assert 200 <= other.status < 429, (path, other.status)
        return sum(call.status in (429, 503) for call in calls)
    finally:
        for call in [*calls, other]:
            await call.end()


@pytest.mark.parametrize("is_slow_body", [False, True], ids=["reads nothing", "sends no body"])
@pytest.mark.parametrize("kind", ["one contest", "several contests", "intake"])
@in_event_loop
async def test_each_route_refuses_requests_beyond_the_limit(kind: str, is_slow_body: bool, services: Services) -> None:
    app, paths = services[kind]
    limited = limited_app(app)
    assert len(paths) > 5
    for path in paths:
        for method in ("GET", "POST"):
            hosts = ["198.51.100.9"] * (LIMIT + 2)
            found = await refused(limited, hosts, method, path, 2, is_slow_body=is_slow_body)
            assert 2 == found, (kind, method, path)


@pytest.mark.parametrize("network", HOSTILE)
@pytest.mark.parametrize("path", ["events", "spring-cup/events", "feed", "spring-cup/author/session", "index.html"])
@in_event_loop
async def test_no_network_takes_the_room_of_others(path: str, network: str, services: Services) -> None:
    path, (app, _) = f"/{path}", services["several contests"]
    pattern, most = HOSTILE[network]
    limited = limited_app(app)
    hosts = [pattern.format(number) for number in range(60)]
    method = "POST" if path.endswith("session") else "GET"
    found = await refused(limited, hosts, method, path, 60 - most, is_slow_body=method == "POST")
    assert 60 - most == found
    calls = [Call(limited, host, method, path, is_slow_body=True) for host in hosts]
    for other in range(3):
        honest = Call(limited, f"203.0.{other}.1", "GET", path if method == "GET" else "/health")
        await until_answered(honest)
        assert honest.status not in (429, 503)
        calls.append(honest)
    for call in calls:
        await call.end()


@in_event_loop
async def test_streams_take_no_room_of_requests(services: Services) -> None:
    """A client may have one of each."""
    app, _ = services["several contests"]
    limited = ClientLimits(app, IntakePolicy(connections_per_address=1), Rooms(2, 2))
    streams = [Call(limited, f"10.0.{number}.1", "GET", "/events") for number in range(4)]
    pages = [Call(limited, f"10.0.{number}.1", "GET", "/health/live") for number in range(2)]
    await until_answered(*streams, *pages)
    assert [200, 200, 503, 503] == sorted(call.status for call in streams)
    assert [200, 200] == [call.status for call in pages]
    # The rooms of requests are full; the state of the service is still told.
    health = Call(limited, "10.0.9.1", "GET", "/health")
    page = Call(limited, "10.0.8.1", "GET", "/index.html")
    await until_answered(health, page)
    assert (200, 503) == (health.status, page.status)
    for call in (*streams, *pages, health, page):
        await call.end()


@pytest.mark.parametrize(("longest_s", "first"), [(1000.0, "honest"), (0.0, "hostile")])
@in_event_loop
async def test_burst_is_refused_before_the_work(longest_s: float, first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The honest request arrives last, when nearly all others have been refused."""
    monkeypatch.setattr(clients, "ARRIVAL_S", longest_s)
    begun: list[str] = []

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        begun.append(scope["path"].removeprefix("/"))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    limited = limited_app(app)
    calls = []
    for _ in range(30):
        calls += [Call(limited, "198.51.100.9", "GET", "/hostile") for _ in range(2)]
        await asyncio.sleep(0)
    calls.append(Call(limited, "203.0.113.1", "GET", "/honest"))
    await until_answered(*calls)
    assert 200 == calls[-1].status
    if first == "honest":
        assert ["hostile", "hostile", "honest", "hostile", "hostile"] == begun
        assert [429] * (60 - LIMIT) == [call.status for call in calls[LIMIT:-1]]
    else:
        assert "hostile" == begun[0] != begun[-1]
    for call in calls:
        await call.end()
