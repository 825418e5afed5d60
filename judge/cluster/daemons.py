"""The scheduler and worker processes."""

import asyncio
import re
import signal
import socket
from contextlib import suppress
from functools import lru_cache

from distributed import Worker
from distributed.comm.addressing import unparse_host_port
from distributed.core import Server
from distributed.security import Security

from judge.base.descriptors import raise_descriptor_limit
from judge.base.errors import HostError
from judge.base.logs import get_logger
from judge.base.owner import owned_directory
from judge.base.text import printable
from judge.cluster.bound_scheduler import BoundScheduler
from judge.cluster.bounded_messages import TASKS, refuse_pickles
from judge.cluster.connection import NO_PAGES, settle
from judge.cluster.machine import Machine
from judge.cluster.security import Address
from judge.cluster.tasks import SLOT, AtMachine
from judge.sandbox.docker.reaper import reap

ASKED_OF_BOTH = frozenset({"connection_stream", "gather", "identity"})
ASKED_OF_SCHEDULER = ASKED_OF_BOTH | {
    "heartbeat_worker",
    "nbytes",
    "register-client",
    "register-worker",
    "unregister",
    "who_has",
}
ASKED_OF_WORKER = ASKED_OF_BOTH | {"free_keys", "get_data", "ping", "terminate"}
"""Requests that peers may send to a worker; dask allows many more, such as writing any file."""

RETRY_INTERVAL_S = 1.0
MAX_RETRY_INTERVAL_S = 30.0
"""Of a worker that the scheduler refuses again and again."""

_PORT = re.compile(r":\d+\b")
_REASON = re.compile(r"'message': ['\"](.*?)['\"], '")

log = get_logger()


def run_scheduler(listen: Address, security: Security, lost_after_s: float) -> None:
    """Connect workers and contests until SIGTERM or Ctrl-C. Raises HostError.

    A worker silent for `lost_after_s` (at least 5, dask's minimum) counts as lost.
    """
    raise_descriptor_limit()  # each worker takes two files
    for line in reap(containers=False):
        log.info("removed what an earlier judge left", what=line)
    with owned_directory() as scratch:
        settle(scratch)
        refuse_pickles(TASKS)
        asyncio.run(_scheduler(listen, security, lost_after_s))


def run_worker(machine: Machine, scheduler: Address, listen: Address | None, security: Security) -> None:
    """Play until SIGTERM or Ctrl-C, which end running games. The scheduler may restart.

    `listen`: by default the address towards the scheduler, with any port.
    """
    settle()
    refuse_pickles(TASKS)
    try:
        asyncio.run(_worker(machine, scheduler, listen, security))
    finally:
        machine.close()


async def _scheduler(listen: Address, security: Security, lost_after_s: float) -> None:
    stopped = _stopped()
    scheduler = BoundScheduler(
        host=unparse_host_port(listen.host),
        port=listen.port,
        protocol=f"{listen.scheme}://",
        security=security,
        worker_ttl=lost_after_s,
        dashboard_address=NO_PAGES,
        dashboard=False,
    )
    _answer_only(scheduler, ASKED_OF_SCHEDULER)
    try:
        await scheduler
    except OSError as error:
        await scheduler.close()
        raise HostError(f"{listen}: {error}: give --listen an address of this host") from None
    log.info("scheduler listens", at=scheduler.address)
    await stopped.wait()
    await scheduler.close()


async def _worker(machine: Machine, scheduler: Address, listen: Address | None, security: Security) -> None:
    stopped = _stopped()
    refusals = 0
    while not stopped.is_set():
        try:
            here = listen.host if listen else address_towards(scheduler)
        except OSError as error:
            log.warning("no route to the scheduler", scheduler=str(scheduler), why=str(error))
            await asyncio.sleep(RETRY_INTERVAL_S)
            continue
        scratch = machine.folder / "dask"
        scratch.mkdir(exist_ok=True)
        worker = Worker(
            str(scheduler),
            name=machine.name,
            nthreads=machine.slots + 1,
            resources={SLOT: machine.slots},
            security=security,
            protocol=f"{scheduler.scheme}://",
            host=unparse_host_port(here),
            port=listen.port if listen else 0,
            local_directory=str(scratch),
            memory_limit=0,
            dashboard_address=NO_PAGES,
            plugins=(AtMachine(machine, is_own=False),),
        )
        _answer_only(worker, ASKED_OF_WORKER)
        refusals = refusals + 1 if await _is_refused(worker, stopped) else 0
        interval_s = min(MAX_RETRY_INTERVAL_S, RETRY_INTERVAL_S * 2 ** min(refusals, 16))
        with suppress(TimeoutError):
            await asyncio.wait_for(stopped.wait(), interval_s)


def _answer_only(server: Server, names: frozenset[str]) -> None:
    for name in server.handlers.keys() - names:
        del server.handlers[name]


async def _is_refused(worker: Worker, stopped: asyncio.Event) -> bool:
    """Wait until a worker is closed; return whether the scheduler refused it. A dask worker cannot reconnect; a new one
    replaces it.
    """
    is_refused = False
    end = asyncio.create_task(stopped.wait())
    try:
        begun = asyncio.create_task(_begin(worker))
        await asyncio.wait({end, begun}, return_when=asyncio.FIRST_COMPLETED)
        if begun.done() and begun.result() == "":
            gone = asyncio.create_task(worker.finished())
            await asyncio.wait({end, gone}, return_when=asyncio.FIRST_COMPLETED)
            gone.cancel()
        is_refused = begun.done() and bool(begun.result())
        begun.cancel()
    finally:
        end.cancel()
        await worker.close()
    return is_refused


async def _begin(worker: Worker) -> str | None:
    """The reason of a refusal, empty for a connection; None if the scheduler was not reached."""
    try:
        await worker
    except (OSError, ValueError, RuntimeError) as error:
        # The scheduler may still have this worker's predecessor.
        return log_refusal(str(error.__cause__ or error))
    _log_once.cache_clear()
    log.info("worker serves", scheduler=worker.scheduler.address, at=worker.address)
    return ""


def log_refusal(said: str) -> str | None:
    """Log why there is no connection, unless it is unchanged; return the scheduler's reason, if it gave one."""
    found = _REASON.search(said)
    # The rest has other ports each time.
    _log_once(found[1] if found else _PORT.sub("", said))
    return found[1] if found else None


@lru_cache(maxsize=1)
def _log_once(why: str) -> None:
    log.warning("the scheduler refuses this worker", why=printable(why, 300))


def address_towards(scheduler: Address) -> str:
    """This host's address towards the scheduler. Raises OSError."""
    family, kind, _, _, there = socket.getaddrinfo(scheduler.host, scheduler.port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as probe:
        probe.connect(there)
        return str(probe.getsockname()[0])


def _stopped() -> asyncio.Event:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    return stopped
