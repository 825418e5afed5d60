"""The forms of an answer: JSON in printable ASCII, a page, and a file to store."""

import json
from collections.abc import Mapping
from typing import Any

from fastapi.responses import JSONResponse, Response

from judge.site.pages import AUTHOR_POLICY, PagePlace, render
from judge.web.schemas import Problem


class AsciiJSON(JSONResponse):
    """JSON in which everything except printable ASCII is escaped, so that it cannot control a terminal."""

    def render(self, content: Any) -> bytes:
        """The bytes of the answer."""
        return json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode()


def problem(status: int, error: str, headers: Mapping[str, str] | None = None) -> AsciiJSON:
    """An answer with the reason of a refusal."""
    return AsciiJSON(Problem(error=error).model_dump(), status, headers)


def page(
    package: str, template: str, place: PagePlace, folder: str, values: Mapping[str, Any], status: int = 200
) -> Response:
    """A page for a person who may be signed in, from a template of a package; `folder` has all pages of this kind."""
    common = {"has_authors": True, "policy": AUTHOR_POLICY, "folder": f"{place.root}{folder}/"}
    return html(render(template, place, {**common, **values}, package=package), status)


def html(data: bytes, status: int = 200) -> Response:
    """A page that was rendered."""
    return Response(data, status, media_type="text/html; charset=utf-8")


def download(data: bytes, name: str) -> Response:
    """A file that a browser stores under this name; its ending decides its type."""
    kind = "application/json" if name.endswith(".json") else "text/plain; charset=utf-8"
    return Response(data, media_type=kind, headers=attachment(name))


def attachment(name: str) -> Mapping[str, str]:
    """The header with which a browser stores an answer under this name."""
    return {"content-disposition": f'attachment; filename="{name}"'}
