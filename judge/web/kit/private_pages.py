"""What the pages of authors and of organisers share: their places in all languages, and signing in and out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import RedirectResponse, Response

from judge.contest.plan import Plan
from judge.site.pages import AUTHOR_POLICY, PagePlace, render
from judge.tournament.snapshot import Snapshot
from judge.translations.language import CODES
from judge.web.kit.answers import html
from judge.web.kit.session import SessionCookie, check_site, form_fields, sign_in

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
