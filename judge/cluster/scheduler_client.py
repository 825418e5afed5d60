"""The connection to a scheduler and its workers: which workers there are, and tasks for one of them.

Answers come later, to the caller of each task. If the scheduler is lost, so are all tasks.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Generic, TypeVar

from distributed import Client, Future
from distributed.client import ClosedClientError
from distributed.security import Security

from judge.cluster.dask_config import settle
from judge.cluster.security import Address
from judge.errors import HostError

CONNECT_S = 10.0
ANSWER_S = 10.0
"""How long a scheduler, or a worker that gives a record, may take to answer."""

Item = TypeVar("Item")
Answer = Callable[[Future[Any]], list[Item]]


class SchedulerLostError(HostError):
    """The scheduler cannot be reached, or another has taken its place: what was asked is forgotten."""


@dataclass(frozen=True, slots=True)
class _Asked(Generic[Item]):
    future: Future[Any]
    address: str
    then: Answer[Item]


class SchedulerClient(Generic[Item]):
    """A client of a scheduler."""

    def __init__(self, address: Address, security: Security) -> None:
        """Connect. Raises HostError if no scheduler answers."""
        settle()
        self._address = address
        self._security = security
        self._numbers = itertools.count(1)
        self._scheduler = ""
        self._asked: dict[str, _Asked[Item]] = {}
        self._news: SimpleQueue[Future[Any]] = SimpleQueue()
        self._client = self._connect()

    def workers(self) -> Mapping[str, str] | None:
        """The names of the workers, by address; None if the scheduler does not answer in time. Raises
        SchedulerLostError."""
        if self._client.status == "closed":
            with suppress(HostError):
                self._client = self._connect()
        is_lost = self._client.status != "running" or any(asked.future.cancelled() for asked in self._asked.values())
        identity = None if is_lost else self._identity()
        if is_lost or (identity is not None and identity["id"] != self._scheduler):
            self._scheduler = identity["id"] if identity is not None else ""
            self._forget(list(self._asked))
            raise SchedulerLostError(f"the scheduler at {self._address} is lost")
        if identity is None:
            return None
        return {at: str(worker["name"]) for at, worker in identity["workers"].items()}

    def ask(
        self,
        address: str,
        then: Answer[Item],
        function: Callable[..., Any],
        *arguments: Any,
        name: str = "",
        resources: Mapping[str, float] | None = None,
    ) -> Future[Any] | None:
        """Give the worker at `address` a task; `hear` calls `then` with its result. None if the connection is lost,
        which `workers` will report."""
        key = name or f"{function.__name__} {next(self._numbers)}"
        try:
            future: Future[Any] = self._client.submit(
                function,
                *arguments,
                key=key,
                pure=False,
                retries=0,
                workers=[address],
                allow_other_workers=False,
                resources=resources,
            )
        except ClosedClientError:
            return None
        self.follow(address, then, future)
        return future

    def follow(self, address: str, then: Answer[Item], future: Future[Any]) -> None:
        """Hear of the end of an errand that was asked before."""
        self._asked[str(future.key)] = _Asked(future, address, then)
        future.add_done_callback(self._news.put)

    def hear(self, timeout_s: float) -> list[Item]:
        """The results of the tasks that have ended; waits for one."""
        found: list[Item] = []
        with suppress(Empty):
            future = self._news.get(timeout=timeout_s) if timeout_s > 0 else self._news.get_nowait()
            while True:
                asked = self._asked.get(str(future.key))
                # One that is cancelled went with its scheduler.
                if asked is not None and asked.future is future and not future.cancelled():
                    del self._asked[str(future.key)]
                    found += asked.then(future)
                future = self._news.get_nowait()
        return found

    def drop(self, address: str) -> None:
        """Expect nothing more of a worker."""
        self._forget([key for key, asked in self._asked.items() if asked.address == address])

    def wait_for(self, futures: Sequence[Future[Any] | None], timeout_s: float) -> None:
        """Give workers time to do their last tasks."""
        until = monotonic() + timeout_s
        while self._client.status == "running" and monotonic() < until:
            if all(future is None or future.done() for future in futures):
                return
            self.hear(min(ANSWER_S, until - monotonic()))

    def close(self) -> None:
        """Hang up."""
        self._forget(list(self._asked))
        self._client.close(timeout=ANSWER_S)

    def _connect(self) -> Client:
        try:
            return Client(
                str(self._address), security=self._security, timeout=CONNECT_S, set_as_default=False, name="judge"
            )
        except (OSError, TimeoutError) as error:
            raise HostError(
                f"no scheduler answers at {self._address} ({error}): start judge scheduler there, with keys of the "
                f"same authority"
            ) from None

    def _identity(self) -> Mapping[str, Any] | None:
        scheduler = self._client.scheduler
        if scheduler is None:
            return None
        try:
            found: Mapping[str, Any] = self._client.sync(scheduler.identity, n_workers=-1, callback_timeout=ANSWER_S)
        except (OSError, TimeoutError):
            return None
        return found

    def _forget(self, keys: list[str]) -> None:
        for key in keys:
            self._asked.pop(key).future.release()
