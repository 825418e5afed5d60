"""Response types: JSON in printable ASCII, pages, and downloads."""

import json
from collections.abc import Mapping
from typing import Any

from fastapi.responses import JSONResponse, Response

from judge.web.schemas import Problem


class AsciiJSON(JSONResponse):
    """Escaped, so that it cannot control a terminal."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode()


def problem(status: int, error: str, headers: Mapping[str, str] | None = None) -> AsciiJSON:
    """An error response."""
    return AsciiJSON(Problem(error=error).model_dump(), status, headers)


def html(data: bytes, status: int = 200) -> Response:
    """A rendered page."""
    return Response(data, status, media_type="text/html; charset=utf-8")


def download(data: bytes, name: str) -> Response:
    """The name determines the type."""
    kind = "application/json" if name.endswith(".json") else "text/plain; charset=utf-8"
    return Response(data, media_type=kind, headers=attachment(name))


def attachment(name: str) -> Mapping[str, str]:
    """Header of a download."""
    return {"content-disposition": f'attachment; filename="{name}"'}
