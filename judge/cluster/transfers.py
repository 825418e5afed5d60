"""Sends missing agents and images to workers while games continue.

The answer to a piece is the offset of the next one.
"""

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Container, Mapping
from concurrent.futures import CancelledError as Dropped
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event, Lock
from time import monotonic
from typing import TypeVar

from judge.agents.store import write_agent
from judge.base.durable_files import sha256_of
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.logs import get_logger
from judge.cluster.connection import SchedulerConnection
from judge.cluster.messages import MAX_RECEIPT_BYTES, Arrived, Parcel, ParcelPiece, Unfit, read_receipt
from judge.cluster.roster import Roster, WorkerFound
from judge.cluster.tasks import receive
from judge.host.image_files import export_image
from judge.sandbox.box import ImageFacts

PIECE_BYTES = 4 << 20
"""Also the maximum in memory here, in the scheduler and in the worker."""

MAX_TRANSFERS = 4

POLL_INTERVAL_S = 1.0

RETRY_S = 30.0

MAX_TRIES = 3
"""Maximum transfers of a file to a worker, and its requests for one in an attempt."""

ANSWER_S = 1800.0

log = get_logger()

Found = TypeVar("Found")


class Parcels:
    """Parcels of one contest, in a folder that `close` removes."""

    def __init__(self, folder: Path, images: Mapping[str, ImageFacts]) -> None:
        """`folder` may be left from a killed judge."""
        self._folder = folder
        self.images = images
        self._lock = Lock()
        self._made: dict[str, tuple[Parcel, Path]] = {}
        self._locks: dict[str, Lock] = {}
        self.close()

    def made(self, what: str, program: Path | None = None) -> tuple[Parcel, Path]:
        """Parcel of an agent with the digest `what` or, without `program`, an image, and its file. Raises HostError."""
        path = self._folder / hashlib.sha256(what.encode()).hexdigest()
        with self._lock:
            lock = self._locks.setdefault(what, Lock())
        with lock:
            if what not in self._made:
                with os_errors_as(HostError, path, ": make room there"):
                    self._folder.mkdir(exist_ok=True)
                    self._made[what] = self._make(what, program, path), path
            return self._made[what]

    def _make(self, what: str, program: Path | None, path: Path) -> Parcel:
        if program is not None:
            with path.open("wb") as file:
                write_agent(program, file)
            return Parcel(agent=what, digest=sha256_of(path), size=path.stat().st_size)
        image = export_image(what, path)
        if image.facts != self.images[what]:
            raise HostError(f"the image {what} was rebuilt during this run")
        return Parcel(image=image, digest=sha256_of(path), size=path.stat().st_size)

    def close(self) -> None:
        """Remove the files."""
        shutil.rmtree(self._folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class TransferEnd:
    """An empty `why` means success or a lost worker."""

    what: str
    worker: WorkerFound
    why: str
    is_lie: bool


class WorkerGoneError(Exception):
    """The worker or the scheduler is lost."""


class Transfers:
    """Sends parcels in threads, one at a time per worker."""

    def __init__(
        self,
        connection: SchedulerConnection,
        roster: Roster,
        parcels: Parcels,
        on_end: Callable[[TransferEnd], None],
        on_delay: Callable[[str], None],
    ) -> None:
        """`on_delay` gets the reason why a transfer is tried again. Other threads call both."""
        self._connection = connection
        self._roster = roster
        self._parcels = parcels
        self._on_end = on_end
        self._on_delay = on_delay
        self._closing = Event()
        self._threads = ThreadPoolExecutor(MAX_TRANSFERS, thread_name_prefix="transfer")
        self._running: set[tuple[str, str]] = set()
        self._count = Counter[tuple[str, str]]()

    def send(self, worker: WorkerFound, what: str, program: Path | None = None) -> bool:
        """Start to send the parcel of `Parcels.made`; False if it is being sent. InputError after `MAX_TRIES`."""
        key = worker.address, what
        if key in self._running:
            return False
        self._count[key] += 1
        if self._count[key] > MAX_TRIES:
            raise InputError(f"it requested {what[:12]} more than {MAX_TRIES} times")
        self._running.add(key)
        sending = self._threads.submit(self._send, worker, what, program)
        sending.add_done_callback(lambda done: self._end(worker, what, done))
        return True

    def forget(self, sent: TransferEnd) -> None:
        """Allow another start. Call in the thread of `send`."""
        self._running.discard((sent.worker.address, sent.what))

    def forget_counts(self) -> None:
        """After a loss of the scheduler, which ends all transfers. Call in the thread of `send`."""
        self._count.clear()

    def receivers(self, things: Container[str]) -> frozenset[str]:
        """Workers that receive any of these."""
        return frozenset(address for address, what in self._running if what in things)

    def close(self) -> None:
        """Stop all transfers and wait for their end."""
        self._closing.set()
        self._threads.shutdown(cancel_futures=True)

    def _end(self, worker: WorkerFound, what: str, done: "Future[None]") -> None:
        why, is_lie = "", False
        try:
            done.result()
        except (WorkerGoneError, Dropped) as error:
            log.info("transfer aborted", worker=worker.name, what=what, why=str(error))
        except HostError as error:
            why = str(error)
        except InputError as error:
            why, is_lie = str(error), True
        except Exception as error:  # noqa: BLE001 - an attempt would wait for ever
            why = f"{what} cannot be sent: {error!r:.200}"
        self._on_end(TransferEnd(what, worker, why, is_lie))

    def _send(self, worker: WorkerFound, what: str, program: Path | None) -> None:
        parcel, path = self._retry(worker, what, lambda: self._parcels.made(what, program))
        arrived = self._ask(worker, parcel, 0, b"")
        log.info("sending", worker=worker.name, what=str(parcel), bytes=parcel.size, already=arrived.bytes)
        most = MAX_TRIES * (parcel.size // PIECE_BYTES + 3)
        while not arrived.is_whole:
            most -= 1
            if not most:
                raise InputError(f"it requested the same pieces of {parcel} too often")
            if arrived.bytes > parcel.size:
                raise InputError(f"it requested bytes beyond the end of {parcel}")
            begin = arrived.bytes
            size = min(PIECE_BYTES, parcel.size - begin)
            piece = self._retry(worker, what, partial(_read, path, begin, size))
            arrived = self._ask(worker, parcel, begin, piece)
        log.info("sent", worker=worker.name, what=what)

    def _retry(self, worker: WorkerFound, what: str, call: Callable[[], Found]) -> Found:
        """The result of a call on this host, which raises HostError while the host lacks something."""
        reported = ""
        while True:
            try:
                return call()
            except HostError as error:
                if str(error) != reported:
                    reported = str(error)
                    self._on_delay(f"{what} cannot be sent to worker {worker.name}: {reported}; retrying")
            if self._closing.wait(RETRY_S) or worker.address not in self._roster.workers:
                raise WorkerGoneError("the worker is lost")

    def _ask(self, worker: WorkerFound, parcel: Parcel, begin: int, data: bytes) -> Arrived:
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
                if task.cancelled():
                    raise WorkerGoneError("the scheduler is lost")
                if monotonic() > deadline:
                    raise HostError(f"it has not answered for {ANSWER_S:.0f} s while it was sent {parcel}")
                if not ended.wait(POLL_INTERVAL_S):
                    continue
                try:
                    receipt = read_receipt(self._connection.fetch(task, MAX_RECEIPT_BYTES))
                    break
                except OSError:
                    self._closing.wait(POLL_INTERVAL_S)
        finally:
            task.release()
        if isinstance(receipt, Unfit):
            raise HostError(receipt.why)
        return receipt


def _read(path: Path, begin: int, size: int) -> bytes:
    with os_errors_as(HostError, path), path.open("rb") as file:
        file.seek(begin)
        return file.read(size)
