"""The page that stops mails, linked from each mail; works without signing in."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from judge.site.pages import PagePlace
from judge.store.notices import Notices
from judge.translations.language import CODES, languages
from judge.web.kit.answers import page
from judge.web.kit.forms import check_site

FOLDER = "author"

router = APIRouter(prefix=f"/{FOLDER}")

NoticeId = Annotated[str, Query(pattern="^msg_[0-9a-f]{32}$")]


@router.get("/unsubscribe.html")
def unsubscribe(request: Request, notice: NoticeId) -> Response:
    """Ask before mails are stopped: programs that check mails open links."""
    return _page(request, "ask" if _notices_of(request).receiver_of(notice) else "unknown")


@router.post("/unsubscribe.html")
def stop(request: Request, notice: NoticeId) -> Response:
    """Remove the e-mail address of the notice's author; also called by mail programs (RFC 8058)."""
    check_site(request)
    return _page(request, "done" if _notices_of(request).unsubscribe(notice) else "unknown")


def _notices_of(request: Request) -> Notices:
    notices: Notices = request.app.state.authors_site.state.notices
    return notices


def _page(request: Request, state: str) -> Response:
    path = request.url.path.removeprefix(f"{request.scope.get('root_path', '')}/")
    place = PagePlace.of_file(path, languages(CODES), request.url.query)
    contest = request.app.state.authors_site.shown_name()
    values = {"here": "author", "contest_name": contest, "state": state, "query": request.url.query}
    return page(__package__, "author_unsubscribe.html", place, FOLDER, values, 404 if state == "unknown" else 200)
