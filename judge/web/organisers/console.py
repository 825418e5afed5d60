"""What the organisers' pages share: the contest as it is now, its submissions, and who may look and act."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from judge.base.worker_processes import Worker
from judge.contest.contest import Contest, open_store
from judge.contest.plan import Planned
from judge.store.orders import Orders
from judge.store.submission_types import NotNowError
from judge.store.types import JournalLine
from judge.web.intake.app import AppState

Publish = Callable[[Path, Path], None]
"""Writes the live pages of the contest of a file to a directory; it can be found by its name in another process."""


@dataclass(slots=True)
class Console:
    """The pages' view of one contest."""

    planned: Planned
    state: AppState
    orders: Orders
    publish: Publish
    _open: ExitStack
    _contest: Contest | None = None
    _opening: Lock = field(default_factory=Lock)
    _writing: Lock = field(default_factory=Lock)

    def contest(self) -> Contest | None:
        """The contest; None if it has not begun."""
        with self._opening:
            if self._contest is None and self.state.register.has_begun():
                store = self._open.enter_context(closing(open_store(self.planned)))
                self._contest = Contest(store, self.planned)
            return self._contest

    def journal_before(self, before: int | None, limit: int) -> list[tuple[int, JournalLine]]:
        """The last lines of the contest's log, newest first, each with its number; also before the contest begins."""
        contest = self.contest()
        if contest is not None:
            return contest.store.journal_before(contest.name, before, limit)
        with closing(open_store(self.planned)) as store:
            return store.journal_before(self.planned.name, before, limit)

    def begun(self) -> Contest:
        """The contest. Raises InputError if it has not begun."""
        contest = self.contest()
        if contest is None:
            raise self.planned.not_begun()
        return contest

    def written(self, task: Callable[..., str], *given: Any) -> str:
        """What a task returns that writes many files, in a process of its own, so that nobody's page waits for it.

        Raises what it raises, and NotNowError while another one writes.
        """
        if not self._writing.acquire(blocking=False):
            raise NotNowError("another export is being written: wait for it, and send this again")
        worker: Worker[str] = Worker()
        try:
            worker.start(task, *given)
            return worker.result()
        finally:
            worker.kill()
            self._writing.release()


@contextmanager
def opened_console(planned: Planned, state: AppState, publish: Publish) -> Iterator[Console]:
    """The console of a contest, whose intake has that state. Raises HostError if its store cannot be read."""
    with (
        ExitStack() as stack,
        closing(Orders(planned.store_url, planned.name)) as orders,
    ):
        yield Console(planned, state, orders, publish, stack)
