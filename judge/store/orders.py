"""The organisers' orders, each carried out once and stored with its effect.

The client chooses the id. One transaction writes effects and the order's row. Repeating an id returns the earlier
result.
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
    """`action` (such as `void`) on `target`, empty for the contest."""

    who: str
    action: str
    target: str
    why: str
    id: str = ""

    def with_id(self) -> "OrganiserOrder":
        """Add a missing id."""
        return self if self.id else replace(self, id=new_order_id())


@dataclass(frozen=True, slots=True)
class DoneOrder:
    """`done`: the effect. `is_repeated`: this call changed nothing."""

    order: OrganiserOrder
    at: str
    done: str
    is_repeated: bool = False


def new_order_id() -> str:
    """A new unique id."""
    return secrets.token_hex(16)


def once(
    connection: Connection, contest: str, order: OrganiserOrder, now: Callable[[], str], do: Callable[[], str]
) -> DoneOrder:
    """Carry out an order unless done before; `do` describes the effect. The transaction must exclude other writers to
    the contest.

    Raises InputError if another order has the id, and errors of `do`; the caller then ends the transaction.
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
    """None if it was not carried out."""
    row = connection.execute(select(orders).where(orders.c.contest == contest, orders.c.id == number)).first()
    return None if row is None else _of(row)


class Orders(ContestDatabase):
    """The orders of a contest."""

    def get(self, number: str) -> DoneOrder | None:
        """None if it was not carried out."""
        with self._reading() as connection:
            return done_order(connection, self._contest, number)

    def latest(self, limit: int) -> list[DoneOrder]:
        """Newest first."""
        query = select(orders).where(orders.c.contest == self._contest)
        return [_of(row) for row in self._rows(query.order_by(orders.c.at.desc(), orders.c.id).limit(limit))]

    def note(self, order: OrganiserOrder, done: str) -> DoneOrder:
        """Record an order once, after its files are on disk."""
        with self._writing() as connection:
            return once(connection, self._contest, order, self._stamp, lambda: done)


def _of(row: Row[Any]) -> DoneOrder:
    return DoneOrder(value_of(OrganiserOrder, row), row.at, row.done)
