"""The orders of organisers: each is carried out once, and stands with who, when, why and what was done.

An order has an id that whoever gives it has chosen. Its effects and the note of it are written in one transaction, so
after a kill at any moment there are both or none; the same id again changes nothing, and says what was done then.
"""

import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from judge.base.errors import InputError
from judge.store.database import ContestDatabase, value_of
from judge.store.tables import journal, orders


@dataclass(frozen=True, slots=True)
class OrganiserOrder:
    """What somebody orders: `action` is a word such as `void`, `target` what it is done to, empty for the contest."""

    who: str
    action: str
    target: str
    why: str
    id: str = ""

    def with_id(self) -> "OrganiserOrder":
        """This order, with an id of its own if it has none: then it is like no other."""
        return self if self.id else replace(self, id=new_order_id())


@dataclass(frozen=True, slots=True)
class DoneOrder:
    """An order that was carried out; `done` says what was done. `is_repeated`: it had been carried out before."""

    order: OrganiserOrder
    at: str
    done: str
    is_repeated: bool = False


def new_order_id() -> str:
    """An id that no order has."""
    return secrets.token_hex(16)


def once(
    connection: Connection, contest: str, order: OrganiserOrder, now: Callable[[], str], do: Callable[[], str]
) -> DoneOrder:
    """Carry out an order with `do`, which returns what was done, unless that has happened; inside a transaction in
    which no other process writes to the contest.

    Raises InputError if another order has its id, and what `do` raises; the caller ends the transaction then.
    """
    order = order.with_id()
    found = done_order(connection, contest, order.id)
    if found is not None:
        if (found.order.action, found.order.target) != (order.action, order.target):
            raise InputError("this form was used for another order already: open it again")
        return replace(found, is_repeated=True)
    lines = select(func.max(journal.c.id)).where(journal.c.contest == contest)
    before = connection.scalar(lines) or 0
    done = do()
    told = (journal.c.contest == contest, journal.c.id > before)
    connection.execute(update(journal).where(*told).values(who=order.who))
    at = now()
    connection.execute(insert(orders).values(contest=contest, at=at, done=done, **asdict(order)))
    return DoneOrder(order, at, done)


def done_order(connection: Connection, contest: str, number: str) -> DoneOrder | None:
    """The order of an id; None if it was not carried out."""
    row = connection.execute(select(orders).where(orders.c.contest == contest, orders.c.id == number)).first()
    return None if row is None else _of(row)


class Orders(ContestDatabase):
    """The orders of one contest, to be read, and those that change no table of the contest."""

    def get(self, number: str) -> DoneOrder | None:
        """The order of an id; None if it was not carried out."""
        with self._reading() as connection:
            return done_order(connection, self._contest, number)

    def latest(self, limit: int) -> list[DoneOrder]:
        """The last orders, newest first."""
        query = select(orders).where(orders.c.contest == self._contest)
        return [_of(row) for row in self._rows(query.order_by(orders.c.at.desc(), orders.c.id).limit(limit))]

    def note(self, order: OrganiserOrder, done: str) -> DoneOrder:
        """Record an order whose effects are files, after they are on disk; once."""
        with self._writing() as connection:
            return once(connection, self._contest, order, self._stamp, lambda: done)


def _of(row: Row[Any]) -> DoneOrder:
    return DoneOrder(value_of(OrganiserOrder, row), row.at, row.done)
