"""The HTTP paths of the organisers' pages.

Without an organiser's token every path gives the same answer, whether it exists or not. A page only reads; an order is
a form that a page has shown with what it will change, and is carried out once, however often it comes.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, Query, Request
from fastapi import Path as PathPart
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from starlette.concurrency import run_in_threadpool

from judge.base.errors import InputError
from judge.base.logs import get_logger
from judge.base.tree_tar import tree_chunks
from judge.site.pages import AUTHOR_POLICY, PagePlace, render
from judge.store.orders import OrganiserOrder, new_order_id
from judge.store.submission_types import UnknownSubmissionError
from judge.store.tokens import TokenHolder, TokenRole
from judge.web.intake.app import LARGEST_ID, stored_file
from judge.web.kit.authentication import UnauthorizedError
from judge.web.kit.errors import STATUS, handle_errors
from judge.web.kit.middleware import HEADERS as INTAKE_HEADERS
from judge.web.kit.session import (
    check_cookie,
    check_site,
    confirms_change,
    proof_of_change,
    sent_cookie,
    sent_form,
    sent_token,
    sign_in,
    sign_out,
)
from judge.web.organisers import views
from judge.web.organisers.actions import ACTIONS, Preview, action_of
from judge.web.organisers.console import Console
from judge.web.organisers.files import export_of
from judge.web.organisers.session import COOKIE, MayNotActError, check_may_act, check_proof, organiser_of, proof_of

FOLDER = "organiser"

PATHS = (FOLDER,)
"""The first words of its paths."""

HEADERS = {
    **INTAKE_HEADERS,
    "content-security-policy": f"{AUTHOR_POLICY}; frame-ancestors 'none'",
    # With no-referrer a form has the origin `null`, which cannot be compared. No other site gets a referrer.
    "referrer-policy": "same-origin",
}
"""Headers of every answer."""

REASON_CHARACTERS = 1000
TARGET_CHARACTERS = 128

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

_ORDER_ID = re.compile(r"[0-9a-f]{32}")

log = get_logger()

Number = Annotated[int, PathPart(ge=1, le=LARGEST_ID)]
ExportPart = Annotated[Literal["public", "private"], PathPart()]
ActionQuery = Annotated[str, Query(max_length=32)]
Target = Annotated[str, Query(max_length=TARGET_CHARACTERS)]


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who looks at a page, with what the token was."""

    organiser: TokenHolder
    token: str

    @property
    def may_act(self) -> bool:
        """Whether orders can be given."""
        return self.organiser.role is TokenRole.ACT


class _Pages:
    """Renders the pages of one contest."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def page(
        self, template: str, path: str, visitor: Visitor | None, values: Mapping[str, Any], status: int = 200
    ) -> Response:
        """A page at a path below the folder."""
        place = PagePlace(f"{FOLDER}/{path}")
        common = {
            "here": "",
            "contest_name": self._console.planned.name,
            "has_authors": True,
            "policy": AUTHOR_POLICY,
            "folder": f"{place.root}{FOLDER}/",
            "visitor": visitor,
            "may_act": visitor is not None and visitor.may_act,
        }
        data = render(template, place, {**common, **values}, package=__package__)
        return Response(data, status, media_type="text/html; charset=utf-8")

    def sign_in(self, request: Request, status: int) -> Response:
        """The one answer to everybody who is no organiser; the first page is for everybody."""
        return self.page("organiser_sign_in.html", _path_of(request), None, {}, status)

    def refused(self, request: Request, visitor: Visitor | None, error: InputError, status: int) -> Response:
        """Why something was not done."""
        return self.page("organiser_refused.html", _path_of(request), visitor, {"error": str(error)}, status)


def create_app(console: Console, health: views.HealthCheck | None = None) -> FastAPI:
    """The application. Its paths run in threads, so that none blocks another."""
    app = FastAPI(title="judge organisers", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    handle_errors(app)
    pages = _Pages(console)

    def visitor(request: Request) -> Visitor:
        token = sent_cookie(request.scope, COOKIE)
        found = Visitor(organiser_of(console.state.authors, console.tokens, request, token), token)
        request.state.visitor = found
        return found

    @app.exception_handler(UnauthorizedError)
    async def _stranger(request: Request, _error: UnauthorizedError) -> Response:
        is_first = request.method == "GET" and _path_of(request) == "index.html"
        return pages.sign_in(request, 200 if is_first else 401)

    @app.exception_handler(InputError)
    async def _refused(request: Request, error: InputError) -> Response:
        status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
        status = 403 if isinstance(error, MayNotActError) else status
        return pages.refused(request, getattr(request.state, "visitor", None), error, status)

    _add_session(app, console, pages)
    _add_pages(app, console, pages, visitor, health or views.HealthCheck())
    _add_orders(app, console, pages, visitor)

    @app.get(f"/{FOLDER}", include_in_schema=False)
    @app.get(f"/{FOLDER}/", include_in_schema=False)
    def top(request: Request) -> Response:
        """The first page."""
        return RedirectResponse(f"{request.scope.get('root_path', '')}/{FOLDER}/index.html", 307)

    @app.api_route(f"/{FOLDER}/{{path:path}}", methods=METHODS, include_in_schema=False)
    def nothing(_: Annotated[Visitor, Depends(visitor)]) -> Response:
        """Whatever is not there."""
        raise UnknownSubmissionError("there is no such page")

    return app


def _path_of(request: Request) -> str:
    """The path of the request below the folder; how deep it is decides what its links lead to."""
    path = request.url.path.removeprefix(f"{request.scope.get('root_path', '')}/{FOLDER}").lstrip("/")
    return path or "index.html"


def _add_session(app: FastAPI, console: Console, pages: _Pages) -> None:
    @app.post(f"/{FOLDER}/session")
    async def begin(request: Request) -> Response:
        """Sign in: exchange the token for the cookie. Over the session of another organiser it asks first."""
        check_site(request)
        check_cookie(request.scope, COOKIE)
        form = await sent_form(request)
        token, current_token = sent_token(form), sent_cookie(request.scope, COOKIE)
        current = await run_in_threadpool(console.tokens.organiser_of, current_token) if current_token else None
        new = await run_in_threadpool(organiser_of, console.state.authors, console.tokens, request, token)
        is_change = current is not None and current.name != new.name
        if is_change and not confirms_change(current_token, token, form.get("confirm", "")):
            values = {"current": current, "new": new.name, "token": token}
            values["confirm"] = proof_of_change(current_token, token)
            return pages.page("organiser_change.html", _path_of(request), None, values, 409)
        answer = RedirectResponse("index.html", 303)
        sign_in(request, answer, token, COOKIE, FOLDER)
        return answer

    @app.post(f"/{FOLDER}/sign-out")
    def end(request: Request) -> Response:
        """Sign out."""
        check_site(request)
        answer = RedirectResponse("index.html", 303)
        sign_out(request, answer, COOKIE, FOLDER)
        return answer


def _add_pages(
    app: FastAPI, console: Console, pages: _Pages, visitor: Callable[[Request], Visitor], health: views.HealthCheck
) -> None:
    # Not written with `from __future__`: FastAPI reads the annotation where it stands.
    someone = Annotated[Visitor, Depends(visitor)]

    @app.get(f"/{FOLDER}/index.html")
    def index(who: someone) -> Response:
        """What the contest does now."""
        return pages.page("organiser.html", "index.html", who, views.overview(console))

    @app.get(f"/{FOLDER}/games.html")
    def games(who: someone, after: Annotated[int, Query(ge=0, le=LARGEST_ID)] = 0) -> Response:
        """The schedule."""
        return pages.page("organiser_games.html", "games.html", who, views.games(console, after))

    @app.get(f"/{FOLDER}/submissions.html")
    def submissions(who: someone, before: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None) -> Response:
        """The submissions."""
        return pages.page("organiser_submissions.html", "submissions.html", who, views.submissions(console, before))

    @app.get(f"/{FOLDER}/submissions/{{number}}.html")
    def submission(who: someone, number: Number) -> Response:
        """A submission, its report and its history."""
        values = views.submission(console, number)
        return pages.page("organiser_submission.html", f"submissions/{number}.html", who, values)

    @app.get(f"/{FOLDER}/submissions/{{number}}.log")
    def submission_log(_: someone, number: Number) -> Response:
        """The log of a submission."""
        data = stored_file(console.state.directory, console.state.register.get(number).log, "log")
        return _download(data, "text/plain; charset=utf-8", f"submission-{number}.log")

    @app.get(f"/{FOLDER}/submissions/{{number}}.json")
    def submission_report(_: someone, number: Number) -> Response:
        """The report of a submission."""
        data = stored_file(console.state.directory, console.state.register.get(number).report, "report")
        return _download(data, "application/json", f"submission-{number}.json")

    @app.get(f"/{FOLDER}/health.html")
    def host(who: someone) -> Response:
        """What the machine can enforce, and what is left of it."""
        return pages.page("organiser_health.html", "health.html", who, health.values(console))

    @app.get(f"/{FOLDER}/journal.html")
    def journal(who: someone, before: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None) -> Response:
        """The contest's log."""
        return pages.page("organiser_journal.html", "journal.html", who, views.journal(console, before))

    @app.get(f"/{FOLDER}/exports/{{number}}/{{part}}.tar")
    def exported(who: someone, number: Annotated[str, PathPart(max_length=64)], part: ExportPart) -> Response:
        """An export as one file: what is for everybody, or what is for the authors."""
        if part == "private":
            check_may_act(who.organiser)
        if not _ORDER_ID.fullmatch(number):
            raise UnknownSubmissionError("there is no such export")
        name = f"export-{number[:8]}-{part}"
        chunks = tree_chunks(export_of(console, number, part), name)
        headers = {"content-disposition": f'attachment; filename="{name}.tar"'}
        return StreamingResponse(chunks, media_type="application/x-tar", headers=headers)

    @app.get(f"/{FOLDER}/orders.html")
    def orders(who: someone) -> Response:
        """What was ordered."""
        return pages.page("organiser_orders.html", "orders.html", who, views.orders(console))


def _download(data: bytes, kind: str, name: str) -> Response:
    return Response(data, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


def _add_orders(app: FastAPI, console: Console, pages: _Pages, visitor: Callable[[Request], Visitor]) -> None:
    someone = Annotated[Visitor, Depends(visitor)]

    @app.get(f"/{FOLDER}/order.html")
    def form(who: someone, action: ActionQuery, target: Target = "") -> Response:
        """What an order would change, and the form that gives it."""
        preview = action_of(action).preview(console, target)
        return pages.page("organiser_order.html", "order.html", who, _form_values(who, action, target, preview))

    @app.post(f"/{FOLDER}/orders")
    async def give(request: Request, who: someone) -> Response:
        """Carry out an order, once."""
        check_site(request)
        check_may_act(who.organiser)
        sent = await sent_form(request)
        check_proof(who.token, sent.get("proof", ""))
        order, attempt = _order_of(sent, who.organiser)
        done = await run_in_threadpool(ACTIONS[order.action].carry_out, console, order, attempt)
        log.info(
            "order",
            organiser=who.organiser.name,
            action=order.action,
            target=order.target,
            why=order.why,
            done=done.done,
            repeated=done.is_repeated,
        )
        return RedirectResponse(f"orders/{order.id}.html", 303)

    @app.get(f"/{FOLDER}/orders/{{number}}.html")
    def done(who: someone, number: Annotated[str, PathPart(max_length=64)]) -> Response:
        """What was done."""
        found = console.orders.get(number) if _ORDER_ID.fullmatch(number) else None
        if found is None:
            raise UnknownSubmissionError("there is no such order")
        return pages.page("organiser_done.html", f"orders/{number}.html", who, {"done": found})


def _form_values(who: Visitor, action: str, target: str, preview: Preview) -> Mapping[str, Any]:
    return {
        "action": action,
        "label": ACTIONS[action].label,
        "target": target,
        "preview": preview,
        "order_id": new_order_id(),
        "proof": proof_of(who.token),
        "most": REASON_CHARACTERS,
    }


def _order_of(sent: Mapping[str, str], who: TokenHolder) -> tuple[OrganiserOrder, int]:
    """The order of a form, and the attempt of the game that it is about. Raises InputError."""
    action, target, number = (sent.get(name, "") for name in ("action", "target", "id"))
    why, attempt = " ".join(sent.get("why", "").split()), sent.get("attempt", "0")
    action_of(action)
    if not _ORDER_ID.fullmatch(number):
        raise InputError("this form has no number: open it again")
    if not why:
        raise InputError("the reason is missing: it is stored in the log")
    if len(why) > REASON_CHARACTERS:
        raise InputError(f"the reason has more than {REASON_CHARACTERS} characters")
    if len(target) > TARGET_CHARACTERS or not (attempt.isascii() and attempt.isdigit() and len(attempt) < 9):
        raise InputError("this form was changed: open it again")
    return OrganiserOrder(who.name, action, target, why, number), int(attempt)
