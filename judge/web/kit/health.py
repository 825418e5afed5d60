"""The state of the service, for those who watch over it."""

from collections.abc import Callable

from anyio import CapacityLimiter, to_thread

from judge.base.errors import HostError
from judge.base.service_loop import stalled_loops

_checks = CapacityLimiter(2)
"""Threads that no other request uses."""


class StalledError(HostError):
    """A part of the service does not work; the names of parts are public."""


async def check_health(check_store: Callable[[], object] = lambda: None) -> None:
    """Raise HostError if the store does not answer, StalledError if a part of the service does not work."""
    await to_thread.run_sync(check_store, limiter=_checks)
    if stalled := stalled_loops():
        raise StalledError("; ".join(stalled))
