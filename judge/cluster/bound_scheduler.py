"""A scheduler in which a worker speaks for itself only.

dask lets whoever is connected do everything: a worker may register under any name, end other workers, and give out
tasks. Here a connection with a certificate of the workers' authority may be used for what a worker needs, under the
name of its certificate.
"""

import ipaddress
from typing import Any

from distributed import Scheduler
from distributed.comm.addressing import get_address_host
from distributed.comm.core import Comm, CommClosedError
from pydantic import ValidationError

from judge.cluster.keys import WORKERS_NAME
from judge.cluster.messages import PieceOfMoves, topic_of
from judge.logs import get_logger
from judge.text import printable

ASKED_BY_WORKERS = frozenset({"register-worker", "heartbeat_worker", "unregister"})
LOGGED = "log-event"
"""By it a worker sends moves of a game that it plays."""

TOLD_BY_WORKERS = frozenset(
    {
        "task-finished",
        "task-erred",
        "release-worker-data",
        "keep-alive",
        "worker-status-change",
        "close-stream",
        LOGGED,
    }
)
"""In the stream of a worker that is registered; others are dropped, such as those by which clients give out tasks."""

log = get_logger()


class BoundScheduler(Scheduler):
    """See above."""

    def __init__(self, **options: Any) -> None:
        """`options` are dask's."""
        super().__init__(**options)
        self._refused: dict[str, str] = {}
        """Why a worker was not taken the last time, by the name of its certificate: it asks every second."""

    async def _handle_comm(self, comm: Comm) -> None:
        worker = _worker_of(comm)
        if worker is not None:
            self._bind(comm, worker)
        await super()._handle_comm(comm)

    def _bind(self, comm: Comm, worker: str) -> None:
        """From now on messages of another name, or that are not for workers, are not read from this connection."""
        read = comm.read
        address = ""
        """Under which it is registered."""

        async def checked(deserializers: Any = None) -> Any:
            nonlocal address
            message = await read(deserializers=deserializers)  # type: ignore[no-untyped-call]
            if address:
                told = map(own_message, _listed(message))
                return [each for each in told if each is not None and self._may_tell(address, each)]
            why = self._refusal(comm, worker, message)
            if why:
                if self._refused.get(worker) != why:
                    log.warning("a worker is refused", worker=printable(worker, 80), why=why)
                if _is_registering(message):
                    self._refused[worker] = why
                    # As dask refuses a name that is taken; of a connection that ends a worker would learn nothing. It
                    # compares the time with its own, which it has sent.
                    await comm.write({"status": "error", "message": why, "time": message.get("now", 0.0)})
                    await comm.close()
                else:
                    comm.abort()
                raise CommClosedError(why)
            if _is_registering(message):
                address = str(message["address"])
                self._refused.pop(worker, None)
            return message

        setattr(comm, "read", checked)  # noqa: B010 - a method

    def _may_tell(self, worker: str, message: Any) -> bool:
        """Whether the worker at this address may say this; it tells of the games that it plays to their contest."""
        if not isinstance(message, dict) or message["op"] != LOGGED:
            return True
        try:
            piece = PieceOfMoves.model_validate(message.get("msg"), strict=True)
        except ValidationError:
            return False
        task = self.tasks.get(piece.task)
        is_its = task is not None and task.processing_on is not None and task.processing_on.address == worker
        return is_its and message.get("topic") == topic_of(piece.task)

    def _refusal(self, comm: Comm, worker: str, message: object) -> str:
        """Why a worker may not ask this; empty if it may."""
        if not isinstance(message, dict) or message.get("op") not in ASKED_BY_WORKERS:
            return "it asks what is not for workers"
        address, source = str(message.get("address")), get_address_host(comm.peer_address)
        if _is_registering(message):
            if message.get("name") != worker:
                return f"its certificate is not of {printable(str(message.get('name')), 80)}"
            if _is_ip(worker) and not _is_same(worker, source):
                return f"it calls from {source} with the file of {worker}: invite that address, or a host name"
            if (host := get_address_host(address)) != source:
                return f"it calls from {source} and listens on {printable(host, 80)}: give --listen the former"
        elif (found := self.workers.get(address)) is not None and found.name != worker:
            return "it speaks for another worker"
        return ""


def _is_registering(message: Any) -> bool:
    """Whether a worker asks to be taken."""
    return isinstance(message, dict) and message.get("op") == "register-worker"


def _listed(message: Any) -> Any:
    return message if isinstance(message, list | tuple) else (message,)


def own_message(message: Any) -> Any:
    """A message of a registered worker, about itself; None if it is not one that a worker needs."""
    if message == "OK":
        return message
    if not isinstance(message, dict) or message.get("op") not in TOLD_BY_WORKERS:
        return None
    return {key: value for key, value in message.items() if key != "worker"}  # dask adds whose connection it is


def _worker_of(comm: Comm) -> str | None:
    """The name in the certificate of a worker; None if it is another's, or there is none."""
    certificate = comm.extra_info.get("peercert")
    if not certificate:
        return None
    issuer = {key: value for part in certificate.get("issuer", ()) for key, value in part}
    if issuer.get("commonName") != WORKERS_NAME:
        return None
    names = certificate.get("subjectAltName", ())
    return str(names[0][1]) if names else ""


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_same(one: str, other: str) -> bool:
    return _is_ip(other) and ipaddress.ip_address(one) == ipaddress.ip_address(other)
