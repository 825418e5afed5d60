"""A contest's workers: connected, allowed to play, and why not."""

from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from judge.base.errors import StoreLostError
from judge.base.logs import get_logger
from judge.base.text import printable
from judge.cluster.tasks import SLOT
from judge.journal.events import WorkerBarred, WorkerEvent, WorkerJoined, WorkerLost, WorkerNoted, cut
from judge.journal.sentences import text_of
from judge.store.contests import Store

MAX_SLOTS = 1024

FAILURES = 3
"""Games in a row that only others finished."""

log = get_logger()


def slots_in(resources: object) -> int:
    """Announced slots (a float in dask); 0 unless from 1 to `MAX_SLOTS`."""
    slots = resources.get(SLOT) if isinstance(resources, Mapping) else None
    if isinstance(slots, bool) or not isinstance(slots, int | float) or not 1 <= slots <= MAX_SLOTS:
        return 0
    return int(slots) if slots == int(slots) else 0


@dataclass(frozen=True, slots=True)
class WorkerFound:
    """A worker as the scheduler describes it."""

    address: str
    name: str
    slots: int


class Roster:
    """Writes its events into the contest's journal, later while the store is lost."""

    def __init__(self, store: Store, contest: str) -> None:
        self._store = store
        self._contest = contest
        self._unwritten: deque[WorkerEvent] = deque()
        self.workers: Mapping[str, WorkerFound] = {}
        """By address. Replaced as a whole: other threads read it."""
        self._unfit: set[str] = set()
        self._liars: set[str] = set()
        self._warned: set[str] = set()
        self._failures: Counter[str] = Counter()

    @property
    def usable(self) -> frozenset[str]:
        """Workers that may get games."""
        return frozenset(
            address
            for address, worker in self.workers.items()
            if address not in self._unfit and worker.name not in self._liars
        )

    def meet(self, workers: Mapping[str, Any]) -> None:
        """Update from the scheduler's list."""
        found = {
            str(address): WorkerFound(
                str(address), printable(str(worker.get("name")), 80), slots_in(worker.get("resources"))
            )
            for address, worker in workers.items()
            if isinstance(worker, Mapping)
        }
        for address in self.workers.keys() - found.keys():
            self.add(WorkerLost(self.workers[address].name))
        for address in found.keys() - self.workers.keys():
            worker = found[address]
            if worker.slots:
                self.add(WorkerJoined(worker.name, worker.slots))
            else:
                why = f"it does not announce 1 to {MAX_SLOTS} slots; start it with --resources {SLOT}=1"
                self.add(WorkerBarred(worker.name, why))
        self.workers = found
        self._unfit &= found.keys()

    def bar(self, worker: WorkerFound, why: str) -> None:
        """Exclude a worker until its restart. `why` includes the fix."""
        if worker.address not in self._unfit:
            self._unfit.add(worker.address)
            self.add(WorkerBarred(worker.name, cut(f"{why}; then start it again")))

    def bar_twice(self, worker: WorkerFound, why: str) -> None:
        """As `bar`; the second time as `distrust`."""
        if worker.name in self._warned:
            self.distrust(worker, f"{why}, for the second time")
        else:
            self._warned.add(worker.name)
            self.bar(worker, why)

    def count_result(self, worker: WorkerFound) -> None:
        """Of a finished game."""
        self._failures.pop(worker.name, None)

    def count_failure(self, name: str) -> None:
        """Of a game that another worker finished."""
        self._failures[name] += 1
        if self._failures[name] < FAILURES:
            return
        del self._failures[name]
        for worker in self.workers.values():
            if worker.name == name:
                self.bar_twice(worker, f"{FAILURES} games in a row had no result here, and others played them")

    def distrust(self, worker: WorkerFound, why: str) -> None:
        """Exclude the worker's name for this run."""
        if worker.name not in self._liars:
            self._liars.add(worker.name)
            self.add(WorkerBarred(worker.name, cut(why)))

    def is_distrusted(self, worker: WorkerFound) -> bool:
        """Whether one of its answers was refused."""
        return worker.name in self._liars

    def note(self, words: str) -> None:
        """Write words into the journal."""
        self.add(WorkerNoted(cut(words)))

    def add(self, event: WorkerEvent) -> None:
        """Write an event into the journal."""
        log.info("cluster", text=text_of(event))
        self._unwritten.append(event)
        with suppress(StoreLostError):
            while self._unwritten:
                self._store.remark(self._contest, self._unwritten[0])
                self._unwritten.popleft()
