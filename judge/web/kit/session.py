"""Identifies authors and organisers by tokens in a header or cookie.

A link has the token after `#`, which browsers do not send. A form exchanges it for a cookie: unreadable for scripts,
and only sent to this site by itself. So addresses, logs and Referer headers contain no tokens.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any, NoReturn

from anyio import CapacityLimiter, to_thread
from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import Scope

from judge.base.errors import InputError
from judge.store.tokens import TokenHolder, Tokens
from judge.store.types import TooMuchError
from judge.submissions.intake import IntakePolicy
from judge.web.kit.answers import UnauthorizedError
from judge.web.kit.forms import form_fields, is_proof, proof_of
from judge.web.kit.networks import RateLimit, client_of

HOST_PREFIX = "__Host-"
"""Start of the cookie's name over TLS: no other host of the domain can set such a cookie."""

CHANGE = "judge: sign in as another author"
"""The new token follows."""


class Authenticator:
    """Identifies authors and organisers, and limits their requests."""

    def __init__(self, tokens: Tokens, limits: IntakePolicy) -> None:
        self.tokens = tokens
        self._strangers = RateLimit(limits.strangers_per_minute)
        self._authors = RateLimit(limits.requests_per_minute)
        self._look_ups = CapacityLimiter(2)

    def author(self, request: Request, token: str) -> str:
        """Author of a token. Raises UnauthorizedError, or TooMuchError for author or address."""
        # A missing token is looked up like a wrong one.
        name = self.tokens.author_of(token)
        if name is None:
            self._refuse(request)
        self._count(request, name)
        return name

    def organiser(self, request: Request, token: str) -> TokenHolder:
        """Raises as `author`."""
        holder = self.tokens.organiser_of(token) if token else None
        if holder is None:
            self._refuse(request)
        self._count(request, f"organiser {holder.name}")
        return holder

    async def is_organiser(self, scope: Scope) -> bool:
        if not (token := ORGANISER.sent(scope)):
            return False
        return await to_thread.run_sync(self.tokens.organiser_of, token, limiter=self._look_ups) is not None

    def _refuse(self, request: Request) -> NoReturn:
        if wait_s := self._strangers.spend_address(client_of(request.scope)):
            raise TooMuchError("too many requests without a valid token", wait_s)
        raise UnauthorizedError("the token is missing or not valid: send Authorization: Bearer TOKEN")

    def _count(self, request: Request, name: str) -> None:
        if wait_s := self._authors.spend(name):
            raise TooMuchError("too many requests with your token", wait_s)
        request.state.author = name


@dataclass(frozen=True, slots=True)
class SessionCookie:
    """A cookie with a token."""

    name: str

    def name_in(self, scope: Scope) -> str:
        if scope["scheme"] != "https":
            return self.name
        folder = re.sub(r"[^A-Za-z0-9]+", "-", scope.get("root_path", "")).strip("-")
        return f"{HOST_PREFIX}{self.name}{f'-{folder}' if folder else ''}"

    def sent(self, scope: Scope) -> str:
        """ "" if missing or ambiguous."""
        found = self._all_sent(scope)
        if len(found) != 1:
            return ""
        try:
            return SimpleCookie(f"x={found.pop()}")["x"].value
        except (CookieError, KeyError):
            return ""

    def check(self, scope: Scope) -> None:
        """Raise InputError for two cookies: one may be another site's."""
        if len(self._all_sent(scope)) > 1:
            raise InputError(
                f"your browser sends two different cookies {self.name_in(scope)}, and another site may have set one of "
                "them: delete the cookies of this site, and sign in again"
            )

    def sign_out(self, request: Request) -> Response:
        answer = RedirectResponse("index.html", 303)
        answer.delete_cookie(**self._attributes(request))
        return answer

    def sign_in(self, request: Request, token: str) -> Response:
        answer = RedirectResponse("index.html", 303)
        answer.set_cookie(value=token, **self._attributes(request))
        return answer

    def _attributes(self, request: Request) -> dict[str, Any]:
        is_tls = request.url.scheme == "https"
        return {
            "key": self.name_in(request.scope),
            "path": "/" if is_tls else f"{request.scope.get('root_path', '')}/",
            "secure": is_tls,
            "httponly": True,
            "samesite": "strict",
        }

    def _all_sent(self, scope: Scope) -> set[str]:
        wanted = self.name_in(scope)
        pairs = [pair.partition("=") for value in Headers(scope=scope).getlist("cookie") for pair in value.split(";")]
        return {text.strip() for name, _, text in pairs if name.strip() == wanted}


AUTHOR = SessionCookie("judge-author")
ORGANISER = SessionCookie("judge-organiser")


async def sign_in(
    request: Request,
    cookie: SessionCookie,
    name_of: Callable[[Request, str], str],
    ask: Callable[[Mapping[str, str]], Response],
) -> Response:
    """Exchange a form's token for the cookie. `ask` confirms that another name's session is replaced.

    Raises the errors of `name_of`, which returns a token's name, and InputError.
    """
    cookie.check(request.scope)
    form = await form_fields(request)
    # As in a pasted link.
    token, current_token = form.get("token", "").strip().rpartition("#")[2], cookie.sent(request.scope)
    try:
        current = await run_in_threadpool(name_of, request, current_token) if current_token else None
    except UnauthorizedError:
        current = None
    new = await run_in_threadpool(name_of, request, token)
    if current not in (None, new) and not is_proof(current_token, CHANGE + token, form.get("confirm", "")):
        proof = proof_of(current_token, CHANGE + token)
        return ask({"current": str(current), "new": new, "token": token, "confirm": proof})
    return cookie.sign_in(request, token)
