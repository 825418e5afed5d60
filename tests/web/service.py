"""The whole service of a contest in this process."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from judge.contest.entries import intake_directory
from judge.contest.plan import load_plan
from judge.contest.window_keeper import PlanFile
from judge.store.tokens import Tokens
from judge.transparency.log import SignedLog
from judge.web.intake.app import AppState
from judge.web.intake.upload import Receiver
from judge.web.kit.session import Authenticator
from judge.web.live.app import Site
from judge.web.live.pages import LivePages
from judge.web.live.running_pages import LivePage
from judge.web.live.serve import create_service, publish_once
from judge.web.organisers.console import Console, opened_console
from tests.publish.cups import Cup

Answer = tuple[int, Mapping[str, str], bytes]

FORM = {"content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin"}
"""Headers of a form that a page of the service sends."""

INLINE = re.compile(rb"<script(?![^>]*\bsrc=)|<[^>]+\s(on\w+|style)=")
"""Scripts and styles that the policy of the pages forbids."""


@contextmanager
def service_of(folder: Path) -> Iterator[tuple[ASGIApp, Console]]:
    with ExitStack() as stack:
        planned = load_plan(folder)
        directory = intake_directory(planned)
        register = stack.enter_context(closing(directory.register()))
        tokens = stack.enter_context(closing(Tokens(directory.store_url, directory.contest)))
        practice = stack.enter_context(closing(directory.practice_games()))
        notices = stack.enter_context(closing(directory.notices()))
        log = stack.enter_context(closing(SignedLog(directory.store_url, directory.contest, directory.folder)))
        receiver = Receiver(directory, register)
        authors = Authenticator(tokens, directory.intake)
        state = AppState(directory, register, authors, receiver, log, practice, notices)

        def begun() -> LivePages | None:
            if not register.has_begun():
                return None
            pages = stack.enter_context(closing(LivePages(planned, has_authors=True)))
            pages.hub.catch_up()
            return pages

        site = Site(begun, PlanFile(planned), register=register)
        console = stack.enter_context(opened_console(planned, state, publish_once))
        yield create_service(planned, site, console), console


@contextmanager
def live_pages(cup: Cup) -> Iterator[LivePages]:
    """The pages of a contest, whose hub has read all events so far."""
    with closing(LivePages(cup.planned)) as pages:
        pages.hub.catch_up()
        yield pages


def read(pages: LivePages, path: str) -> LivePage:
    found = pages.get(path)
    assert found is not None, path
    return found


def scope_of(
    method: str, path: str, headers: Sequence[tuple[str, str]] = (), query: str = "", client: str = "127.0.0.1"
) -> dict[str, Any]:
    """A request, as a server describes it to an application."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("utf-8", "replace"),
        "query_string": query.encode("utf-8", "replace"),
        "root_path": "",
        "headers": [(k.lower().encode("latin-1", "replace"), v.encode("latin-1", "replace")) for k, v in headers],
        "client": (client, 1000),
        "server": ("127.0.0.1", 80),
        "state": {},
    }


async def call(
    service: ASGIApp,
    method: str,
    path: str,
    headers: Mapping[str, str] | Sequence[tuple[str, str]],
    query: str = "",
    body: bytes = b"",
    client: str = "127.0.0.1",
) -> Answer:
    """One request to an ASGI application, as a server would give it; a header may come twice.

    No page has an inline script or style.
    """
    sent: list[Any] = []
    asked = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        if not asked:
            await asyncio.Event().wait()  # the client stays
        return asked.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    pairs = list(headers.items()) if isinstance(headers, Mapping) else headers
    await service(scope_of(method, path, pairs, query, client), receive, send)
    found = {k.decode("latin-1"): v.decode("latin-1") for k, v in sent[0]["headers"]}
    answer = b"".join(message.get("body", b"") for message in sent[1:])
    assert not found.get("content-type", "").startswith("text/html") or not INLINE.search(answer), path
    return sent[0]["status"], found, answer


def ask(service: ASGIApp, method: str, path: str, cookie: str = "", body: bytes = b"", **headers: str) -> Answer:
    """As `call`, outside of an event loop; the path may have a query."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()} | ({"cookie": cookie} if cookie else {})
    path, _, query = path.partition("?")
    return asyncio.run(call(service, method, path, sent, query, body))
