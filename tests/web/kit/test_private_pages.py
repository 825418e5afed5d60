"""The shared frame of private pages, in a separate application with pages for guests.

The answers of all their addresses, also to forms of another site, are in tests/golden/access.txt.
"""

import re
from collections.abc import Mapping
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import PlainTextResponse, Response
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.contest.plan import Plan
from judge.tournament.formats.ladder import Ladder
from judge.tournament.formats.round_robin import RoundRobin
from judge.tournament.snapshot import Snapshot
from judge.translations.language import CODES
from judge.web.kit.answers import UnauthorizedError, new_app
from judge.web.kit.session import PrivatePages, SessionCookie, contest_values
from tests.contest.cups import snapshot
from tests.examples import examples
from tests.web import service
from tests.web.service import FORM, Answer, scope_of

GUESTS = PrivatePages("guests", "judge.web.authors", SessionCookie("guest"))
NAMES = {"token-of-ada": "ada", "token-of-eve": "eve"}
LADDER = Ladder(name="ladder", total_games=4)
PLAN = Plan(name="cup", policy="gomocup-freestyle", format=RoundRobin(name="round-robin"))


def asked(path: str, root_path: str = "", query: str = "") -> Request:
    return Request({**scope_of("GET", root_path + path, query=query), "root_path": root_path})


@pytest.mark.parametrize("root_path", ["", "/cups/spring"])
@pytest.mark.parametrize("code", CODES)
def test_folder_is_its_first_page_in_each_language(code: str, root_path: str) -> None:
    folder = "/guests" if code == CODES[0] else f"/{code}/guests"
    assert folder[1:] in GUESTS.paths
    for path in (folder, f"{folder}/", f"{folder}/index.html"):
        request = asked(path, root_path)
        place = GUESTS.place(request)
        assert ("guests/index.html", code) == (place.path, place.language.code)
        assert GUESTS.is_first(request)
    for path in (f"{folder}/games.html", f"{folder}/games/index.html", f"{folder}s", "/index.html"):
        assert not GUESTS.is_first(asked(path, root_path))


def test_page_leads_to_itself_in_all_languages_with_its_query() -> None:
    request = asked("/cs/guests/games/1.html", query='show=failed&x="><b>')
    page = GUESTS.page("author_sign_in.html", request, {"here": "", **contest_values(None, PLAN)}, 401)
    text = bytes(page.body).decode()
    address = "guests/games/1.html?show=failed&amp;x=&#34;&gt;&lt;b&gt;"
    expected = [f"../../../{'' if code == CODES[0] else f'{code}/'}{address}" for code in CODES]

    assert 401 == page.status_code
    assert expected == re.findall(r'<a href="([^"]*)" lang=', text)
    assert 'action="../../guests/session"' in text


@pytest.mark.parametrize("begun", [None, snapshot(RoundRobin(name="round-robin"), 2), snapshot(LADDER, 2)])
def test_contest_is_that_of_the_file_until_it_begins(begun: Snapshot | None) -> None:
    found = contest_values(begun, PLAN.model_copy(update={"title": "Spring"}))
    assert (begun is None) is found["is_coming"]
    assert ("Spring" if begun is None else begun.shown_name) == found["contest_name"]
    assert (begun is None or begun.format.has_rounds) is found["has_rounds"]


@pytest.fixture
def looked_up() -> list[str]:
    """The tokens whose names were asked for."""
    return []


@pytest.fixture
def app(looked_up: list[str]) -> FastAPI:
    """With an open page before the private ones, and a form that no other site may send."""
    public, private = APIRouter(prefix="/guests"), APIRouter(prefix="/guests")

    def name_of(_: Request, token: str) -> str:
        looked_up.append(token)
        if token not in NAMES:
            raise UnauthorizedError("unknown")
        return NAMES[token]

    def send(template: str, _: Request, values: Mapping[str, Any], status: int) -> Response:
        return PlainTextResponse(f"{template}: {values['current']} or {values['new']}", status)

    public.add_api_route("/open.html", lambda: PlainTextResponse("open"))
    GUESTS.add_session_paths(private, name_of, send, "change.html")
    private.add_api_route("/{path:path}", lambda: PlainTextResponse("private"))
    app = new_app("guests", "")
    GUESTS.add_to(app, public, private)
    return app


def ask(app: FastAPI, method: str, path: str, token: str = "", **more: str) -> Answer:
    headers = {"content-type": FORM["content-type"], **more}
    return service.ask(app, method, path, f"guest={token}" if token else "", b"token=token-of-ada", **headers)


@pytest.mark.parametrize("folder", [f"/{path}" for path in GUESTS.paths])
def test_pages_of_the_first_router_come_first_in_each_language(app: FastAPI, folder: str) -> None:
    assert [b"open", b"private"] == [ask(app, "GET", f"{folder}/{name}.html")[2] for name in ("open", "other")]
    for path in (folder, f"{folder}/"):
        status, headers, _ = ask(app, "GET", path)
        assert (307, f"{folder}/index.html") == (status, headers["location"])
    assert {} == app.openapi()["paths"]


@pytest.mark.parametrize("path", ["/guests/session", "/cs/guests/session", "/guests/sign-out", "/cs/guests/sign-out"])
def test_form_of_another_site_changes_and_looks_up_nothing(app: FastAPI, looked_up: list[str], path: str) -> None:
    for foreign in ({"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example", "host": "here"}):
        status, headers, answer = ask(app, "POST", path, "token-of-eve", **foreign)
        assert (422, False, True) == (status, "set-cookie" in headers, b"another site" in answer)
    assert [] == looked_up
    assert "set-cookie" in ask(app, "POST", path, **{"sec-fetch-site": "same-origin"})[1]


def test_question_before_another_session_is_the_given_page(app: FastAPI) -> None:
    status, headers, answer = ask(app, "POST", "/guests/session", "token-of-eve")
    assert (409, False, b"change.html: eve or ada") == (status, "set-cookie" in headers, answer)


PATHS = st.lists(st.text(st.sampled_from("ab12-._~*%/+ ;=é"), min_size=1, max_size=12) | st.just("a" * 400), max_size=4)


@given(one=PATHS, other=PATHS)
@settings(max_examples=examples(300))
def test_cookies_of_different_folders_have_different_names(one: list[str], other: list[str]) -> None:
    for scheme in ("http", "https"):
        scopes = [
            {**scope_of("GET", "/"), "scheme": scheme, "root_path": "".join(f"/{part}" for part in parts)}
            for parts in (one, other)
        ]
        names = {GUESTS.cookie.name_in(scope) for scope in scopes}
        assert len({scope["root_path"] for scope in scopes}) == len(names)
        for name in names:
            assert re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", name)  # a token of RFC 6265
            assert len(name) < 1100
            assert name.startswith("__Host-guest" if scheme == "https" else "guest")
