"""The HTTP paths of the authors' pages.

Whoever asks for what is not his gets the same answer, whether there is such a thing or not, and whether his token is
missing, wrong or another author's.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi import Path as PathPart
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from judge.base.errors import InputError
from judge.contest.hosts import ContestHost
from judge.notices.targets import parse_target
from judge.notices.webhook import new_secret
from judge.site.pages import AUTHOR_POLICY, PagePlace, asset, render
from judge.store.submission_types import NotNowError, Submission, TooMuchError, UnknownSubmissionError
from judge.submissions.service import AGENT_NAME, FILENAME, FILENAME_CHARACTERS
from judge.tournament.snapshot import Snapshot, read_snapshot
from judge.translations.language import CODES, languages
from judge.web.authors.games import own_game, own_games, own_page, private_file
from judge.web.authors.practice import practice_file, practice_page, practice_values
from judge.web.authors.submissions import submission_values
from judge.web.intake.app import LARGEST_ID, AppState, ask_practice, stored_file
from judge.web.kit.answers import AsciiJSON
from judge.web.kit.authentication import UnauthorizedError
from judge.web.kit.errors import handle_errors
from judge.web.kit.middleware import HEADERS as INTAKE_HEADERS
from judge.web.kit.session import (
    COOKIE,
    author_of,
    check_cookie,
    check_site,
    confirms_change,
    proof_of_change,
    sent_cookie,
    sent_form,
    sent_token,
    sign_in,
    sign_out,
    signed_in,
)

FOLDER = "author"

PATHS = (FOLDER, *(f"{code}/{FOLDER}" for code in CODES[1:]))
"""The first words of its paths."""

HEADERS = {
    **INTAKE_HEADERS,
    "content-security-policy": f"{AUTHOR_POLICY}; frame-ancestors 'none'",
    # With no-referrer a form has the origin `null`, which cannot be compared. No other site gets a referrer.
    "referrer-policy": "same-origin",
}
"""Headers of every answer."""

SCRIPT = "author.js"
MOST_SUBMISSIONS = 100
MOST_GAMES = 500
MOST_NOTICES = 50

_SUBMISSION = re.compile(rf"{FOLDER}/submissions/(\d{{1,18}})\.(html|log|json)")
_GAME = re.compile(rf"{FOLDER}/games/(\d{{5,18}})(?:\.attempt-(\d{{1,9}}))?\.html")
_PRACTICE = re.compile(rf"{FOLDER}/practice/(\d{{5,18}})(?:\.seat-([01]))?\.(html|json|stderr|debug)")
_PRIVATE = re.compile(rf"{FOLDER}/games/(\d{{5,18}})(?:\.attempt-(\d{{1,9}}))?\.seat-([01])\.(json|stderr|debug)")


class Desk:
    """What the paths share: `state` is the intake's, `files` has the contest's records, and `hosts` says who plays."""

    def __init__(self, state: AppState, files: Path, hosts: Callable[[], Sequence[ContestHost]]) -> None:
        self.state = state
        self.files = files
        self.hosts = hosts
        self._snapshot: Snapshot | None = None

    def snapshot(self) -> Snapshot | None:
        """What the contest was frozen with; None: it has not begun."""
        if self._snapshot is None:
            document = self.state.register.document()
            self._snapshot = None if document is None else read_snapshot(document)
        return self._snapshot


def create_app(desk: Desk) -> FastAPI:
    """The application. Its paths run in threads, so that none blocks another."""
    app = FastAPI(title="judge authors", openapi_url=None, redirect_slashes=False)
    handle_errors(app)
    _add_forms(app, desk)
    _add_practice(app, desk)
    _add_notices(app, desk)

    @app.head("/{path:path}")
    @app.get("/{path:path}")
    def page(request: Request, path: Annotated[str, PathPart(max_length=200)]) -> Response:
        """A page or a file."""
        place = PagePlace.of_file(path, languages(CODES))
        if path in PATHS or path.rstrip("/") in PATHS:
            return RedirectResponse(f"{request.scope.get('root_path', '')}/{path.rstrip('/')}/index.html", 307)
        if path == f"{FOLDER}/{SCRIPT}":
            return Response(_script(), media_type="text/javascript; charset=utf-8")
        author = author_of(desk.state.authors, request)
        found = None if author is None else _Own(desk, author, place).answer()
        return _sign_in_page(desk, place) if found is None else found

    return app


def _add_forms(app: FastAPI, desk: Desk) -> None:
    state = desk.state

    @app.post(f"/{FOLDER}/session")
    @app.post(f"/{{code}}/{FOLDER}/session")
    async def begin(request: Request) -> Response:
        """Sign in: exchange the token for the cookie. Over the session of another author it asks first."""
        check_site(request)
        check_cookie(request.scope, COOKIE)
        form = await sent_form(request)
        token, place = sent_token(form), _place_of(request)
        current_token = sent_cookie(request.scope, COOKIE)
        current = await run_in_threadpool(author_of, state.authors, request)
        try:
            author = await run_in_threadpool(signed_in, state.authors, request, token)
        except UnauthorizedError:
            return _sign_in_page(desk, place)
        if current not in (None, author) and not confirms_change(current_token, token, form.get("confirm", "")):
            values = {"current": current, "new": author, "token": token}
            values["confirm"] = proof_of_change(current_token, token)
            return _page("author_change.html", desk, place, values, 409)
        answer = RedirectResponse("index.html", 303)
        sign_in(request, answer, token)
        return answer

    @app.post(f"/{FOLDER}/sign-out")
    @app.post(f"/{{code}}/{FOLDER}/sign-out")
    def end(request: Request) -> Response:
        """Sign out."""
        check_site(request)
        answer = RedirectResponse("index.html", 303)
        sign_out(request, answer)
        return answer

    @app.post(f"/{FOLDER}/submissions", status_code=201)
    async def submit(
        request: Request,
        filename: Annotated[str, Query(max_length=FILENAME_CHARACTERS, pattern=FILENAME)],
        name: Annotated[str, Query(pattern=f"^({AGENT_NAME})?$")] = "",
    ) -> Response:
        """Submit the request's body."""
        check_site(request)
        author = await run_in_threadpool(author_of, state.authors, request)
        if author is None:
            raise UnauthorizedError("nobody is signed in: open the link that the organiser sent you")
        received = await state.receiver.receive(request, author, filename, name)
        return AsciiJSON({"id": received.id}, 201)


def _add_practice(app: FastAPI, desk: Desk) -> None:
    @app.post(f"/{FOLDER}/submissions/{{number}}.html")
    @app.post(f"/{{code}}/{FOLDER}/submissions/{{number}}.html")
    def practise(request: Request, number: Annotated[int, PathPart(ge=1, le=LARGEST_ID)]) -> Response:
        """Let a submission play practice games, and show it."""
        check_site(request)
        author = author_of(desk.state.authors, request)
        page = PagePlace(f"{FOLDER}/submissions/{number}.html", _place_of(request).language, languages(CODES))
        if author is None:
            return _sign_in_page(desk, page)
        try:
            ask_practice(desk.state, number, author)
        except UnknownSubmissionError:
            return _sign_in_page(desk, page)
        except (NotNowError, TooMuchError) as error:
            return _Own(desk, author, page).submission_page(number, str(error)) or _sign_in_page(desk, page)
        return RedirectResponse(f"{number}.html", 303)


def _add_notices(app: FastAPI, desk: Desk) -> None:
    @app.post(f"/{FOLDER}/notices.html")
    @app.post(f"/{{code}}/{FOLDER}/notices.html")
    async def set_webhook(request: Request) -> Response:
        """Set where the author is told, or nowhere."""
        check_site(request)
        author = await run_in_threadpool(author_of, desk.state.authors, request)
        place = PagePlace(f"{FOLDER}/notices.html", _place_of(request).language, languages(CODES))
        if author is None:
            return _sign_in_page(desk, place)
        url = (await sent_form(request)).get("webhook", "").strip()
        try:
            if url:
                parse_target(url, desk.state.directory.intake.notices)
        except InputError as error:
            return await run_in_threadpool(_Own(desk, author, place).notices_page, str(error))
        await run_in_threadpool(desk.state.notices.set_webhook, author, url, new_secret())
        return RedirectResponse("notices.html", 303)


def _place_of(request: Request) -> PagePlace:
    path = request.url.path.removeprefix(f"{request.scope.get('root_path', '')}/")
    return PagePlace.of_file(path, languages(CODES))


def _sign_in_page(desk: Desk, place: PagePlace) -> Response:
    """The one answer to everybody who is not the author of what is asked for; the first page is for everybody."""
    status = 200 if place.path == f"{FOLDER}/index.html" else 401
    return _page("author_sign_in.html", desk, place, {}, status)


def _page(template: str, desk: Desk, place: PagePlace, values: dict[str, Any], status: int = 200) -> Response:
    common = {
        "here": "author",
        "contest_name": desk.state.directory.contest,
        "has_authors": True,
        "policy": AUTHOR_POLICY,
        "folder": f"{place.root}{FOLDER}/",
    }
    return Response(
        render(template, place, {**common, **values}, package=__package__),
        status,
        media_type="text/html; charset=utf-8",
    )


def _script() -> bytes:
    return asset(SCRIPT, __package__)


def _download(data: bytes, kind: str, name: str) -> Response:
    return Response(data, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


class _Own:
    """What an author may see at one address."""

    def __init__(self, desk: Desk, author: str, place: PagePlace) -> None:
        self._desk = desk
        self._register = desk.state.register
        self._author = author
        self._place = place

    def answer(self) -> Response | None:
        """The page or the file; None if this author has nothing there."""
        path = self._place.path
        if path == f"{FOLDER}/index.html":
            return self._index()
        if path == f"{FOLDER}/notices.html":
            return self.notices_page()
        if found := _SUBMISSION.fullmatch(path):
            return self._submission(int(found[1]), found[2])
        if found := _PRACTICE.fullmatch(path):
            return self._practice(found[1], found[2], found[3])
        if found := _GAME.fullmatch(path):
            return self._game(found[1], found[2])
        if found := _PRIVATE.fullmatch(path):
            return self._private(found[1], found[2], int(found[3]), found[4])
        return None

    def _page(self, template: str, values: dict[str, Any], status: int = 200) -> Response:
        return _page(template, self._desk, self._place, {"author": self._author, **values}, status)

    def _index(self) -> Response:
        limits = self._desk.state.directory.intake
        games = own_games(self._register, self._author, MOST_GAMES + 1)
        values = {
            "submissions": self._register.submissions(self._author, limit=MOST_SUBMISSIONS),
            "games": games[:MOST_GAMES],
            "more_games": len(games) > MOST_GAMES,
            "has_begun": self._register.has_begun(),
            "hosts": self._desk.hosts(),
            "most_bytes": limits.upload_bytes,
        }
        return self._page("author.html", values)

    def notices_page(self, problem: str = "") -> Response:
        """Where the author is told, and what became of the last notices."""
        notices = self._desk.state.notices
        values = {
            "targets": notices.targets(self._author),
            "notices": notices.of(self._author, MOST_NOTICES),
            "problem": problem,
        }
        return self._page("author_notices.html", values, 422 if problem else 200)

    def _submission(self, number: int, ending: str) -> Response | None:
        directory = self._desk.state.directory
        try:
            submission: Submission = self._register.get(number, self._author)
            if ending == "log":
                data = stored_file(directory, submission.log, "log")
                return _download(data, "text/plain; charset=utf-8", f"submission-{number}.log")
            if ending == "json":
                data = stored_file(directory, submission.report, "report")
                return _download(data, "application/json", f"submission-{number}.json")
        except UnknownSubmissionError:
            return None
        return self.submission_page(number)

    def submission_page(self, number: int, problem: str = "") -> Response | None:
        """The page of a submission, with why something was not done; None if it is not this author's."""
        directory, state = self._desk.state.directory, self._desk.state
        try:
            submission = self._register.get(number, self._author)
        except UnknownSubmissionError:
            return None
        values = submission_values(directory, self._register, submission, is_held=state.is_held(number))
        practice = practice_values(directory, submission, state.practice.of(number, self._author))
        is_live = values["is_open"] or practice["is_practising"]
        status = 409 if problem else 200
        more = {**values, **practice, "is_open": is_live, "problem": problem}
        return self._page("author_submission.html", more, status)

    def _practice(self, stem: str, seat: str | None, ending: str) -> Response | None:
        directory = self._desk.state.directory
        try:
            game = self._desk.state.practice.get(int(stem), self._author)
        except UnknownSubmissionError:
            return None
        if ending == "html":
            page = None if seat else practice_page(directory, game, self._place, f"{self._place.root}{FOLDER}/")
            return None if page is None else Response(page, media_type="text/html; charset=utf-8")
        if seat is None and ending != "json":
            return None
        data = practice_file(directory, game, ending, None if seat is None else int(seat))
        if data is None:
            return None
        kind = "application/json" if ending == "json" else "text/plain; charset=utf-8"
        return _download(data, kind, f"practice-{stem}{f'.seat-{seat}' if seat else ''}.{ending}")

    def _game(self, stem: str, attempt: str | None) -> Response | None:
        contest = self._desk.snapshot()
        game = own_game(self._register, self._author, int(stem))
        if contest is None or game is None or stem != game.match.stem:
            return None
        page = own_page(self._desk.files, contest, game, None if attempt is None else int(attempt), self._place)
        return None if page is None else Response(page, media_type="text/html; charset=utf-8")

    def _private(self, stem: str, attempt: str | None, seat: int, ending: str) -> Response | None:
        game = own_game(self._register, self._author, int(stem))
        if game is None or stem != game.match.stem:
            return None
        data = private_file(self._desk.files, game, None if attempt is None else int(attempt), seat, ending)
        if data is None:
            return None
        kind = "application/json" if ending == "json" else "text/plain; charset=utf-8"
        tried = "" if attempt is None else f".attempt-{attempt}"
        return _download(data, kind, f"game-{stem}{tried}.seat-{seat}.{ending}")
