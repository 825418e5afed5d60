"""HTTP paths of the authors' pages. Others' resources, missing ones and invalid tokens get the same answer."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI, Query, Request
from fastapi import Path as PathPart
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from judge.base.errors import InputError
from judge.contest.admissions import joins_later, withdraw_agent
from judge.contest.hosts import ContestHost
from judge.contest.window_keeper import PlanFile
from judge.contest_games import PublishedGame
from judge.contest_view.view import ContestView
from judge.notices.policy import parse_target
from judge.notices.sender import new_secret
from judge.site.game_files import public_record
from judge.site.pages import asset
from judge.store.types import NotFoundError, NotNowError, TooMuchError
from judge.submissions.service import check_title
from judge.submissions.starters import starter_zip, starters_of
from judge.tournament.snapshot import Snapshot, read_snapshot
from judge.web.authors.games import author_game_page, own_line, practice_page, record_of_game, record_of_practice
from judge.web.authors.views import MAX_CHALLENGES, home_values, ladder_values, practice_values, submission_values
from judge.web.intake.app import AppState, Number, UploadParameters, ask_challenge, ask_practice, stored_file
from judge.web.kit.answers import AsciiJSON, UnauthorizedError, attachment, download, html, kind_of, route_with_errors
from judge.web.kit.rendering import RecordTask, RenderedResponse, Renderer
from judge.web.kit.session import AUTHOR, FORM, Fields, PrivatePages, contest_values

SITE = PrivatePages("author", __package__, AUTHOR)
SCRIPT = "author.js"
MAX_SUBMISSIONS = 100
MAX_GAMES = 500
MAX_NOTICES = 50


@dataclass(slots=True)
class AuthorsSite:
    """Shared state: `state` of the intake, `files` with records; `watched` returns the contest with later entries."""

    state: AppState
    files: Path
    hosts: Callable[[], Sequence[ContestHost]]
    file: PlanFile
    watched: Callable[[], ContestView | None]
    renders: Renderer
    _snapshot: Snapshot | None = None

    def snapshot(self) -> Snapshot | None:
        """None before it begins."""
        if self._snapshot is None and (document := self.state.register.document()) is not None:
            self._snapshot = read_snapshot(document)
        return self._snapshot

    def contest(self) -> ContestView | None:
        """With later entries; None before it begins."""
        return None if self.snapshot() is None else self.watched()


def authors_site_of(request: Request) -> AuthorsSite:
    """The shared state."""
    site: AuthorsSite = request.app.state.authors_site
    return site


def _author_of(request: Request, token: str) -> str:
    return authors_site_of(request).state.authors.author(request, token)


def _page(template: str, request: Request, values: Mapping[str, Any], status: int = 200) -> Response:
    site = authors_site_of(request)
    common = {"here": "author", **contest_values(site.snapshot(), site.file.plan)}
    return SITE.page(template, request, {**common, **values}, status)


def _sign_in_page(request: Request, _error: Exception) -> Response:
    return _page("author_sign_in.html", request, {}, 200 if SITE.is_first(request) else 401)


@dataclass(frozen=True, slots=True)
class Own:
    """An author's request."""

    request: Request
    author: str
    site: AuthorsSite

    @property
    def state(self) -> AppState:
        return self.site.state

    def page(self, template: str, values: Mapping[str, Any], status: int = 200) -> Response:
        return _page(template, self.request, {"author": self.author, **values}, status)

    def rendered(self, found: RecordTask | bytes, name: str = "") -> Response:
        """A page, or a download with a name."""
        if isinstance(found, bytes):
            return html(found)
        headers = attachment(name) if name else {}
        kind = kind_of(name) if name else "text/html; charset=utf-8"
        return RenderedResponse(self.site.renders, found, kind, headers)

    @property
    def agents(self) -> frozenset[str]:
        return self.state.register.agents_of(self.author)

    def game(self, stem: str) -> PublishedGame:
        """Raises NotFoundError."""
        games = self.state.register.own_games(self.author, 1, int(stem))
        if not games or stem != games[0].stem:
            raise NotFoundError("there is no such game")
        return games[0]


def own_of(request: Request) -> Own:
    """Author of a request. Raises UnauthorizedError, TooMuchError."""
    with suppress(UnauthorizedError):
        if token := AUTHOR.sent(request.scope):
            return Own(request, _author_of(request, token), authors_site_of(request))
    raise UnauthorizedError("you are not signed in: open the link that the organiser sent you")


common = APIRouter(prefix=f"/{SITE.folder}")
"""Paths for programs, without a language."""

public = APIRouter(prefix=f"/{SITE.folder}")
"""Pages that are open to all."""

pages = APIRouter(
    prefix=f"/{SITE.folder}",
    route_class=route_with_errors(_sign_in_page, UnauthorizedError, NotFoundError, RequestValidationError),
)
"""In threads. The first matching path is called."""

Signed = Annotated[Own, Depends(own_of)]
Stem = Annotated[str, PathPart(pattern="^[0-9]{5,18}$")]
StarterName = Annotated[str, PathPart(pattern="^starter-[a-z0-9-]{1,60}$")]
Attempt = Annotated[int, PathPart(ge=0, lt=10**9)]
Seat = Annotated[int, PathPart(ge=0, le=1)]
NoticeId = Annotated[str, Query(pattern="^msg_[0-9a-f]{32}$")]
Ending = Annotated[Literal["json", "stderr", "debug"], PathPart()]


@common.get(f"/{SCRIPT}")
def script() -> Response:
    """The pages' script."""
    return Response(asset(SCRIPT, __package__), media_type="text/javascript; charset=utf-8")


@common.post("/submissions", status_code=201, dependencies=FORM)
async def submit(request: Request, query: UploadParameters) -> Response:
    """Submit the request's body."""
    own = await run_in_threadpool(own_of, request)
    received = await own.state.receiver.receive(request, own.author, query)
    return AsciiJSON({"id": received.submission.id}, 200 if received.is_repeated else 201)


SITE.add_session_paths(pages, _author_of, _page, "author_change.html")


@public.get("/unsubscribe.html")
def unsubscribe(request: Request, notice: NoticeId) -> Response:
    """Ask before mails are stopped: programs that check mails open links."""
    is_known = bool(authors_site_of(request).state.notices.receiver_of(notice))
    return _unsubscribe_page(request, "ask" if is_known else "unknown")


@public.post("/unsubscribe.html", dependencies=FORM)
def stop_mails(request: Request, notice: NoticeId) -> Response:
    """Remove the e-mail address of the notice's author; also called by mail programs (RFC 8058)."""
    is_known = authors_site_of(request).state.notices.unsubscribe(notice)
    return _unsubscribe_page(request, "done" if is_known else "unknown")


def _unsubscribe_page(request: Request, state: str) -> Response:
    values = {"state": state, "query": request.url.query}
    return _page("author_unsubscribe.html", request, values, 404 if state == "unknown" else 200)


@common.get("/starters/{name}.zip")
def starter(request: Request, name: StarterName) -> Response:
    """A starter of the contest's protocol."""
    if name not in starters_of(authors_site_of(request).state.directory.policy):
        raise NotFoundError("there is no such starter")
    return Response(starter_zip(name), media_type="application/zip", headers=attachment(f"{name}.zip"))


@pages.get("/index.html")
def index(own: Signed) -> Response:
    """Show the home page."""
    return _index_page(own)


@pages.post("/agents", dependencies=FORM)
def change_agent(own: Signed, fields: Fields) -> Response:
    """Rename an agent, or withdraw it."""
    name, register = fields.get("name", ""), own.state.register
    try:
        if fields.get("action") == "rename":
            title = check_title(fields.get("title", ""))
            register.rename(name, own.author, title, joins_later=joins_later(register))
        else:
            withdraw_agent(register, name, own.author)
    except InputError as error:
        return _index_page(own, str(error))
    return RedirectResponse("index.html#agents", 303)


def _index_page(own: Own, problem: str = "") -> Response:
    register = own.state.register
    games = register.own_games(own.author, MAX_GAMES + 1)
    agents = own.agents
    lines = [own_line(game, agents) for game in games[:MAX_GAMES]]
    submissions, language = register.submissions(own.author), SITE.place(own.request).language
    contest, per_day = own.site.contest(), own.state.directory.intake.challenges_per_day
    snapshot = own.site.snapshot() if contest is None else contest.snapshot
    opponent, outcome = (own.request.query_params.get(key, "")[:64] for key in ("opponent", "outcome"))
    values = {
        "submissions": submissions[:MAX_SUBMISSIONS],
        "games": [line for line in lines if opponent in ("", line.opponent) and outcome in ("", line.outcome)],
        "game_count": len(lines),
        "opponents": sorted({line.opponent for line in lines}),
        "chosen": {"opponent": opponent, "outcome": outcome},
        "more_games": len(games) > MAX_GAMES,
        "messages": own.state.notices.messages(MAX_NOTICES),
        **home_values(own.state, own.author, snapshot, language),
        "ladder": None
        if contest is None or contest.has_rounds
        else ladder_values(contest, submissions, own.state.practice.challenges(own.author, MAX_CHALLENGES), per_day),
        "places": {line.agent: line for line in contest.table.lines} if contest is not None and contest.ending else {},
        "about": own.site.file.plan.about,
        "check_command": own.site.file.plan.check_command,
        "hosts": own.site.hosts(),
        "problem": problem,
    }
    return own.page("author.html", values, 409 if problem else 200)


@pages.post("/challenges", dependencies=FORM)
def challenge(own: Signed, fields: Fields) -> Response:
    """Request a challenge."""
    submission = fields.get("submission", "")
    if not re.fullmatch("[1-9][0-9]{0,17}", submission):
        raise NotFoundError("there is no such submission")
    try:
        ask_challenge(own.state, int(submission), own.author, fields.get("opponent", ""))
    except (NotNowError, TooMuchError) as error:
        return _index_page(own, str(error))
    return RedirectResponse("index.html#challenges", 303)


@pages.get("/notices.html")
def notices(own: Signed) -> Response:
    """Show the webhook and the latest notices."""
    return _notices_page(own)


def _notices_page(own: Own, problem: str = "") -> Response:
    stored = own.state.notices
    values = {
        "targets": stored.targets(own.author),
        "notices": stored.of(own.author, MAX_NOTICES),
        "messages": stored.messages(MAX_NOTICES),
        "problem": problem,
    }
    return own.page("author_notices.html", values, 422 if problem else 200)


@pages.post("/notices.html", dependencies=FORM)
def set_webhook(own: Signed, fields: Fields) -> Response:
    """Set or remove the webhook, or stop mails."""
    if "stop" in fields:
        own.state.notices.set_email(own.author, "")
        return RedirectResponse("notices.html", 303)
    url = fields.get("webhook", "").strip()
    try:
        if url:
            parse_target(url, own.state.directory.intake.notices)
    except InputError as error:
        return _notices_page(own, str(error))
    own.state.notices.set_webhook(own.author, url, new_secret())
    return RedirectResponse("notices.html", 303)


def _submission_page(own: Own, number: int, problem: str = "") -> Response:
    state = own.state
    submission = state.register.get(number, own.author)
    values = submission_values(state.directory, state.register, submission, is_held=state.is_held(number))
    practice = practice_values(state.directory, submission, state.practice.of(number, own.author))
    is_live = values["is_open"] or practice["is_practising"]
    more = {**values, **practice, "is_open": is_live, "problem": problem}
    return own.page("author_submission.html", more, 409 if problem else 200)


@pages.get("/submissions/{number}.html")
def submission(own: Signed, number: Number) -> Response:
    """Show a submission."""
    return _submission_page(own, number)


@pages.post("/submissions/{number}.html", dependencies=FORM)
def practise(own: Signed, number: Number) -> Response:
    """Request practice games for a submission."""
    try:
        ask_practice(own.state, number, own.author)
    except (NotNowError, TooMuchError) as error:
        return _submission_page(own, number, str(error))
    return RedirectResponse(f"{number}.html", 303)


@pages.get("/submissions/{number}.log")
def submission_log(own: Signed, number: Number) -> Response:
    """A submission's log."""
    digest = own.state.register.get(number, own.author).log
    return download(stored_file(own.state.directory, digest, "log"), f"submission-{number}.log")


@pages.get("/submissions/{number}.json")
def submission_report(own: Signed, number: Number) -> Response:
    """A submission's report."""
    digest = own.state.register.get(number, own.author).report
    return download(stored_file(own.state.directory, digest, "report"), f"submission-{number}.json")


@pages.get("/practice/{stem}.html")
def practice_game(own: Signed, stem: Stem) -> Response:
    """Show a practice game."""
    game, place = own.state.practice.get(int(stem), own.author), SITE.place(own.request)
    return own.rendered(practice_page(own.state.directory, game, place, f"{place.root}{SITE.folder}/"))


@pages.get("/practice/{stem}.seat-{seat}.{ending}")
def private_of_practice(own: Signed, stem: Stem, seat: Seat, ending: Ending) -> Response:
    """A seat's private data in a practice game."""
    game = own.state.practice.get(int(stem), own.author)
    data = record_of_practice(own.state.directory, game).private_file(seat, ending)
    return own.rendered(data, f"practice-{stem}.seat-{seat}.{ending}")


@pages.get("/practice/{stem}.json")
def practice_record(own: Signed, stem: Stem) -> Response:
    """A practice game's public record."""
    game = own.state.practice.get(int(stem), own.author)
    record = record_of_practice(own.state.directory, game)
    return own.rendered(RecordTask(record.files, record.digest, public_record), f"practice-{stem}.json")


@pages.get("/games/{stem}.attempt-{attempt}.seat-{seat}.{ending}")
def private_of_attempt(own: Signed, stem: Stem, attempt: Attempt, seat: Seat, ending: Ending) -> Response:
    """A seat's private data in an attempt that does not count."""
    data = record_of_game(own.site.files, own.game(stem), own.agents, attempt).private_file(seat, ending)
    return own.rendered(data, f"game-{stem}.attempt-{attempt}.seat-{seat}.{ending}")


@pages.get("/games/{stem}.seat-{seat}.{ending}")
def private_of_game(own: Signed, stem: Stem, seat: Seat, ending: Ending) -> Response:
    """A seat's private data in a game."""
    data = record_of_game(own.site.files, own.game(stem), own.agents).private_file(seat, ending)
    return own.rendered(data, f"game-{stem}.seat-{seat}.{ending}")


@pages.get("/games/{stem}.attempt-{attempt}.html")
def attempt_page(own: Signed, stem: Stem, attempt: Attempt) -> Response:
    """Show an attempt that does not count."""
    return _game_page(own, stem, attempt)


@pages.get("/games/{stem}.html")
def private_game_page(own: Signed, stem: Stem) -> Response:
    """Show a game."""
    return _game_page(own, stem)


def _game_page(own: Own, stem: str, attempt: int | None = None) -> Response:
    game, contest = own.game(stem), own.site.contest()
    if contest is None:
        raise NotFoundError("the contest has not begun")
    place = SITE.place(own.request)
    return own.rendered(author_game_page(own.site.files, contest.snapshot, game, own.agents, attempt, place))


@pages.get("/{path:path}")
def nothing() -> Response:
    """Any other address."""
    raise NotFoundError("there is no such page")


def add_paths(app: FastAPI, site: AuthorsSite) -> None:
    """Add the pages in all languages to an application."""
    app.state.authors_site = site
    app.include_router(common, include_in_schema=False)
    SITE.add_to(app, public, pages)
