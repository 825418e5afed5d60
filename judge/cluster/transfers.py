"""What workers lack is sent to them, by way of the scheduler, while games go on.

A piece is a task for one worker, whose answer says where the next one begins. So a transfer goes on where it was, also
one that another contest or an earlier run began; and nobody has more than a piece of it in memory.
"""

import hashlib
from collections.abc import Callable, Container
from concurrent.futures import CancelledError as Dropped
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic
from typing import BinaryIO

from distributed import CancelledError

from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.cluster.connection import SchedulerConnection
from judge.cluster.messages import LARGEST_RECEIPT, Arrived, Parcel, ParcelPiece, Unfit, read_receipt
from judge.cluster.parcels import PIECE
from judge.cluster.roster import Roster, WorkerFound
from judge.cluster.tasks import receive

AT_ONCE = 4
"""So many workers are sent something at the same time."""

LOOK_S = 1.0
"""How soon a transfer ends whose worker is lost."""

AGAIN_S = 30.0
"""After how long this host tries again to make what it could not."""

TIMES = 3
"""How often a worker may ask for the same bytes, because they were damaged, before it is given up."""

ANSWER_S = 1800.0
"""Seconds after which a worker must have answered a piece: the last answer comes when a whole image is imported."""

log = get_logger()


@dataclass(frozen=True, slots=True)
class TransferEnd:
    """The end of a transfer; without `why` the worker has what it lacked, or is lost."""

    what: str
    worker: WorkerFound
    why: str = ""
    is_lie: bool = False
    """Whether the worker has said what no honest one says."""


class WorkerGoneError(Exception):
    """The worker is not there any more, or the scheduler."""


class Transfers:
    """Threads that send; each thing goes to a worker once at a time."""

    def __init__(
        self,
        connection: SchedulerConnection,
        roster: Roster,
        ended: Callable[[TransferEnd], None],
        tell: Callable[[str], None],
    ) -> None:
        """`ended` is called in another thread when a transfer has ended, and `tell` when this host cannot send."""
        self._connection = connection
        self._roster = roster
        self._ended = ended
        self._tell = tell
        self._closing = Event()
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="transfer")
        self._running: set[tuple[str, str]] = set()
        self._count: dict[tuple[str, str], int] = {}

    def send(self, worker: WorkerFound, what: str, make: Callable[[], tuple[Parcel, Path]]) -> bool:
        """Begin to send what `make` returns; `what` is its digest or name. False if that happens already.

        Raises InputError if the worker had it often enough.
        """
        key = worker.address, what
        if key in self._running:
            return False
        self._count[key] = self._count.get(key, 0) + 1
        if self._count[key] > TIMES:
            raise InputError(f"it was sent {what} {TIMES} times, and lacks it still")
        self._running.add(key)
        sending = self._threads.submit(self._send, worker, what, make)
        sending.add_done_callback(lambda done: self._end(worker, what, done))
        return True

    def forget(self, sent: TransferEnd) -> None:
        """It has ended, and may begin again; to be called by the thread that calls `send`."""
        self._running.discard((sent.worker.address, sent.what))

    def receivers(self, things: Container[str]) -> frozenset[str]:
        """The addresses of workers to which any of these things is being sent."""
        return frozenset(address for address, what in self._running if what in things)

    def close(self) -> None:
        """End all transfers soon, and return when they have."""
        self._closing.set()
        self._threads.shutdown(cancel_futures=True)

    def _end(self, worker: WorkerFound, what: str, done: "Future[None]") -> None:
        try:
            done.result()
            sent = TransferEnd(what, worker)
        except (WorkerGoneError, CancelledError, Dropped) as error:
            log.info("a transfer is broken off", worker=worker.name, what=what, why=str(error))
            sent = TransferEnd(what, worker)
        except HostError as error:
            sent = TransferEnd(what, worker, str(error))
        except InputError as error:
            sent = TransferEnd(what, worker, str(error), is_lie=True)
        except Exception as error:  # noqa: BLE001 - whatever a hostile worker makes dask stumble over
            sent = TransferEnd(what, worker, f"its answer cannot be read: {error!r:.200}", is_lie=True)
        self._ended(sent)

    def _send(self, worker: WorkerFound, what: str, make: Callable[[], tuple[Parcel, Path]]) -> None:
        parcel, path = self._made(worker, what, make)
        with path.open("rb") as file:
            arrived = self._ask(worker, parcel, 0, b"")
            log.info("sending", worker=worker.name, what=str(parcel), bytes=parcel.size, already=arrived.bytes)
            # Each piece, the last question, and what was there already.
            most = TIMES * (parcel.size // PIECE + 3)
            while not arrived.is_whole:
                most -= 1
                if not most:
                    raise InputError(f"it asks for the same pieces of {parcel} again and again")
                arrived = self._ask(worker, parcel, arrived.bytes, _piece(file, parcel, arrived.bytes))
        log.info("sent", worker=worker.name, what=what)

    def _made(self, worker: WorkerFound, what: str, make: Callable[[], tuple[Parcel, Path]]) -> tuple[Parcel, Path]:
        """What is to be sent, made again and again if this host cannot. Raises WorkerGoneError."""
        told = ""
        while True:
            try:
                return make()
            except HostError as error:
                if str(error) != told:
                    told = str(error)
                    self._tell(f"{what} cannot be sent to worker {worker.name}: {told}; it is tried again")
            if self._closing.wait(AGAIN_S) or worker.address not in self._roster.workers:
                raise WorkerGoneError("the worker is lost")

    def _ask(self, worker: WorkerFound, parcel: Parcel, begin: int, data: bytes) -> Arrived:
        """Send a piece. Raises WorkerGoneError, HostError with what the worker needs, or InputError."""
        piece = ParcelPiece(parcel=parcel, begin=begin, digest=hashlib.sha256(data).hexdigest())
        task = self._connection.submit(receive, piece.model_dump_json().encode(), data, only=[worker.address])
        if task is None:
            raise WorkerGoneError("the scheduler is lost")
        deadline, ended = monotonic() + ANSWER_S, Event()
        task.add_done_callback(lambda _: ended.set())
        try:
            while True:
                if self._closing.is_set() or worker.address not in self._roster.workers:
                    raise WorkerGoneError("the worker is lost")
                if monotonic() > deadline:
                    raise HostError(f"it has not answered for {ANSWER_S:.0f} s while it was sent {parcel}")
                if not ended.wait(LOOK_S):
                    continue
                try:
                    receipt = read_receipt(self._connection.fetch(task, LARGEST_RECEIPT))
                    break
                except TimeoutError:
                    continue
        finally:
            task.release()
        if isinstance(receipt, Unfit):
            raise HostError(receipt.why)
        return receipt


def _piece(file: BinaryIO, parcel: Parcel, begin: int) -> bytes:
    """No bytes at the end of it. Raises InputError for a place beyond that."""
    if begin > parcel.size:
        raise InputError(f"it asks for more of {parcel} than there is")
    file.seek(begin)
    return file.read(min(PIECE, parcel.size - begin))
