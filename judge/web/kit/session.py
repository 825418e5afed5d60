"""Sessions of authors and organisers: tokens in a header or cookie, forms that no other site sends, and pages in all
languages.

A link has the token after `#`, which browsers do not send. A form exchanges it for a cookie: unreadable for scripts,
and only sent to this site by itself. So addresses, logs and Referer headers contain no tokens.
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Annotated, Any, NoReturn
from urllib.parse import parse_qs, quote, urlsplit

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import Scope

from judge.base.errors import InputError
from judge.contest.plan import Plan
from judge.site.pages import AUTHOR_POLICY, PagePlace, render
from judge.store.tokens import TokenHolder, Tokens
from judge.store.types import TooMuchError
from judge.submissions.intake import IntakePolicy
from judge.tournament.snapshot import Snapshot
from judge.translations.language import CODES
from judge.web.kit.answers import UnauthorizedError, html
from judge.web.kit.networks import RateLimit, client_of

HOST_PREFIX = "__Host-"
"""Start of the cookie's name over TLS: no other host of the domain can set such a cookie."""

MAX_FOLDER_CHARACTERS = 1024
"""Of a path in a cookie's name. Browsers take 4096 bytes for a cookie with its attributes."""

CHANGE = "judge: sign in as another author"
"""The new token follows."""

MAX_FORM_BYTES = 8192
MAX_FIELDS = 16


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
        """Different for each contest of a host: browsers send the cookies of all ports, and over TLS of all paths."""
        # RFC 6265 allows all characters of a quoted path.
        folder = quote(scope.get("root_path", "").removeprefix("/"), safe="")
        if len(folder) > MAX_FOLDER_CHARACTERS:
            folder = f"*{hashlib.sha256(folder.encode()).hexdigest()}"
        prefix = HOST_PREFIX if scope["scheme"] == "https" else ""
        return f"{prefix}{self.name}{f'-{folder}' if folder else ''}"

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
        return await run_in_threadpool(ask, {"current": str(current), "new": new, "token": token, "confirm": proof})
    return cookie.sign_in(request, token)


# --- forms ------------------------------------------------------------------------------------------------------------


async def form_fields(request: Request) -> Mapping[str, str]:
    """First field of each name. Raises InputError."""
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_FORM_BYTES:
            raise InputError(f"the form has more than {MAX_FORM_BYTES} bytes: send less text")
    try:
        fields = parse_qs(data.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        raise InputError(f"the form has more than {MAX_FIELDS} fields") from None
    return {name: values[0] for name, values in fields.items()}


def check_site(request: Request) -> None:
    """Raise InputError for a request that another site caused."""
    foreign = InputError("this form was sent from another site: open the page of the contest, and send it there")
    site = request.headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        raise foreign
    # Older browsers, and all over plain HTTP, omit Sec-Fetch-Site. An origin `null` may be any page without a referrer.
    origins = [origin for origin in request.headers.getlist("origin") if origin != "null" or site is None]
    if any(not _is_own(origin, request) for origin in origins):
        raise foreign


def _is_own(origin: str, request: Request) -> bool:
    """A proxy may name the host without the port."""
    try:
        sent, host = urlsplit(origin), urlsplit(f"//{request.headers.get('host', '')}")
        default = {"https": 443, "http": 80}.get(sent.scheme)
        is_same_port = host.port is None or host.port == (sent.port or default)
    except ValueError:
        return False
    is_downgraded = request.url.scheme == "https" and sent.scheme != "https"
    return bool(sent.hostname) and sent.hostname == host.hostname and is_same_port and not is_downgraded


def proof_of(token: str, purpose: str) -> str:
    """Only pages sent to the token's owner contain it."""
    return hmac.new(token.encode("utf-8", "replace"), purpose.encode("utf-8", "replace"), "sha256").hexdigest()


def is_proof(token: str, purpose: str, proof: str) -> bool:
    """Whether a proof is valid for this purpose."""
    return hmac.compare_digest(proof_of(token, purpose).encode(), proof.encode("utf-8", "replace"))


# --- pages ------------------------------------------------------------------------------------------------------------

SendPage = Callable[[str, Request, Mapping[str, Any], int], Response]
"""Renders a template for a request, with values and a status."""


def contest_values(snapshot: Snapshot | None, plan: Plan) -> Mapping[str, Any]:
    """Values about the contest that each page needs: of its `snapshot`, or before it begins of its file."""
    return {
        "contest_name": (plan.title or plan.name) if snapshot is None else snapshot.shown_name,
        "has_rounds": snapshot is None or snapshot.format.has_rounds,
        "is_coming": snapshot is None,
    }


async def from_own_site(request: Request) -> None:
    """Raise InputError for a form of another site."""
    check_site(request)


FORM = [Depends(from_own_site)]

Fields = Annotated[Mapping[str, str], Depends(form_fields)]
"""The fields of a sent form."""


@dataclass(frozen=True, slots=True)
class PrivatePages:
    """Pages in a folder of each language, for the holders of a cookie. `package` has their templates."""

    folder: str
    package: str
    cookie: SessionCookie

    @property
    def paths(self) -> tuple[str, ...]:
        """The folder in each language."""
        return (self.folder, *(f"{code}/{self.folder}" for code in CODES[1:]))

    def place(self, request: Request) -> PagePlace:
        """The place of the requested page; of the folder that of its first page."""
        path = request.url.path.removeprefix(f"{request.scope.get('root_path', '')}/")
        path = f"{path.rstrip('/')}/index.html" if path.rstrip("/") in self.paths else path
        return PagePlace.of_file(path, query=request.url.query)

    def is_first(self, request: Request) -> bool:
        return self.place(request).path == f"{self.folder}/index.html"

    def page(self, template: str, request: Request, values: Mapping[str, Any], status: int = 200) -> Response:
        place = self.place(request)
        common = {"has_authors": True, "policy": AUTHOR_POLICY, "folder": f"{place.root}{self.folder}/"}
        return html(render(template, place, {**common, **values}, package=self.package), status)

    def add_session_paths(
        self, router: APIRouter, name_of: Callable[[Request, str], str], send: SendPage, change: str
    ) -> None:
        """Add signing in and out, and the first page. `change` asks before another name's session is replaced."""

        @router.post("/session", dependencies=FORM)
        async def begin(request: Request) -> Response:
            return await sign_in(request, self.cookie, name_of, lambda values: send(change, request, values, 409))

        @router.post("/sign-out", dependencies=FORM)
        def end(request: Request) -> Response:
            return self.cookie.sign_out(request)

        @router.get("", include_in_schema=False)
        @router.get("/", include_in_schema=False)
        def top(request: Request) -> Response:
            return RedirectResponse(f"{request.url.path.rstrip('/')}/index.html", 307)

    def add_to(self, app: FastAPI, *routers: APIRouter) -> None:
        for code in CODES:
            for router in routers:
                app.include_router(router, prefix="" if code == CODES[0] else f"/{code}", include_in_schema=False)
