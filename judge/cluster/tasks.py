"""Functions that dask runs on a worker."""

import asyncio
import multiprocessing
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from distributed import Worker, WorkerPlugin, get_worker
from distributed.core import Status
from distributed.utils import sync
from typing_extensions import override

from judge.base.errors import HostError, InputError
from judge.cluster.live_moves import GameClient
from judge.cluster.machine import Machine
from judge.cluster.messages import Answer, Order, ParcelPiece, Receipt, Unfit, topic_of
from judge.contest.slots import slots_on_host

SLOT = "slot"

MAX_UNSENT = 4
"""dask joins unsent messages; a scheduler refuses long ones."""

SEND_S = 10.0

UNSENT_S = 0.01

_making = threading.Lock()
_sending = threading.Lock()


class AtMachine(WorkerPlugin):
    """Gives tasks access to the worker's machine."""

    name = "judge"

    def __init__(self, machine: Machine, *, is_own: bool) -> None:
        self.machine = machine
        self._is_own = is_own

    def teardown(self, worker: Worker) -> None:  # noqa: ARG002 - dask gives it
        """dask calls this when the worker ends."""
        if self._is_own:
            self.machine.close()


class _Task(GameClient):
    """The current task of a worker."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._task = worker.state.tasks[worker.get_current_task()]

    @override
    def is_wanted(self) -> bool:
        return self._worker.status is Status.running and self._task.state == "executing"

    @override
    def send_moves(self, begin: int, data: bytes) -> None:
        name = str(self._task.key)
        event = {"op": "log-event", "topic": topic_of(name), "msg": {"task": name, "begin": begin, "data": data}}
        with suppress(OSError, RuntimeError, TimeoutError), _sending:
            sync(self._worker.loop, _send_in_turn, self._worker, event, callback_timeout=SEND_S)


def play(order: bytes) -> bytes:
    """`Order` in, `Answer` out."""
    worker = get_worker()
    return _encode_answer(lambda: _machine(worker).play(Order.model_validate_json(order), _Task(worker)))


async def _send_in_turn(worker: Worker, event: dict[str, object]) -> None:
    stream = worker.batched_stream
    while len(stream.buffer) > MAX_UNSENT and not stream.closed():
        await asyncio.sleep(UNSENT_S)
    stream.send(event)


def receive(piece: bytes, data: bytes) -> bytes:
    """A `ParcelPiece` and its bytes in, a `Receipt` out."""
    worker = get_worker()
    return _encode_answer(lambda: _machine(worker).receive(ParcelPiece.model_validate_json(piece), data))


def _encode_answer(serve: Callable[[], Answer | Receipt]) -> bytes:
    try:
        answer = serve()
    except (HostError, InputError, OSError) as error:
        answer = Unfit(why=str(error)[:2000])
    return answer.model_dump_json().encode()


def _machine(worker: Worker) -> Machine:
    """A plain dask worker gets a machine with a one-core slot per resource."""
    with _making:
        if AtMachine.name not in worker.plugins:
            if multiprocessing.current_process().daemon:
                raise HostError(f"{worker.name} may not start processes: start dask worker with --no-nanny")
            slots = slots_on_host(1, int(worker.state.total_resources[SLOT]))
            machine = Machine(
                str(worker.name), Path(worker.local_directory) / "judge-worker", slots, allows_processes=True
            )
            worker.plugins[AtMachine.name] = AtMachine(machine, is_own=True)
        plugin = worker.plugins[AtMachine.name]
    if not isinstance(plugin, AtMachine):
        raise HostError(f"{worker.name} has another plugin named {AtMachine.name}")
    return plugin.machine
