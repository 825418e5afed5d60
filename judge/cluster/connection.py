"""A contest's connection to a scheduler, which can be re-established; settings and logging of dask."""

import itertools
import logging
import secrets
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Future
from distributed.client import ClosedClientError
from distributed.security import Security

from judge.base.errors import HostError, InputError
from judge.base.logs import adopt
from judge.cluster.bounded_messages import bound_messages
from judge.cluster.live_moves import LiveMoves
from judge.cluster.messages import transfer_s
from judge.cluster.security import Address

SETTINGS = {
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.work-stealing": False,
    # No web pages without TLS.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    # No background work during games.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "30s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.diagnostics.nvml": False,
    "distributed.client.scheduler-info-interval": "1 minute",
    "distributed.comm.timeouts.connect": "10s",
    # Sizes must be checked before decompression.
    "distributed.comm.compression": None,
    # No kept messages, such as moves of many games.
    "distributed.admin.low-level-log-length": 0,
    # Agents' files and folder states are large.
    "distributed.admin.large-graph-warning-threshold": "8 GiB",
}

NO_PAGES = "127.0.0.1:0"


def settle(scratch: Path | None = None) -> None:
    """Configure dask and log its messages. `scratch`: for its files."""
    dask.config.set(SETTINGS | ({} if scratch is None else {"temporary-directory": str(scratch)}))
    bound_messages()
    adopt("distributed", "tornado", "asyncio", level=logging.WARNING)


CONNECT_S = 10.0
ANSWER_S = 10.0
"""Timeout of the scheduler's answers, in addition to `transfer_s` of a fetched value."""

HEADER = 1 << 10


class _Client(Client):
    """Ignores exceptions of tasks: a worker could send any object."""

    def __init__(self, address: str, **settings: Any) -> None:
        try:
            super().__init__(address, **settings)  # type: ignore[no-untyped-call]
        except KeyboardInterrupt:
            self.status = "closed"  # Does not wait for pending connections.
            raise

    def _handle_task_erred(self, key: Any = None, exception: Any = None, traceback: Any = None) -> None:  # noqa: ARG002
        super()._handle_task_erred(key, HostError("the task has failed"), None)  # type: ignore[no-untyped-call]


class SchedulerConnection:
    """Tasks may be submitted by several threads."""

    def __init__(self, address: Address, security: Security, moves: LiveMoves) -> None:
        """Raises HostError if no scheduler answers. `moves` receives events of its tasks."""
        settle()
        self._moves = moves
        self._address = address
        self._security = security
        self._name = f"judge-{secrets.token_hex(8)}"
        self._numbers = itertools.count()  # Two threads cannot advance a generator at once.
        self._client = self._connect()

    def reconnect(self) -> None:
        """Reconnect if dask has given up."""
        if self._client.status == "closed":
            with suppress(HostError):
                self._client = self._connect()

    def listen(self) -> None:
        """Subscribe to events of these tasks, again after a restart of the scheduler."""
        if self._client.status == "running":
            with suppress(ClosedClientError):
                self._client.subscribe_topic(self._name, self._moves.receive)

    def new_task(self) -> str:
        return f"{self._name}-{next(self._numbers)}"

    def ask(self, what: str, **values: object) -> Mapping[str, Any]:
        """The scheduler's answer. Raises OSError, also as TimeoutError."""
        try:
            return self._call(what, ANSWER_S, **values)
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - dask raises errors of many classes for a lost or unknown task
            raise ConnectionError(f"the scheduler has no answer: {error!r:.200}") from None

    def _call(self, what: str, timeout_s: float, **values: object) -> Mapping[str, Any]:
        if self._client.status != "running" or self._client.scheduler is None:
            raise TimeoutError
        answer: Mapping[str, Any] = self._client.sync(
            getattr(self._client.scheduler, what), callback_timeout=timeout_s, **values
        )
        return answer

    def submit(
        self,
        function: Callable[..., bytes],
        *values: bytes,
        task: str = "",
        only: Collection[str] | None = None,
        resources: Mapping[str, int] | None = None,
    ) -> Future[Any] | None:
        """Submit a function, to one of `only` if given. None if the connection is lost."""
        try:
            return self._client.submit(
                function,
                *values,
                key=task or self.new_task(),
                pure=False,
                resources=resources,
                workers=None if only is None else sorted(only),
                allow_other_workers=False,
            )
        except ClosedClientError:
            return None

    def fetch(self, task: Future[Any], largest: int) -> object:
        """Value of a finished task. dask's own function would fetch several at once, and give all the time of one.

        Raises InputError if more than `largest` bytes were announced or the value cannot be read, HostError if the task
        has failed or this host has no memory, else OSError.
        """
        name = str(task.key)
        if task.status == "error":
            raise HostError("the task has failed")
        size = self.ask("nbytes", keys=[name], summary=False).get(name)
        if not isinstance(size, int | float) or not size <= largest + HEADER:
            raise InputError(f"it has {size} bytes; at most {largest} are allowed")
        try:
            answer = self._call("gather", ANSWER_S + transfer_s(size), keys=[name])
        except OSError:
            raise
        except MemoryError:
            raise HostError(f"this host has no memory for {size} bytes") from None
        except Exception as error:  # noqa: BLE001 - whatever a hostile worker makes dask stumble over
            if not self.ask("who_has", keys=[name]).get(name):
                raise ConnectionError("the scheduler does not have it") from None
            raise InputError(f"it cannot be read: {error!r:.200}") from None
        if answer["status"] != "OK":
            raise ConnectionError("the scheduler cannot fetch it")
        value: object = answer["data"][name]
        return value

    def cancel(self, tasks: Collection[Future[Any]]) -> None:
        if self._client.status == "running":
            with suppress(OSError, TimeoutError, ClosedClientError):
                self._client.cancel(list(tasks))

    def close(self) -> None:
        """Close the connection and drop its tasks."""
        self._client.close(timeout=ANSWER_S)

    def _connect(self) -> Client:
        try:
            return _Client(
                str(self._address), security=self._security, timeout=CONNECT_S, set_as_default=False, name="judge"
            )
        except (OSError, TimeoutError) as error:
            raise HostError(
                f"no scheduler answers at {self._address} ({error}): start judge scheduler there, with keys of the "
                f"same authority"
            ) from None
