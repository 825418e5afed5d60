"""Shared state of the organisers' pages, and the orders that they offer. Two of them write files: an export, and the
live pages.

Files get their final name when complete, before the order is stored. After a kill, repeating the order completes both.
"""

import os
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import Any, ClassVar

from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.base.text import sentence
from judge.base.worker_processes import Worker
from judge.contest.contest import Contest, open_store
from judge.contest.file_names import EXPORTS, PUBLISHED
from judge.contest.orders.contest_orders import CONTEST_ORDERS
from judge.contest.orders.order import ContestOrder, Effect, Order
from judge.contest.orders.submission_orders import SUBMISSION_ORDERS, AuthorsOrder, RegisterOrder
from judge.contest.plan import Planned
from judge.contest.window_keeper import PlanFile
from judge.journal.state import JournalLine
from judge.publish.export.export import refuse_withheld, write_export
from judge.sandbox.machine.cores import available
from judge.store.orders import DoneOrder, Orders, OrganiserOrder
from judge.store.types import NotFoundError, NotNowError
from judge.transparency.keys import KEY_FILE
from judge.web.intake.app import AppState

log = get_logger()

PublishPages = Callable[[Path, Path], bool]
"""Writes pages to a directory and returns whether they are final; importable by name."""


@dataclass(frozen=True, slots=True)
class PendingOrder:
    """An order that is being carried out, or why it failed."""

    order: OrganiserOrder
    problem: str = ""


MAX_FAILED_ORDERS = 20
"""Kept for the pages of those who gave them."""


@dataclass(slots=True)
class Console:
    """The pages' view of one contest."""

    planned: Planned
    state: AppState
    orders: Orders
    publish: PublishPages
    file: PlanFile
    _open: ExitStack
    _contest: Contest | None = None
    _opening: Lock = field(default_factory=Lock)
    _pending: dict[str, PendingOrder] = field(default_factory=dict)
    _starting: Lock = field(default_factory=Lock)
    """Of changes of `_pending`."""

    def contest(self) -> Contest | None:
        """The contest; None before it begins."""
        with self._opening:
            if self._contest is None and self.state.register.has_begun():
                store = self._open.enter_context(closing(open_store(self.planned)))
                self._contest = Contest(store, self.planned)
            return self._contest

    def journal_before(self, before: int | None, limit: int) -> list[tuple[int, JournalLine]]:
        """Numbered lines, newest first."""
        contest = self.contest()
        if contest is not None:
            return contest.store.journal_before(contest.name, before, limit)
        with closing(open_store(self.planned)) as store:
            return store.journal_before(self.planned.name, before, limit)

    def begun(self) -> Contest:
        """Raises InputError before the contest begins."""
        contest = self.contest()
        if contest is None:
            raise self.planned.not_begun()
        return contest

    def pending(self, order: str) -> PendingOrder | None:
        """An order that is being carried out, or failed, since the service began."""
        return self._pending.get(order)

    def start(self, order: Order[Any]) -> None:
        """Carry out an order in a thread. An order that is being carried out is not started again.

        Raises NotNowError while another one is, HostError without a thread.
        """
        given = order.given
        with self._starting:
            running = [each.order.id for each in self._pending.values() if not each.problem]
            if given.id in running:
                return
            if running:
                raise NotNowError("another export is being written: wait for it, and send this again")
            failed = [number for number, each in self._pending.items() if each.problem]
            for number in failed[: max(0, len(failed) - MAX_FAILED_ORDERS)]:
                del self._pending[number]
            self._pending[given.id] = PendingOrder(given)
            try:
                Thread(target=self._carry_out, args=(order,), name="order", daemon=True).start()
            except RuntimeError as error:
                del self._pending[given.id]
                raise HostError(f"{error}: the order is not carried out") from None

    def _carry_out(self, order: Order[Any]) -> None:
        given, problem = order.given, ""
        try:
            log_order(order.carry_out())
        except (InputError, HostError) as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001 - the page must not wait for ever
            log.warning("order failed", action=given.action, error=repr(error))
            problem = f"{type(error).__name__}: see the log of the service"
        with self._starting:
            if problem:
                self._pending[given.id] = PendingOrder(given, problem)
            else:
                del self._pending[given.id]

    def written(self, task: Callable[..., str], *given: Any) -> str:
        """Run a task in a separate process, for a started order. Raises its errors."""
        worker: Worker[str] = Worker(os.sched_setaffinity, 0, available(), starts_workers=True)
        try:
            worker.start(task, *given)
            return worker.result()
        finally:
            worker.kill()


def log_order(done: DoneOrder) -> None:
    """Write an order to the server log."""
    order = done.order
    log.info(
        "order",
        organiser=order.who,
        action=order.action,
        target=order.target,
        why=order.why,
        done=done.done,
        repeated=done.is_repeated,
    )


@contextmanager
def opened_console(planned: Planned, state: AppState, publish: PublishPages) -> Iterator[Console]:
    """Raises HostError if the store is unreadable."""
    with ExitStack() as stack, closing(Orders(planned.store_url, planned.name)) as orders:
        yield Console(planned, state, orders, publish, PlanFile(planned), stack)


# --- orders -----------------------------------------------------------------------------------------------------------


class FileOrder(Order[Orders]):
    """An order that writes files. It takes long, and is carried out after the answer."""

    command = ""
    readers = "organisers"
    done = ""
    words: ClassVar[str]
    note: str

    def __init__(self, console: Console, given: OrganiserOrder) -> None:
        super().__init__(console.orders, console.planned.name, given)
        self.console = console

    def read(self) -> None:
        self.console.begun()

    def write_files(self) -> None:
        if self.part.get(self.given.id) is None:
            self.done = self.write()

    @abstractmethod
    def write(self) -> str:
        """Write the files in another process; return a description. Raises InputError, HostError, NotNowError."""

    def do(self, _: Orders) -> Effect:
        return Effect(self.done, self.words, self.note)


class Export(FileOrder):
    """Write an export, as `judge contest export`."""

    action = "export"
    label = sentence("Export")
    title = sentence("Export: the signed results")
    words = sentence(
        "Writes tables, records and pages with a signature that everybody can verify. After the end, the page Verify "
        "offers the newest export."
    )
    note = sentence(f"The files go to a new directory in {EXPORTS}. This may take minutes.")

    def read(self) -> None:
        refuse_withheld(self.console.begun())
        key = self.console.planned.folder / KEY_FILE
        if not key.exists():
            raise InputError(
                f"an export is signed, and there is no {KEY_FILE} in the contest's folder: make it once with "
                f"judge contest key {key}, and open this page again"
            )

    def write(self) -> str:
        return self.console.written(write_export, str(self.console.planned.path), self.given.id)


class Publish(FileOrder):
    """Write the live pages, as `judge contest export --unsigned`."""

    action = "publish"
    label = sentence("Publish")
    link = sentence("Publish the pages")
    title = sentence("Publish: the live pages")
    words = sentence(
        "Writes the current pages as files for a web server. They are not signed: for verification, export."
    )

    def read(self) -> None:
        contest = self.console.begun()
        is_final = contest.view().is_over and contest.store.withheld_from(contest.name) is None
        self.note = (
            sentence(f"The contest is over: {PUBLISHED} gets the final pages.")
            if is_final
            else sentence(f"The contest runs: {PUBLISHED} gets its present state. Publish again after the end.")
        )

    def write(self) -> str:
        planned = self.console.planned
        return self.console.written(
            write_pages, self.console.publish, str(planned.path), str(planned.folder / PUBLISHED)
        )


def export_of(console: Console, number: str, part: str) -> Path:
    """Directory of a part. Raises NotFoundError."""
    done = console.orders.get(number)
    directory = console.planned.folder / EXPORTS / number / part
    if done is None or done.order.action != "export" or not directory.is_dir():
        raise NotFoundError("there is no such export")
    return directory


def write_pages(write: PublishPages, plan: str, directory: str) -> str:
    """Write the live pages; return a description."""
    target = Path(directory)
    if write(Path(plan), target):
        return sentence(f"{target.name} has the final pages")
    return sentence(f"{target.name} has the current pages and events")


Kind = type[ContestOrder | AuthorsOrder | RegisterOrder | FileOrder]

ACTIONS: Mapping[str, Kind] = {**CONTEST_ORDERS, **SUBMISSION_ORDERS, Export.action: Export, Publish.action: Publish}


def order_of(console: Console, given: OrganiserOrder, attempt: int | None = None) -> Order[Any]:
    """Raises InputError for an unknown order, or before the contest begins."""
    kind = ACTIONS.get(given.action)
    if kind is None:
        raise InputError("there is no such order: give one from the page of the game, the agent or the submission")
    if issubclass(kind, ContestOrder):
        return kind(console.begun(), given, attempt)
    if issubclass(kind, AuthorsOrder):
        return kind(console.state.notices, given)
    return kind(console, given) if issubclass(kind, FileOrder) else kind(console.state.register, given)


def offered(**conditions: bool) -> Mapping[str, Sequence[Kind]]:
    """The orders that a page offers under these conditions, by the name of their target."""
    found = defaultdict[str, list[Kind]](list)
    for kind in ACTIONS.values():
        if not kind.needs or conditions.get(kind.needs):
            found[kind.target.name].append(kind)
    return found
