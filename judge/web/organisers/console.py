"""Shared state of the organisers' pages."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.base.worker_processes import Worker
from judge.contest.contest import Contest, open_store
from judge.contest.orders.order import Order
from judge.contest.plan import Planned
from judge.contest.window_keeper import PlanFile
from judge.sandbox.machine.cores import available
from judge.store.orders import DoneOrder, Orders, OrganiserOrder
from judge.store.types import JournalLine, NotNowError
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
