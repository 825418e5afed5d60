"""HTTP paths of the organisers' pages.

Without an organiser's token all paths get the same answer. A form shows an order's changes, and is carried out
once.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI, Query, Request
from fastapi import Path as PathPart
from fastapi.responses import RedirectResponse, Response, StreamingResponse

from judge.base.errors import InputError
from judge.base.text import sentence
from judge.base.tree_tar import tree_chunks
from judge.contest.settings import FINAL, TIMES, Settings, change_settings
from judge.store.orders import OrganiserOrder, new_order_id
from judge.store.tokens import TokenHolder, TokenRole
from judge.store.types import NotFoundError
from judge.web.intake.app import MAX_ID, Number, stored_file
from judge.web.kit.answers import MayNotActError, UnauthorizedError, attachment, download, route_with_errors, status_of
from judge.web.kit.session import ORGANISER, PrivatePages, check_site, contest_values, form_fields, is_proof, proof_of
from judge.web.organisers import views
from judge.web.organisers.console import ACTIONS, Console, FileOrder, export_of, log_order, order_of

SITE = PrivatePages("organiser", __package__, ORGANISER)
REASON_CHARACTERS = 1000
TARGET_CHARACTERS = 128

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

ORDER_FORM = "judge: a form of an organiser"

LABELS = {"settings": sentence("Change the settings")}
"""Of orders with their own forms."""

_ORDER_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Visitor:
    """A signed-in organiser."""

    request: Request
    organiser: TokenHolder
    token: str
    console: Console

    @property
    def may_act(self) -> bool:
        return self.organiser.role is TokenRole.ORGANISER

    def check_may_act(self) -> None:
        """Raise MayNotActError if the token only permits watching."""
        if not self.may_act:
            raise MayNotActError("your access is read-only: ask for a token with --role organiser to give orders")

    def page(self, template: str, values: Mapping[str, Any], status: int = 200) -> Response:
        return _page(template, self.request, values, status, self)


def _console_of(request: Request) -> Console:
    console: Console = request.app.state.console
    return console


def _name_of(request: Request, token: str) -> str:
    return _console_of(request).state.authors.organiser(request, token).name


def visitor_of(request: Request) -> Visitor:
    """Organiser of a request. Raises UnauthorizedError, TooMuchError."""
    console, token = _console_of(request), ORGANISER.sent(request.scope)
    visitor = Visitor(request, console.state.authors.organiser(request, token), token, console)
    request.state.visitor = visitor
    return visitor


def _page(
    template: str, request: Request, values: Mapping[str, Any], status: int = 200, visitor: Visitor | None = None
) -> Response:
    console = _console_of(request)
    contest = console.contest()
    common = {
        "here": "",
        "actions": ACTIONS,
        "tab": "",
        **contest_values(None if contest is None else contest.snapshot, console.file.plan),
        "visitor": visitor,
        "may_act": visitor is not None and visitor.may_act,
    }
    return SITE.page(template, request, {**common, **values}, status)


def _refused(request: Request, error: InputError) -> Response:
    if isinstance(error, UnauthorizedError):
        is_first = request.method == "GET" and SITE.is_first(request)
        return _page("organiser_sign_in.html", request, {}, 200 if is_first else 401)
    visitor = getattr(request.state, "visitor", None)
    return _page("organiser_refused.html", request, {"error": str(error)}, status_of(error), visitor)


router = APIRouter(prefix=f"/{SITE.folder}", route_class=route_with_errors(_refused, InputError))

Someone = Annotated[Visitor, Depends(visitor_of)]
OrderId = Annotated[str, PathPart(max_length=64)]
After = Annotated[int, Query(ge=0, le=MAX_ID)]
Before = Annotated[int | None, Query(ge=1, le=MAX_ID)]


def add_paths(app: FastAPI, console: Console) -> None:
    """Add the pages to an application."""
    app.state.console = console
    SITE.add_to(app, router)


SITE.add_session_paths(router, _name_of, _page, "organiser_change.html")


@router.get("/index.html")
def index(who: Someone) -> Response:
    """Show the contest's state."""
    return who.page("organiser.html", {"tab": "index", **views.overview(who.console)})


@router.get("/games.html")
def games(
    who: Someone,
    after: After = 0,
    agent: Annotated[str, Query(max_length=TARGET_CHARACTERS)] = "",
    show: Annotated[str, Query(max_length=16)] = "",
) -> Response:
    """Show the games with their results."""
    return who.page("organiser_games.html", {"tab": "games", **views.games(who.console, after, agent, show)})


@router.get("/submissions.html")
def submissions(who: Someone, before: Before = None) -> Response:
    """Show the submissions."""
    return who.page("organiser_submissions.html", {"tab": "submissions", **views.submissions(who.console, before)})


@router.get("/authors.html")
def authors(who: Someone) -> Response:
    """Show the authors and their notices."""
    return who.page("organiser_authors.html", {"tab": "authors", **views.authors(who.console)})


@router.get("/submissions/{number}.html")
def submission(who: Someone, number: Number) -> Response:
    """Show a submission."""
    return who.page("organiser_submission.html", {"tab": "submissions", **views.submission(who.console, number)})


@router.get("/submissions/{number}.log")
def submission_log(who: Someone, number: Number) -> Response:
    """A submission's log."""
    state = who.console.state
    return download(stored_file(state.directory, state.register.get(number).log, "log"), f"submission-{number}.log")


@router.get("/submissions/{number}.json")
def submission_report(who: Someone, number: Number) -> Response:
    """A submission's report."""
    state = who.console.state
    return download(
        stored_file(state.directory, state.register.get(number).report, "report"), f"submission-{number}.json"
    )


@router.get("/health.html")
def host(who: Someone) -> Response:
    """Show the machine's capabilities and resources."""
    return who.page("organiser_health.html", {"tab": "health", **views.host(who.console)})


@router.get("/journal.html")
def journal(who: Someone, before: Before = None) -> Response:
    """Show the journal."""
    return who.page("organiser_journal.html", {"tab": "journal", **views.journal(who.console, before)})


@router.get("/exports/{number}/{part}.tar")
def exported(who: Someone, number: OrderId, part: Literal["public", "private"]) -> Response:
    """One part of an export as a file."""
    if part == "private":
        who.check_may_act()
    if not _ORDER_ID.fullmatch(number):
        raise NotFoundError("there is no such export")
    name = f"export-{number[:8]}-{part}"
    chunks = tree_chunks(export_of(who.console, number, part), name)
    return StreamingResponse(chunks, media_type="application/x-tar", headers=attachment(f"{name}.tar"))


@router.get("/orders.html")
def orders(who: Someone) -> Response:
    """Show the orders, newest first."""
    return who.page("organiser_orders.html", {"tab": "orders", "orders": who.console.orders.latest(views.SHOWN_ORDERS)})


@router.get("/settings.html")
def settings(who: Someone) -> Response:
    """Show the settings; a form until the start."""
    return _settings_page(who, views.settings(who.console))


def _settings_page(
    who: Visitor, current: Settings, given: Mapping[str, str] = MappingProxyType({}), problem: str = ""
) -> Response:
    values = {
        "settings": current,
        "values": {**current.values, **given},
        "times": TIMES,
        "order_id": new_order_id(),
        "proof": proof_of(who.token, ORDER_FORM),
        "most": REASON_CHARACTERS,
        "is_final": who.console.state.register.is_locked_in(),
        "final": FINAL,
        "problem": problem,
    }
    return who.page("organiser_settings.html", {"tab": "settings", **values}, 422 if problem else 200)


async def sent_form(request: Request, who: Someone) -> Mapping[str, str]:
    """Fields of a form of a page that was sent to its organiser. Raises MayNotActError, InputError."""
    check_site(request)
    who.check_may_act()
    sent = await form_fields(request)
    if not is_proof(who.token, ORDER_FORM, sent.get("proof", "")):
        raise InputError("this form is not from a page that was sent to you: open it again, and send it there")
    return sent


SentForm = Annotated[Mapping[str, str], Depends(sent_form)]


@router.post("/settings.html")
def change(who: Someone, sent: SentForm) -> Response:
    """Change settings, once."""
    console = who.console
    try:
        order, _ = _order_of({**sent, "action": "settings", "target": ""}, who.organiser)
        done = change_settings(console.planned, console.state.register, order, sent, sent.get("version", ""))
    except InputError as error:
        current = views.settings(console)
        given = {name: text for name, text in sent.items() if name in current.values}
        return _settings_page(who, current, given, str(error))
    log_order(done)
    return RedirectResponse(f"orders/{order.id}.html", 303)


@router.get("/order.html")
def form(
    who: Someone,
    action: Annotated[str, Query(max_length=32)],
    target: Annotated[str, Query(max_length=TARGET_CHARACTERS)] = "",
) -> Response:
    """Show an order's changes and form."""
    order = order_of(who.console, OrganiserOrder(who.organiser.name, action, target, ""))
    values = {
        "effect": order.preview(),
        "order": order,
        "order_id": new_order_id(),
        "proof": proof_of(who.token, ORDER_FORM),
        "most": REASON_CHARACTERS,
    }
    return who.page("organiser_order.html", values)


@router.post("/orders")
def give(who: Someone, sent: SentForm) -> Response:
    """Carry out an order, once."""
    given, attempt = _order_of(sent, who.organiser)
    order = order_of(who.console, given, attempt)
    if isinstance(order, FileOrder) and who.console.orders.get(given.id) is None:
        order.read()
        who.console.start(order)
    else:
        log_order(order.carry_out())
    return RedirectResponse(f"orders/{given.id}.html", 303)


@router.get("/orders/{number}.html")
def done(who: Someone, number: OrderId) -> Response:
    """Show an order that is carried out or finished."""
    is_valid = _ORDER_ID.fullmatch(number) is not None
    pending = who.console.pending(number) if is_valid else None
    found = who.console.orders.get(number) if is_valid else None
    if found is None and pending is not None:
        label = ACTIONS[pending.order.action].label
        return who.page("organiser_pending.html", {"pending": pending, "label": label})
    if found is None:
        raise NotFoundError("there is no such order")
    action = found.order.action
    label = ACTIONS[action].label if action in ACTIONS else LABELS.get(action, action)
    return who.page("organiser_done.html", {"done": found, "label": label})


@router.api_route("/{path:path}", methods=METHODS, include_in_schema=False)
def nothing(_: Someone) -> Response:
    """Any other address."""
    raise NotFoundError("there is no such page")


def _order_of(sent: Mapping[str, str], who: TokenHolder) -> tuple[OrganiserOrder, int]:
    action, target, number = (sent.get(name, "") for name in ("action", "target", "id"))
    why, attempt = " ".join(sent.get("why", "").split()), sent.get("attempt", "0")
    if not _ORDER_ID.fullmatch(number):
        raise InputError("this form has no number: open it again")
    if not why:
        raise InputError("the reason is missing: it is stored in the log")
    if len(why) > REASON_CHARACTERS:
        raise InputError(f"the reason has more than {REASON_CHARACTERS} characters")
    if len(target) > TARGET_CHARACTERS or not (attempt.isascii() and attempt.isdigit() and len(attempt) < 9):
        raise InputError("this form was changed: open it again")
    return OrganiserOrder(who.name, action, target, why, number), int(attempt)
