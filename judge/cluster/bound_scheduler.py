"""A dask scheduler that checks every value that workers send.

A connection with a worker's certificate may send only `_CALLS` and `_STREAMED`, under the certificate's name.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from distributed import Scheduler
from distributed.comm.addressing import get_address_host, get_address_host_port, parse_address
from distributed.comm.core import Comm, CommClosedError
from distributed.core import Status
from distributed.protocol.serialize import Serialize
from distributed.versions import get_versions
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from judge.base.logs import get_logger
from judge.base.parsing import first_of
from judge.base.text import printable
from judge.cluster.bounded_messages import MAX_MESSAGE_BYTES, expect_answers, worker_of
from judge.cluster.messages import MAX_MOVES_BYTES, PieceOfMoves, topic_of, transfer_s
from judge.cluster.roster import MAX_SLOTS, slots_in
from judge.cluster.security import ip_of
from judge.cluster.tasks import SLOT

MAX_CONNECTIONS_PER_WORKER = 16
"""Simultaneous connections per certificate. A worker needs two."""

GATHER_S = 120.0
"""Timeout of a worker's answers, in addition to `transfer_s` of their size."""

MAX_ANNOUNCED_BYTES = 1 << 50
"""Answer size that a worker may announce. The contest's host has a much lower limit."""

METRICS: Mapping[str, Any] = {
    "bandwidth": {"total": 1e8, "workers": {}, "types": {}},
    "digests_total_since_heartbeat": {},
    "memory": 0,
    "managed_bytes": 0,
    "spilled_bytes": {"memory": 0, "disk": 0},
}

log = get_logger()

Text = Annotated[str, Field(max_length=300)]


class _Message(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    def for_dask(self) -> dict[str, Any]:
        return self.model_dump()


class _Registration(_Message):
    address: Text
    name: Text
    status: Literal["init", "running"]
    nthreads: int = Field(ge=1, le=2 * MAX_SLOTS)
    resources: dict[str, Any] = Field(max_length=16)
    server_id: Text
    stimulus_id: Text

    def for_dask(self) -> dict[str, Any]:
        constants: dict[str, Any] = {
            "reply": False,
            "resources": {SLOT: slots_in(self.resources)},
            "nanny": None,
            "now": 0.0,
            "memory_limit": 0,
            "services": {},
            "local_directory": "",
            "metrics": dict(METRICS),
            "versions": get_versions(),
            "extra": {},
        }
        return self.model_dump() | constants


class _Heartbeat(_Message):
    address: Text

    def for_dask(self) -> dict[str, Any]:
        return self.model_dump() | {"metrics": dict(METRICS)}


class _Unregistration(_Message):
    address: Text
    stimulus_id: Text


_CALLS: Mapping[str, type[_Message]] = {
    "register-worker": _Registration,
    "heartbeat_worker": _Heartbeat,
    "unregister": _Unregistration,
}


class _Finished(_Message):
    key: Text
    run_id: int
    nbytes: int = Field(ge=0, le=MAX_ANNOUNCED_BYTES)
    stimulus_id: Text

    def for_dask(self) -> dict[str, Any]:
        kind = {"status": "OK", "type": b"", "typename": "bytes", "thread": None}
        return self.model_dump() | kind | {"metadata": {}, "startstops": ()}


class _Erred(_Message):
    key: Text
    run_id: int
    stimulus_id: Text

    def for_dask(self) -> dict[str, Any]:
        # The exception can be any object.
        texts = {"exception_text": "", "traceback_text": "", "traceback": None, "thread": None, "startstops": ()}
        return self.model_dump() | texts | {"status": "error", "exception": Serialize(b"")}


class _Released(_Message):
    key: Text
    stimulus_id: Text


class _StatusChanged(_Message):
    status: str
    stimulus_id: Text

    @field_validator("status")
    @classmethod
    def _is_known(cls, status: str) -> str:
        if status not in Status.__members__:
            raise ValueError("an unknown status")
        return status


class _Logged(_Message):
    topic: Text
    msg: PieceOfMoves


LOGGED = "log-event"

_STREAMED: Mapping[str, type[_Message]] = {
    "task-finished": _Finished,
    "task-erred": _Erred,
    "release-worker-data": _Released,
    "worker-status-change": _StatusChanged,
    "keep-alive": _Message,
    "close-stream": _Message,
    LOGGED: _Logged,
}
"""Messages accepted from a registered worker; others are dropped."""


class BoundScheduler(Scheduler):
    """See the module."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._refused: dict[str, str] = {}
        """Logged once, because workers retry every second."""
        self._connections = Counter[str]()
        expect_answers(self._announced)

    async def gather(self, keys: Any, *words: Any, **named: Any) -> Any:
        """A worker could report that it is busy forever. Late answers count as lost."""
        size = sum(self.tasks[key].get_nbytes() for key in keys if key in self.tasks)
        try:
            async with asyncio.timeout(GATHER_S + transfer_s(size)):
                return await super().gather(keys, *words, **named)
        except TimeoutError:
            return {"status": "error", "keys": list(keys)}

    async def _handle_comm(self, comm: Comm) -> None:
        worker = worker_of(comm)
        if worker is None:
            await super()._handle_comm(comm)
            return
        if self._connections[worker] >= MAX_CONNECTIONS_PER_WORKER:
            comm.abort()
            return
        self._connections[worker] += 1
        try:
            self._bind(comm, worker)
            await super()._handle_comm(comm)
        finally:
            self._connections[worker] -= 1
            if not self._connections[worker]:
                del self._connections[worker]

    def _announced(self, address: str) -> int:
        found = self.workers.get(address)
        return min(MAX_MESSAGE_BYTES, sum(task.get_nbytes() for task in found.has_what)) if found else 0

    def _bind(self, comm: Comm, worker: str) -> None:
        read = comm.read
        address = ""
        moves = Counter[str]()

        async def checked(deserializers: Any = None) -> Any:
            nonlocal address
            message = await read(deserializers=deserializers)  # type: ignore[no-untyped-call]
            if address:
                messages = message if isinstance(message, list | tuple) else (message,)
                streamed = [checked_message(each) for each in messages]
                return [each for each in streamed if each is not None and self._may_send(address, each, moves)]
            call, why = self._call(comm, worker, message)
            if why:
                if self._refused.get(worker) != why:
                    log.warning("a worker is refused", worker=printable(worker, 80), why=why)
                if _is_registering(message):
                    self._refused[worker] = why
                    # As dask refuses a taken name; closing would give no reason.
                    now = message.get("now")
                    time = now if isinstance(now, float) else 0.0
                    await comm.write({"status": "error", "message": why, "time": time})
                    await comm.close()
                else:
                    comm.abort()
                raise CommClosedError(why)
            if _is_registering(message):
                address = str(call["address"])
                self._refused.pop(worker, None)
            return call

        setattr(comm, "read", checked)  # noqa: B010 - a method

    def _may_send(self, worker: str, message: Any, moves: Counter[str]) -> bool:
        if not isinstance(message, dict) or message["op"] not in {LOGGED, "task-finished", "task-erred"}:
            return True
        is_logged = message["op"] == LOGGED
        key = message["msg"]["task"] if is_logged else message["key"]
        task = self.tasks.get(key)
        plays = task.processing_on if task is not None else None
        is_its = plays is not None and plays.address == worker
        if not is_logged:
            has = task is not None and any(each.address == worker for each in task.who_has or ())
            # dask frees the answer of a task without a worker. Answers to other workers' tasks are refused.
            if is_its or has or task is None or (plays is None and task.state != "memory"):
                return True
            self.worker_send(worker, {"op": "free-keys", "keys": [key], "stimulus_id": message["stimulus_id"]})
            return False
        if not is_its or message["topic"] != topic_of(key):
            return False
        for played in [each for each in moves if each not in self.tasks]:
            del moves[played]
        moves[key] += len(message["msg"]["data"])
        return moves[key] <= MAX_MOVES_BYTES

    def _call(self, comm: Comm, worker: str, message: object) -> tuple[dict[str, Any], str]:
        if not isinstance(message, dict) or not isinstance(message.get("op"), str) or message["op"] not in _CALLS:
            return {}, "it sent a request that workers may not send"
        address, source = str(message.get("address")), get_address_host(comm.peer_address)
        if _is_registering(message):
            if message.get("name") != worker:
                return {}, f"its certificate is not of {printable(str(message.get('name')), 80)}"
            if (ip := ip_of(worker)) is not None and ip != ip_of(source.partition("%")[0]):
                return {}, f"it calls from {source} with the file of {worker}: invite that address, or a host name"
            if (host := _host_of(address)) != source:
                return {}, f"it calls from {source} and listens on {printable(host, 80)}: give --listen the former"
            resources = message.get("resources")
            if not slots_in(resources):
                announced = resources.get(SLOT) if isinstance(resources, dict) else None
                return {}, f"it announces {printable(repr(announced), 40)} slots, and may have 1 to {MAX_SLOTS}"
        elif (found := self.workers.get(address)) is not None and found.name != worker:
            return {}, "it speaks for another worker"
        try:
            return {"op": message["op"]} | _CALLS[message["op"]].model_validate(message).for_dask(), ""
        except ValidationError as error:
            where = ".".join(map(str, first_of(error)["loc"]))
            return {}, f"its message {message['op']} has a wrong {printable(where, 80)}"


def _is_registering(message: Any) -> bool:
    return isinstance(message, dict) and message.get("op") == "register-worker"


def checked_message(message: Any) -> Any:
    """Check a registered worker's message; None if unneeded or invalid."""
    if message == "OK":
        return message
    if not isinstance(message, dict) or not isinstance(message.get("op"), str) or message["op"] not in _STREAMED:
        return None
    try:
        return {"op": message["op"]} | _STREAMED[message["op"]].model_validate(message).for_dask()
    except ValidationError:
        return None


def _host_of(address: str) -> str:
    try:
        host, port = get_address_host_port(address, strict=True)
    except ValueError:
        return ""
    return host if 0 < port < 1 << 16 and parse_address(address)[0] == "tls" else ""
