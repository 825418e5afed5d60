"""Every error as an answer: its status, and its sentence as JSON. The cause of a host's failure is only in the log."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.base.parsing import complaint
from judge.store.submission_types import NameTakenError, NotNowError, TooMuchError, UnknownSubmissionError
from judge.web.kit.answers import AsciiJSON, Problem
from judge.web.kit.authentication import UnauthorizedError

log = get_logger()

MEANINGS = {
    401: "The token is missing or not valid.",
    404: "The number does not exist, or the submission is not yours.",
    408: "The request was too slow.",
    409: "The present state does not allow it.",
    413: "The upload is too large.",
    415: "The body is a form, and not the bytes of the file.",
    422: "Something in the request is wrong.",
    429: "Too many requests or uploads; `Retry-After` says when to try again.",
    503: "The host failed; try again.",
}


class TooLargeError(InputError):
    """The upload has more bytes than allowed."""


class TooSlowError(InputError):
    """The upload sends fewer bytes a second than required, or none for too long."""


class FormUploadError(InputError):
    """The body is a form or another wrapping, and not the bytes of the file."""


STATUS: dict[type[InputError], int] = {
    UnauthorizedError: 401,
    UnknownSubmissionError: 404,
    TooSlowError: 408,
    NameTakenError: 409,
    NotNowError: 409,
    TooLargeError: 413,
    FormUploadError: 415,
    TooMuchError: 429,
    InputError: 422,
}
"""The first class that matches decides."""


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI description of a path's error answers."""
    return {status: {"model": Problem, "description": MEANINGS[status]} for status in statuses}


def handle_errors(app: FastAPI) -> None:
    """Answer every error in the same form."""
    handlers: dict[type[Exception], Callable[[Request, Any], AsciiJSON]] = {
        InputError: _input,
        HostError: _host,
        SQLAlchemyError: _host,
        RequestValidationError: _invalid,
        HTTPException: _http,
        ClientDisconnect: _gone,
        Exception: _bug,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _input(_request: Request, error: InputError) -> AsciiJSON:
    status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
    headers = {"www-authenticate": "Bearer"} if status == 401 else {}
    if isinstance(error, TooMuchError) and error.retry_s:
        headers["retry-after"] = str(error.retry_s)
    return _answer(status, str(error), headers)


def _host(_request: Request, error: HostError | SQLAlchemyError) -> AsciiJSON:
    log.error("the host failed", error=str(error))
    return _answer(503, "the judge's host failed: try again later", {"retry-after": "60"})


def _invalid(_request: Request, error: RequestValidationError) -> AsciiJSON:
    return _answer(422, complaint(error))


def _http(_request: Request, error: HTTPException) -> AsciiJSON:
    return _answer(error.status_code, f"{error.detail}: see /openapi.json", error.headers)


def _gone(_request: Request, _error: ClientDisconnect) -> AsciiJSON:
    return _answer(400, "the connection ended before the upload was complete")


def _bug(_request: Request, _error: Exception) -> AsciiJSON:
    return _answer(500, "the judge failed: the cause is in the organiser's log")


def _answer(status: int, error: str, headers: Any = None) -> AsciiJSON:
    return AsciiJSON(Problem(error=error).model_dump(), status, headers)
