"""Carries out the referee's requests."""

from typing import TypeVar

from judge.referee.requests import Request, Requests
from judge.referee.wire import Wire

Result = TypeVar("Result")


class UnansweredError(Exception):
    """A wire has no answer yet; `drive` adds the request."""

    request: Request


def drive(requests: Requests[Result], wire: Wire, unanswered: Request | None = None) -> Result:
    """Answer all requests by `wire`, and return the result. Errors of the wire are raised where it was asked.

    Raises UnansweredError if the wire does; then call it again, with its request.
    """
    try:
        request = next(requests) if unanswered is None else unanswered
        while True:
            try:
                answer = request.carry_out(wire)
            except UnansweredError as waiting:  # mypyc confuses two errors of one name
                waiting.request = request
                raise
            except Exception as error:  # noqa: BLE001 the referee handles failures of the host
                request = requests.throw(error)
            else:
                request = requests.send(answer)
    except StopIteration as end:
        result: Result = end.value
        return result
