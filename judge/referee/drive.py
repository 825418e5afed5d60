"""Carries out the referee's requests."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from judge.referee.requests import (
    AwaitEvent,
    AwaitStopped,
    Freeze,
    Kill,
    Measure,
    Mute,
    NoteFailure,
    ReadMemory,
    ReadPending,
    ReadStoppedCpu,
    Requests,
    Restart,
    Start,
    Thaw,
    WireRequest,
    WriteInput,
)
from judge.referee.wire import Wire

Result = TypeVar("Result")


def answers_of(wire: Wire) -> Mapping[type[WireRequest], Callable[..., Any]]:
    """The methods of a wire, by the request whose fields are their arguments."""
    return {
        Start: wire.start,
        Restart: wire.respawn,
        WriteInput: wire.write,
        Thaw: wire.thaw,
        Freeze: wire.freeze,
        AwaitStopped: wire.await_still,
        ReadStoppedCpu: wire.stopped_cpu,
        ReadPending: wire.look,
        AwaitEvent: wire.wait,
        Measure: wire.measure,
        ReadMemory: wire.memory_beyond,
        Mute: wire.mute,
        Kill: wire.kill,
        NoteFailure: wire.fail,
    }


def drive(requests: Requests[Result], wire: Wire) -> Result:
    """Answer all requests by `wire`, and return the result. Errors of the wire are raised where it was asked."""
    answers = answers_of(wire)
    try:
        request = next(requests)
        while True:
            try:
                answer = answers[type(request)](*request)
            except Exception as error:  # noqa: BLE001 the referee handles failures of the host
                request = requests.throw(error)
            else:
                request = requests.send(answer)
    except StopIteration as end:
        result: Result = end.value
        return result
