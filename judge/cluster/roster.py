"""The workers of a scheduler as a contest knows them: who is there, who may play, and why not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from judge.cluster.tasks import SLOT
from judge.contest.hosts import worker_barred, worker_joined, worker_lost
from judge.logs import get_logger
from judge.text import printable

log = get_logger()


@dataclass(frozen=True, slots=True)
class WorkerFound:
    """A worker as the scheduler describes it."""

    address: str
    name: str
    slots: int


class Roster:
    """See above. `tell` takes sentences about workers for the contest's journal."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self.workers: Mapping[str, WorkerFound] = {}
        """By address; replaced as a whole, so other threads may look at it."""
        self._unfit: set[str] = set()
        """The addresses of workers that cannot play."""
        self._liars: set[str] = set()
        """The names of workers whose answers were refused."""

    @property
    def usable(self) -> frozenset[str]:
        """The addresses of the workers that may have games."""
        return frozenset(
            address
            for address, worker in self.workers.items()
            if address not in self._unfit and worker.name not in self._liars
        )

    def meet(self, workers: Mapping[str, Any]) -> None:
        """Note who has come and gone; `workers` are the scheduler's words, by address."""
        found = {
            address: WorkerFound(address, printable(str(worker["name"]), 80), int(worker["resources"].get(SLOT, 0)))
            for address, worker in workers.items()
        }
        for address in self.workers.keys() - found.keys():
            self.note(worker_lost(self.workers[address].name))
        for address in found.keys() - self.workers.keys():
            worker = found[address]
            if worker.slots:
                self.note(worker_joined(worker.name, worker.slots))
            else:
                self.note(worker_barred(worker.name, f"start it with --resources {SLOT}=1"))
        self.workers = found
        self._unfit &= found.keys()

    def bar(self, worker: WorkerFound, why: str) -> None:
        """It gets no games until it is started again; `why` says what to do before."""
        if worker.address not in self._unfit:
            self._unfit.add(worker.address)
            self.note(worker_barred(worker.name, f"{why}; then start it again"))

    def distrust(self, worker: WorkerFound, why: str) -> None:
        """Whatever has its name gets no more games in this run."""
        if worker.name not in self._liars:
            self._liars.add(worker.name)
            self.note(worker_barred(worker.name, why))

    def is_distrusted(self, worker: WorkerFound) -> bool:
        """Whether an answer of its was refused."""
        return worker.name in self._liars

    def note(self, text: str) -> None:
        """Say it in the contest's journal."""
        log.info("cluster", text=text)
        self._tell(text)
