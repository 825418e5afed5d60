"""The contest's connection to a scheduler, which may be lost and come back: what is asked of it, and given to it."""

import itertools
import secrets
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from distributed import Client, Future
from distributed.client import ClosedClientError
from distributed.security import Security

from judge.base.errors import HostError, InputError
from judge.cluster.dask_config import settle
from judge.cluster.security import Address

CONNECT_S = 10.0
ANSWER_S = 10.0
"""How long a scheduler, or a worker that gives a record, may take to answer."""

HEADER = 1 << 10
"""Bytes that dask adds to the size of an answer."""


class _Client(Client):
    """A client of dask that does not look at what a task has raised, which may be anything that a worker sends."""

    def __init__(self, address: str, **settings: Any) -> None:
        try:
            super().__init__(address, **settings)  # type: ignore[no-untyped-call]
        except KeyboardInterrupt:
            self.status = "closed"  # or the process would wait for what it was connecting to
            raise

    def _handle_task_erred(self, key: Any = None, exception: Any = None, traceback: Any = None) -> None:  # noqa: ARG002
        super()._handle_task_erred(key, HostError("the task has failed"), None)  # type: ignore[no-untyped-call]


class SchedulerConnection:
    """See above. Tasks may be given by several threads."""

    def __init__(
        self, address: Address, security: Security, on_event: Callable[[tuple[float, Any]], None] = lambda _: None
    ) -> None:
        """Connect. `on_event` takes the events of workers about these tasks, in a thread of dask; it raises
        nothing. Raises HostError if no scheduler answers."""
        settle()
        self._on_event = on_event
        self._address = address
        self._security = security
        self._name = f"judge-{secrets.token_hex(8)}"
        self._numbers = itertools.count()  # two threads may take one at once, which a generator refuses
        self._client = self._connect()

    def reconnect(self) -> None:
        """Try to, if dask has given up."""
        if self._client.status == "closed":
            with suppress(HostError):
                self._client = self._connect()

    def listen(self) -> None:
        """Have the events sent of the tasks of this connection; a scheduler does not know that of the one before it."""
        if self._client.status == "running":
            with suppress(ClosedClientError):
                self._client.subscribe_topic(self._name, self._on_event)

    def new_task(self) -> str:
        """The name of a task that is to be submitted."""
        return f"{self._name}-{next(self._numbers)}"

    def ask(self, what: str, **values: object) -> Mapping[str, Any]:
        """What the scheduler says. Raises OSError or TimeoutError if it does not answer."""
        if self._client.status != "running" or self._client.scheduler is None:
            raise TimeoutError
        answer: Mapping[str, Any] = self._client.sync(
            getattr(self._client.scheduler, what), callback_timeout=ANSWER_S, **values
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
        """Have a function called by a worker, by one at the addresses `only`; None if the connection is lost. `task` is
        its name, if it has one."""
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
        """What a task that has ended returned. Raises InputError if its worker has announced more than `largest` bytes;
        the scheduler takes no more than the worker announced. Raises OSError or TimeoutError if it does not come."""
        name = str(task.key)
        size = self.ask("nbytes", keys=[name], summary=False).get(name)
        if not isinstance(size, int | float) or not size <= largest + HEADER:
            raise InputError(f"it has {size} bytes, and {largest} are allowed")
        return task.result(timeout=ANSWER_S)

    def cancel(self, tasks: Collection[Future[Any]]) -> None:
        """Give tasks up."""
        if self._client.status == "running":
            with suppress(OSError, TimeoutError, ClosedClientError):
                self._client.cancel(list(tasks))

    def close(self) -> None:
        """Let the scheduler go, with what it was given."""
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
