"""The answers of the authors' pages, the organisers' pages and the intake to each role, and session cookies."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import httpx

from judge.store.tokens import TokenRole
from tests.golden.routes import (
    AUTHORS,
    ORGANISERS,
    Answer,
    Answers,
    addresses,
    answers,
    answers_by_part,
    application,
    request,
    serving,
)
from tests.web.authors.desk import served
from tests.web.service import service_of

Roles = Mapping[str, Mapping[str, str]]
"""By the name of a role, its headers."""

STORED = {"00001.attempt-1": "00002.attempt-1", "practice/00001.seat-0": "practice/00001.seat-1"}
"""Replacements in addresses: the attempt that is void, and the seat of the author's agent in a practice game."""

SESSIONS = ("/author/session", "/{code}/author/session", "/organiser/session")


def access_text(folder: Path) -> str:
    """The answers to GET with the credentials of each role, to forms of another site, and to a token at sign-in.

    Each of two authors has submissions, a practice game and an agent that played. The addresses belong to the first.
    """
    with served(folder) as desk, service_of(folder) as (service, console):
        acting = console.state.authors.tokens.make("Olga", "test", TokenRole.ORGANISER)
        watching = console.state.authors.tokens.make("Walt", "test", TokenRole.WATCH)
        first, second = desk.tokens.values()
        roles = {
            "visitor": {},
            "author": _credentials("author", first),
            "other-author": _credentials("author", second),
            "watching-organiser": _credentials("organiser", watching),
            "acting-organiser": _credentials("organiser", acting),
        }
        shown = {
            name: _stored(path)
            for name, path in addresses((*AUTHORS, *ORGANISERS), application(console)).items()
            if name.startswith(("/author", "/{code}/author", "/organiser", "/submissions"))
        }
        with serving(service, console.planned.plan.intake) as client:
            forms = {
                name: path
                for name, path in shown.items()
                if not name.startswith("/submissions") and request(client, "POST", path).status != 405
            }
            text = answers_by_part("GET", partial(_ask, client, "GET", roles, "same-origin"), shown)
            title = "POST from another site"
            text += "\n" + answers_by_part(title, partial(_ask, client, "POST", roles, "cross-site"), forms)
            for title, token, patterns in (("authors", first, SESSIONS[:2]), ("organisers", acting, SESSIONS[2:])):
                signs_in = partial(_sign_in, client, token)
                text += "\n" + answers(f"sign in: {title}", signs_in, addresses(patterns))
            return text


def _stored(path: str) -> str:
    for text, stored in STORED.items():
        path = path.replace(text, stored)
    return path


def _credentials(role: str, token: str) -> Mapping[str, str]:
    return {"cookie": f"judge-{role}={token}", "authorization": f"Bearer {token}"}


def _ask(client: httpx.Client, method: str, roles: Roles, site: str, path: str) -> Answers:
    found: dict[Answer, list[str]] = {}
    for role, headers in roles.items():
        found.setdefault(request(client, method, path, site, headers=headers), []).append(role)
    return found


def _sign_in(client: httpx.Client, token: str, path: str) -> Answers:
    found: dict[Answer, list[str]] = {}
    for scheme in ("http", "https"):
        headers = {"x-forwarded-proto": scheme}
        found.setdefault(request(client, "POST", path, headers=headers, data={"token": token}), []).append(scheme)
    return found
