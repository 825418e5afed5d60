"""Cancellation of a running call from another thread."""

from collections.abc import Callable
from threading import Event

from judge.referee.side import Ply


class CancelledError(BaseException):
    """The caller's `cancel` event is set. Like `asyncio.CancelledError` it is not an `Exception`."""


def check_cancelled(cancel: Event | None) -> None:
    """Raise CancelledError if the event is set."""
    if cancel is not None and cancel.is_set():
        raise CancelledError


def watch_until(cancel: Event | None, watch: Callable[[Ply], None] | None) -> Callable[[Ply], None] | None:
    """Return an observer of answers that aborts the game when the event is set."""
    if cancel is None:
        return watch

    def watch_or_abort(ply: Ply) -> None:
        check_cancelled(cancel)
        if watch is not None:
            watch(ply)

    return watch_or_abort
