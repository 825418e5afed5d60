"""Every HTTP route: methods, status without credentials, content type, redirect, and the headers that protect it.

The applications listen on this machine as `judge serve` composes them. The requests
are for every route that they declare, and for the addresses that a route for any path (`{path:path}`) serves.
"""

import json
import re
import socket
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import httpx
import uvicorn
from fastapi import APIRouter, FastAPI
from starlette.types import ASGIApp

from judge.contest.plan import Planned, load_plan
from judge.contest.window_keeper import PlanFile
from judge.submissions.intake import IntakePolicy
from judge.translations.language import CODES
from judge.transparency.keys import make_key
from judge.web.intake.app import create_service as create_intake
from judge.web.intake.app import router as intake_router
from judge.web.kit.clients import ClientLimits, Rooms
from judge.web.kit.connections import listening, parse_listen_address, uvicorn_options
from judge.web.kit.middleware import Metrics
from judge.web.live.app import Site
from judge.web.live.pages import LivePages
from judge.web.live.serve import create_app, create_service, served_metrics
from judge.web.organisers.console import Console
from tests.broadcast.logs import accept, play_next, recorder
from tests.golden.export_files import files_by_pattern, small_cup
from tests.patience import PATIENCE_S
from tests.web.event_loop import without_store_reads
from tests.web.organisers.office import PATIENCE
from tests.web.service import service_of

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

READS = ("GET", "POST")
"""The methods for a service that has only pages."""

FROM_ELSEWHERE = "POST-from-another-site"
"""A form of another site's page, as a browser marks it. Other requests are marked as from a page of the service."""

SAMPLES = {
    "action": "pause",
    "attempt": "1",
    "code": "cs",
    "game": "00001",
    "id": "1",
    "name": "starter-gomocup-c",
    "number": "1",
    "part": "public",
    "seat": "0",
    "stem": "00001",
}
"""A value for each parameter of a path."""

_OWN = ("json", "stderr", "debug")

AUTHORS = (
    "/author",
    "/author/",
    "/author/author.js",
    "/author/nothing.html",
    "/author/submissions?filename=a.zip",
    *(
        f"{folder}/author/{page}"
        for folder in ("", "/{code}")
        for page in (
            "index.html",
            "notices.html",
            *(f"submissions/{{number}}.{ending}" for ending in ("html", "log", "json")),
            *(f"games/{{game}}{tried}.html" for tried in ("", ".attempt-{attempt}")),
            *(f"games/{{game}}{tried}.seat-{{seat}}.{end}" for tried in ("", ".attempt-{attempt}") for end in _OWN),
            "practice/{game}.html",
            "practice/{game}.json",
            *(f"practice/{{game}}.seat-{{seat}}.{ending}" for ending in _OWN),
        )
    ),
)
"""Addresses of the authors' pages that are not declared as routes, or that need a query."""

ORGANISERS = ("/organiser/nothing.html", "/organiser/order.html?action={action}")

OPENAPI = "/openapi.json"

INTAKE = ("/nothing", "/submissions?filename=a.zip")

PAGES = (
    "/",
    "/{code}/live.html",
    "/live.html",
    "/live.html?boards=no",
    "/live.js",
    "/moments.js",
    "/waiting.js",
    "/nothing.html",
    "/games/00002.html",
    "/{code}/games/00002.html",
    "/plots/00002.json",
)
"""Live pages that an export does not have. The second game is being played."""

OTHERS = ("/author/index.html", "/contest", "/organiser/index.html", "/submissions")
"""An address of each part that is not served with `--read-only`."""

PARTS = {
    "authors' pages": r"(/\{code\})?/author(/|$)",
    "intake": r"/(submissions|contest|health)($|/|\?)",
    "organisers' pages": r"/organiser(/|$)",
    "public pages": "",
}
"""The parts of `judge serve`, with the beginnings of their paths."""

_SHOWN = (
    *("cache-control", "content-disposition", "content-security-policy", "cross-origin-resource-policy"),
    *("referrer-policy", "set-cookie", "x-content-type-options", "x-frame-options"),
)
"""Headers that decide who may read, run or embed an answer; other tests are about the rest."""


class Answer(NamedTuple):
    """The parts of a response that a golden file shows."""

    headers: tuple[tuple[str, str], ...]
    status: int
    kind: str
    location: str

    @classmethod
    def of(cls, response: httpx.Response) -> "Answer":
        """Replaces values that change with each request."""
        headers = []
        for name, value in response.headers.multi_items():
            shown = value
            if name == "set-cookie":
                shown = re.sub(r"(?<=expires=)[^;]+", "{now}", re.sub(r'=[^;"]+', "={token}", value, count=1))
            if name in _SHOWN:
                headers.append((name, shown))
        found = response.headers
        return cls(
            tuple(sorted(headers)), response.status_code, found.get("content-type", "-"), found.get("location", "")
        )

    def text(self, asked: Sequence[str], left_out: Collection[tuple[str, str]]) -> str:
        """The answer to the methods or roles `asked`, with its headers except `left_out`."""
        target = f" to {self.location}" if self.location else ""
        headers = "".join(f"  {name}: {value}\n" for name, value in self.headers if (name, value) not in left_out)
        return f"{' '.join(asked)}: {self.status}{target}, {self.kind}\n{headers}"


Answers = Mapping[Answer, Sequence[str]]
"""The answers of an address, with the methods or the roles that get each."""


def routes_text(folder: Path, exported: Path) -> str:
    """The answers of each service. `exported` has an export of the same contest, whose addresses the live site has."""
    public = exported / "public"
    pages = addresses(PAGES) | {
        f"/{name}": f"/{paths[0].relative_to(public).as_posix()}" for name, paths in files_by_pattern(public).items()
    }
    shown = pages | addresses(OTHERS)
    read_only = "judge serve --read-only"
    with ExitStack() as stack:
        later = _planned(folder / "later")
        site = Site(lambda: None, PlanFile(later))
        paths = addresses((), create_app(later, site)) | shown
        before = _section(
            f"{read_only}, before the contest begins", create_service(later, site, None), later, paths, READS
        )

        cup = stack.enter_context(closing(small_cup(folder / "cup", PATIENCE.format(strangers=10_000_000))))
        make_key(cup.folder / "organiser.key")
        cup.play(2, void=[1])
        running, record = play_next(cup)
        log = stack.enter_context(recorder(cup))
        log.read_store()
        with service_of(cup.folder) as (service, console):
            places = addresses((*INTAKE, *AUTHORS, *ORGANISERS), application(console)) | pages
            during = _section("judge serve, while games are played", service, cup.planned, places, by_part=True)
            intake, paths_alone = create_intake(console.state), addresses(INTAKE, intake_router)
            alone = _section("judge serve --intake-only", intake, cup.planned, paths_alone | {OPENAPI: OPENAPI})
        accept(cup, running, record)
        log.read_store()
        log.finish()
        with _over(cup.planned) as app:
            after = _section(f"{read_only}, after the last game", app, cup.planned, paths, READS)
    return "\n".join((before, during, after, alone, _metrics_section()))


def openapi_text(folder: Path) -> str:
    """The OpenAPI document of `judge serve`, without the version of the judge."""
    with closing(small_cup(folder)) as cup, service_of(cup.folder) as (_, console):
        document = application(console).openapi()
    document["info"]["version"] = ""
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def addresses(patterns: Sequence[str], app: FastAPI | APIRouter | None = None) -> dict[str, str]:
    """The address of each pattern, and of each declared route that is not among the patterns."""
    named = {_shape(name) for name in patterns}
    routes = [name for name in _declared(app) if _shape(name) not in named] if app else []
    return {name: re.sub(r"\{(\w+)\}", lambda found: SAMPLES[found[1]], name) for name in (*patterns, *routes)}


def _shape(pattern: str) -> str:
    """A pattern without its query and the names of its parameters."""
    return re.sub(r"\{\w+\}", "{}", pattern.partition("?")[0])


def _planned(folder: Path) -> Planned:
    """A contest that has not begun."""
    folder.mkdir(parents=True)
    plan = 'name = "later"\npolicy = "gomocup-freestyle"\n[format]\nname = "round-robin"\n'
    (folder / "contest.toml").write_text(f"{plan}{PATIENCE.format(strangers=10_000_000)}")
    return load_plan(folder)


def application(console: Console) -> FastAPI:
    """The application of `judge serve`, to enumerate its routes."""
    planned = console.planned
    site = Site(lambda: None, PlanFile(planned), register=console.state.register)
    return create_app(planned, site, console)


def _declared(app: FastAPI | APIRouter) -> Iterator[str]:
    """The paths of all routes except those for any path; the languages of a page are one."""
    for route in app.routes:
        included = getattr(route, "effective_route_contexts", None)
        for path in [each.path for each in included()] if included else [getattr(route, "path", "")]:
            name = re.sub(rf"^/({'|'.join(CODES[1:])})/", "/{code}/", path)
            if ":path}" not in name:
                yield from (name.replace("{ending}", ending) for ending in (_OWN if "{ending}" in name else ("",)))


@contextmanager
def _over(planned: Planned) -> Iterator[ASGIApp]:
    """The public pages of a contest whose games are all over."""
    with closing(LivePages(planned)) as pages:
        pages.hub.catch_up()
        yield create_service(planned, Site(lambda: pages, PlanFile(planned)), None)


def _metrics_section() -> str:
    with _listener() as listener, served_metrics(Metrics(), listener), _client(listener) as client:
        return answers(
            "judge serve --metrics",
            partial(_ask_all, client, METHODS),
            {"/metrics": "/metrics", "/nothing": "/nothing"},
        )


def _section(
    title: str,
    app: ASGIApp,
    planned: Planned,
    places: Mapping[str, str],
    methods: Sequence[str] = METHODS,
    *,
    by_part: bool = False,
) -> str:
    """The answers of an application to `methods`."""
    with serving(app, planned.plan.intake) as client:
        ask = partial(_ask_all, client, methods)
        return (answers_by_part if by_part else answers)(title, ask, places)


def answers_by_part(title: str, ask: Callable[[str], Answers], places: Mapping[str, str]) -> str:
    """As `answers`, with a heading for each part of the service."""
    parts: dict[str, dict[str, str]] = {}
    for name, path in places.items():
        part = next(part for part, start in PARTS.items() if re.match(start, name))
        parts.setdefault(f"{title}: {part}", {})[name] = path
    return "\n".join(answers(heading, ask, found) for heading, found in sorted(parts.items()))


def answers(title: str, ask: Callable[[str], Answers], places: Mapping[str, str]) -> str:
    """The headers that all answers share, then groups of addresses, each below the answers that they share."""
    found = {name: ask(path) for name, path in sorted(places.items())}
    every = set.intersection(*(set(answer.headers) for given in found.values() for answer in given))
    same: dict[str, list[str]] = {}
    for name, given in found.items():
        same.setdefault("".join(answer.text(asked, every) for answer, asked in given.items()), []).append(name)
    text = f"# {title}\n\n" + "".join(f"{name}: {value}\n" for name, value in sorted(every)) + "\n"
    for shown, names in sorted(same.items()):
        text += shown + "".join(f"    {name}\n" for name in names) + "\n"
    return text


def _ask_all(client: httpx.Client, methods: Sequence[str], path: str) -> Answers:
    found: dict[Answer, list[str]] = {}
    for method in methods:
        answer = request(client, method, path)
        found.setdefault(answer, []).append(method)
        if method == "POST" and answer.status != 405:
            found.setdefault(request(client, method, path, site="cross-site"), []).append(FROM_ELSEWHERE)
    return found


def request(client: httpx.Client, method: str, path: str, site: str = "same-origin", **more: Any) -> Answer:
    """The answer to one request, which a browser would mark as caused by a page of `site`; `more` is for httpx."""
    headers = {"sec-fetch-site": site, **more.pop("headers", {})}
    with client.stream(method, path, headers=headers, **more) as response:
        answer = Answer.of(response)
        if not answer.kind.startswith("text/event-stream"):
            response.read()
        return answer


@contextmanager
def serving(app: ASGIApp, limits: IntakePolicy, **more: Any) -> Iterator[httpx.Client]:
    """A client of an application that listens as the services do; `more` is for uvicorn."""
    with without_store_reads(), _listener() as listener, _client(listener) as client:
        # This machine may be a server in front, as X-Forwarded-Proto says.
        options = uvicorn_options(limits, 2 * limits.connections, proxy="127.0.0.1") | more
        limited = ClientLimits(app, limits, Rooms(limits.connections, limits.connections))
        server = uvicorn.Server(uvicorn.Config(limited, **options))
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield client
        finally:
            server.should_exit = True
            thread.join()


def _listener() -> socket.socket:
    return listening(parse_listen_address("127.0.0.1:0"), beyond_loopback=False)


def _client(listener: socket.socket) -> httpx.Client:
    address: Any = listener.getsockname()
    headers = {"accept-encoding": "identity"}
    return httpx.Client(base_url=f"http://127.0.0.1:{address[1]}", headers=headers, timeout=PATIENCE_S)
