"""Applications with their answers: printable JSON, pages, downloads, health, and errors with statuses.

Causes of host failures are only logged.
"""

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from inspect import iscoroutinefunction
from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

import judge
from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.base.parsing import complaint
from judge.base.service_loop import stalled_loops
from judge.store.submission_queries import RegisterReader
from judge.store.types import NameTakenError, NotFoundError, NotNowError, TooMuchError
from judge.web.schemas import Problem

log = get_logger()

_checks = CapacityLimiter(2)
"""Threads of checks of the service, which no other request uses."""

MEANINGS = {
    401: "The token is missing or not valid.",
    404: "The number does not exist, or the submission is not yours.",
    408: "The request was too slow.",
    409: "The current state does not allow it.",
    413: "The upload is too large.",
    415: "The body is a form instead of the bytes of the file.",
    422: "Something in the request is wrong.",
    429: "Too many requests or uploads; `Retry-After` has the seconds until the next try.",
    503: "The host failed; try again.",
}

_KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "xml": "application/atom+xml",
    "pem": "application/x-pem-file",
    **dict.fromkeys(("log", "stderr", "debug"), "text/plain; charset=utf-8"),
}


class AsciiJSON(JSONResponse):
    """Escaped, so that it cannot control a terminal."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode()


def problem(status: int, error: str, headers: Mapping[str, str] | None = None) -> AsciiJSON:
    """An error response."""
    return AsciiJSON(Problem(error=error).model_dump(), status, headers)


def kind_of(path: str) -> str:
    """A file's type by its ending."""
    return _KINDS.get(path.rpartition(".")[2], "application/octet-stream")


def html(data: bytes, status: int = 200) -> Response:
    """A rendered page."""
    return Response(data, status, media_type="text/html; charset=utf-8")


def download(data: bytes, name: str) -> Response:
    """The name determines the type."""
    return Response(data, media_type=kind_of(name), headers=attachment(name))


def attachment(name: str) -> Mapping[str, str]:
    """Header of a download."""
    return {"content-disposition": f'attachment; filename="{name}"'}


class UnauthorizedError(InputError):
    """The token is missing or invalid."""


class MayNotActError(InputError):
    """The token only permits watching."""


class TooLargeError(InputError):
    """The upload is too large."""


class TooSlowError(InputError):
    """The upload is too slow."""


class FormUploadError(InputError):
    """The body is encoded, such as a form."""


class StalledError(HostError):
    """A part of the service does not work; the names of parts are public."""


_STATUS: dict[type[InputError], int] = {
    UnauthorizedError: 401,
    MayNotActError: 403,
    NotFoundError: 404,
    TooSlowError: 408,
    NameTakenError: 409,
    NotNowError: 409,
    TooLargeError: 413,
    FormUploadError: 415,
    TooMuchError: 429,
    InputError: 422,
}
"""The first matching class decides."""


def status_of(error: InputError) -> int:
    """The HTTP status."""
    return next(status for kind, status in _STATUS.items() if isinstance(error, kind))


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI description of error responses."""
    return {status: {"model": Problem, "description": MEANINGS[status]} for status in statuses}


_ANSWERED = (InputError, HostError, SQLAlchemyError, RequestValidationError, HTTPException, ClientDisconnect, Exception)


def new_app(title: str, about: str, **more: Any) -> FastAPI:
    """An application without paths; `more` is for FastAPI."""
    app = FastAPI(
        title=title,
        version=judge.__version__,
        description=about,
        default_response_class=AsciiJSON,
        # They load scripts from other sites.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        **more,
    )
    for kind in _ANSWERED:
        app.add_exception_handler(kind, _answer)
    return app


def route_with_errors(
    answer: Callable[[Request, Any], Response | Awaitable[Response]], *kinds: type[Exception]
) -> type[APIRoute]:
    """Route class that passes these errors to `answer`, which runs in a thread if it is not a coroutine function."""

    is_coroutine = iscoroutinefunction(answer)

    class Route(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handler = super().get_route_handler()

            async def handle(request: Request) -> Response:
                try:
                    return await handler(request)
                except kinds as error:
                    found = answer(request, error) if is_coroutine else await run_in_threadpool(answer, request, error)
                    return await found if isinstance(found, Awaitable) else found

            return handle

    return Route


def _answer(_request: Request, error: Exception) -> AsciiJSON:
    match error:
        case InputError():
            status = status_of(error)
            headers = {"www-authenticate": "Bearer"} if status == 401 else {}
            if isinstance(error, TooMuchError) and error.retry_s:
                headers["retry-after"] = str(error.retry_s)
            return problem(status, str(error), headers)
        case StalledError():
            return problem(503, str(error), {"retry-after": "60"})
        case HostError() | SQLAlchemyError():
            log.error("the host failed", error=str(error))
            return problem(503, "the judge's host failed: try again later", {"retry-after": "60"})
        case RequestValidationError():
            return problem(422, complaint(error))
        case HTTPException():
            return problem(error.status_code, f"{error.detail}: see /openapi.json", error.headers)
        case ClientDisconnect():
            return problem(400, "the connection ended before the upload was complete")
    return problem(500, "the judge failed: the cause is in the organiser's log")


async def check_health(register: RegisterReader | None = None, problems: Sequence[str] = ()) -> None:
    """Raise HostError if the store does not answer, StalledError for a stalled loop and `problems` of others."""
    if register is not None:
        await to_thread.run_sync(register.has_begun, limiter=_checks)
    if stalled := [*stalled_loops(), *problems]:
        raise StalledError("; ".join(stalled))
