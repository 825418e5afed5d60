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
class AuthorSession:
    """A signed-in author's request."""

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


def session_of(request: Request) -> AuthorSession:
    """Author of a request. Raises UnauthorizedError, TooMuchError."""
    with suppress(UnauthorizedError):
        if token := AUTHOR.sent(request.scope):
            return AuthorSession(request, _author_of(request, token), authors_site_of(request))
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

Signed = Annotated[AuthorSession, Depends(session_of)]
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
    session = await run_in_threadpool(session_of, request)
    received = await session.state.receiver.receive(request, session.author, query)
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
def index(session: Signed) -> Response:
    """Show the home page."""
    return _index_page(session)


@pages.post("/agents", dependencies=FORM)
def change_agent(session: Signed, fields: Fields) -> Response:
    """Rename an agent, or withdraw it."""
    name, register = fields.get("name", ""), session.state.register
    try:
        if fields.get("action") == "rename":
            title = check_title(fields.get("title", ""))
            register.rename(name, session.author, title, joins_later=joins_later(register))
        else:
            withdraw_agent(register, name, session.author)
    except InputError as error:
        return _index_page(session, str(error))
    return RedirectResponse("index.html#agents", 303)


def _index_page(session: AuthorSession, problem: str = "") -> Response:
    register = session.state.register
    games = register.own_games(session.author, MAX_GAMES + 1)
    agents = session.agents
    lines = [own_line(game, agents) for game in games[:MAX_GAMES]]
    submissions, language = register.submissions(session.author), SITE.place(session.request).language
    contest, per_day = session.site.contest(), session.state.directory.intake.challenges_per_day
    snapshot = session.site.snapshot() if contest is None else contest.snapshot
    opponent, outcome = (session.request.query_params.get(key, "")[:64] for key in ("opponent", "outcome"))
    values = {
        "submissions": submissions[:MAX_SUBMISSIONS],
        "games": [line for line in lines if opponent in ("", line.opponent) and outcome in ("", line.outcome)],
        "game_count": len(lines),
        "opponents": sorted({line.opponent for line in lines}),
        "chosen": {"opponent": opponent, "outcome": outcome},
        "more_games": len(games) > MAX_GAMES,
        "messages": session.state.notices.messages(MAX_NOTICES),
        **home_values(session.state, session.author, snapshot, language),
        "ladder": None
        if contest is None or contest.has_rounds
        else ladder_values(
            contest, submissions, session.state.practice.challenges(session.author, MAX_CHALLENGES), per_day
        ),
        "places": {line.agent: line for line in contest.table.lines} if contest is not None and contest.ending else {},
        "about": session.site.file.plan.about,
        "check_command": session.site.file.plan.check_command,
        "hosts": session.site.hosts(),
        "problem": problem,
    }
    return session.page("author.html", values, 409 if problem else 200)


@pages.post("/challenges", dependencies=FORM)
def challenge(session: Signed, fields: Fields) -> Response:
    """Request a challenge."""
    submission = fields.get("submission", "")
    if not re.fullmatch("[1-9][0-9]{0,17}", submission):
        raise NotFoundError("there is no such submission")
    try:
        ask_challenge(session.state, int(submission), session.author, fields.get("opponent", ""))
    except (NotNowError, TooMuchError) as error:
        return _index_page(session, str(error))
    return RedirectResponse("index.html#challenges", 303)


@pages.get("/notices.html")
def notices(session: Signed) -> Response:
    """Show the webhook and the latest notices."""
    return _notices_page(session)


def _notices_page(session: AuthorSession, problem: str = "") -> Response:
    stored = session.state.notices
    values = {
        "targets": stored.targets(session.author),
        "notices": stored.of(session.author, MAX_NOTICES),
        "messages": stored.messages(MAX_NOTICES),
        "problem": problem,
    }
    return session.page("author_notices.html", values, 422 if problem else 200)


@pages.post("/notices.html", dependencies=FORM)
def set_webhook(session: Signed, fields: Fields) -> Response:
    """Set or remove the webhook, or stop mails."""
    if "stop" in fields:
        session.state.notices.set_email(session.author, "")
        return RedirectResponse("notices.html", 303)
    url = fields.get("webhook", "").strip()
    try:
        if url:
            parse_target(url, session.state.directory.intake.notices)
    except InputError as error:
        return _notices_page(session, str(error))
    session.state.notices.set_webhook(session.author, url, new_secret())
    return RedirectResponse("notices.html", 303)


def _submission_page(session: AuthorSession, number: int, problem: str = "") -> Response:
    state = session.state
    submission = state.register.get(number, session.author)
    values = submission_values(state.directory, state.register, submission, is_held=state.is_held(number))
    practice = practice_values(state.directory, submission, state.practice.of(number, session.author))
    is_live = values["is_open"] or practice["is_practising"]
    more = {**values, **practice, "is_open": is_live, "problem": problem}
    return session.page("author_submission.html", more, 409 if problem else 200)


@pages.get("/submissions/{number}.html")
def submission(session: Signed, number: Number) -> Response:
    """Show a submission."""
    return _submission_page(session, number)


@pages.post("/submissions/{number}.html", dependencies=FORM)
def practise(session: Signed, number: Number) -> Response:
    """Request practice games for a submission."""
    try:
        ask_practice(session.state, number, session.author)
    except (NotNowError, TooMuchError) as error:
        return _submission_page(session, number, str(error))
    return RedirectResponse(f"{number}.html", 303)


@pages.get("/submissions/{number}.log")
def submission_log(session: Signed, number: Number) -> Response:
    """A submission's log."""
    digest = session.state.register.get(number, session.author).log
    return download(stored_file(session.state.directory, digest, "log"), f"submission-{number}.log")


@pages.get("/submissions/{number}.json")
def submission_report(session: Signed, number: Number) -> Response:
    """A submission's report."""
    digest = session.state.register.get(number, session.author).report
    return download(stored_file(session.state.directory, digest, "report"), f"submission-{number}.json")


@pages.get("/practice/{stem}.html")
def practice_game(session: Signed, stem: Stem) -> Response:
    """Show a practice game."""
    game, place = session.state.practice.get(int(stem), session.author), SITE.place(session.request)
    return session.rendered(practice_page(session.state.directory, game, place, f"{place.root}{SITE.folder}/"))


@pages.get("/practice/{stem}.seat-{seat}.{ending}")
def private_of_practice(session: Signed, stem: Stem, seat: Seat, ending: Ending) -> Response:
    """A seat's private data in a practice game."""
    game = session.state.practice.get(int(stem), session.author)
    data = record_of_practice(session.state.directory, game).private_file(seat, ending)
    return session.rendered(data, f"practice-{stem}.seat-{seat}.{ending}")


@pages.get("/practice/{stem}.json")
def practice_record(session: Signed, stem: Stem) -> Response:
    """A practice game's public record."""
    game = session.state.practice.get(int(stem), session.author)
    record = record_of_practice(session.state.directory, game)
    return session.rendered(RecordTask(record.files, record.digest, public_record), f"practice-{stem}.json")


@pages.get("/games/{stem}.attempt-{attempt}.seat-{seat}.{ending}")
def private_of_attempt(session: Signed, stem: Stem, attempt: Attempt, seat: Seat, ending: Ending) -> Response:
    """A seat's private data in an attempt that does not count."""
    data = record_of_game(session.site.files, session.game(stem), session.agents, attempt).private_file(seat, ending)
    return session.rendered(data, f"game-{stem}.attempt-{attempt}.seat-{seat}.{ending}")


@pages.get("/games/{stem}.seat-{seat}.{ending}")
def private_of_game(session: Signed, stem: Stem, seat: Seat, ending: Ending) -> Response:
    """A seat's private data in a game."""
    data = record_of_game(session.site.files, session.game(stem), session.agents).private_file(seat, ending)
    return session.rendered(data, f"game-{stem}.seat-{seat}.{ending}")


@pages.get("/games/{stem}.attempt-{attempt}.html")
def attempt_page(session: Signed, stem: Stem, attempt: Attempt) -> Response:
    """Show an attempt that does not count."""
    return _game_page(session, stem, attempt)


@pages.get("/games/{stem}.html")
def private_game_page(session: Signed, stem: Stem) -> Response:
    """Show a game."""
    return _game_page(session, stem)


def _game_page(session: AuthorSession, stem: str, attempt: int | None = None) -> Response:
    game, contest = session.game(stem), session.site.contest()
    if contest is None:
        raise NotFoundError("the contest has not begun")
    place = SITE.place(session.request)
    return session.rendered(
        author_game_page(session.site.files, contest.snapshot, game, session.agents, attempt, place)
    )


@pages.get("/{path:path}")
def nothing() -> Response:
    """Any other address."""
    raise NotFoundError("there is no such page")


def add_paths(app: FastAPI, site: AuthorsSite) -> None:
    """Add the pages in all languages to an application."""
    app.state.authors_site = site
    app.include_router(common, include_in_schema=False)
    SITE.add_to(app, public, pages)
