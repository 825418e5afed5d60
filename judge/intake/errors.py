"""Every error as an answer: its status, and its sentence as JSON; what failed on the host is said in the log alone."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from judge.documents import complaint
from judge.errors import HostError, InputError
from judge.intake.schemas import AsciiJSON, Problem
from judge.intake.upload import TooLargeError, TooSlowError
from judge.logs import get_logger
from judge.store.submission import NameTakenError, NotNowError, TooMuchError, UnknownSubmissionError

log = get_logger()

MEANINGS = {
    401: "No token, or none that holds.",
    404: "There is none of that number, or it is not yours.",
    408: "Too slow.",
    409: "It cannot be done as things are.",
    413: "Too large.",
    422: "Something in the request is wrong.",
    429: "Too often, or too much; `Retry-After` says when to come back.",
    503: "The host failed: try again.",
}


class StrangerError(InputError):
    """No token, or none that holds."""


STATUS: dict[type[InputError], int] = {
    StrangerError: 401,
    UnknownSubmissionError: 404,
    TooSlowError: 408,
    NameTakenError: 409,
    NotNowError: 409,
    TooLargeError: 413,
    TooMuchError: 429,
    InputError: 422,
}
"""The first that fits."""


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How a path's answers of these kinds are described."""
    return {status: {"model": Problem, "description": MEANINGS[status]} for status in statuses}


def handle_problems(app: FastAPI) -> None:
    """Answer every error in one shape."""
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
    return _answer(400, "the connection ended before the upload did")


def _bug(_request: Request, _error: Exception) -> AsciiJSON:
    return _answer(500, "the judge failed: the organiser's log says why")


def _answer(status: int, error: str, headers: Any = None) -> AsciiJSON:
    return AsciiJSON(Problem(error=error).model_dump(), status, headers)
