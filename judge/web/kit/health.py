"""The state of the service, for those who watch over it."""

from collections.abc import Sequence

from anyio import CapacityLimiter, to_thread

from judge.base.errors import HostError
from judge.base.service_loop import stalled_loops
from judge.store.submission_queries import RegisterReader

_checks = CapacityLimiter(2)
"""Threads that no other request uses."""


class StalledError(HostError):
    """A part of the service does not work; the names of parts are public."""


async def check_health(register: RegisterReader | None = None, problems: Sequence[str] = ()) -> None:
    """Raise HostError if the store does not answer, StalledError for a stalled loop and `problems` of others."""
    if register is not None:
        await to_thread.run_sync(register.has_begun, limiter=_checks)
    if stalled := [*stalled_loops(), *problems]:
        raise StalledError("; ".join(stalled))
