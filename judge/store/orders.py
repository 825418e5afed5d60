"""The organisers' orders, each carried out once and stored with its effect.

The client chooses the id. One transaction writes effects and the order's row. Repeating an id returns the earlier
result.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from sqlalchemy import Connection, Row, insert, select, update

from judge.base.errors import InputError
from judge.store.database import ContestDatabase, Database, value_of
from judge.store.queries import Reader, announced_row
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


class TakesOrders(Database):
    """A part of the database that carries out orders."""

    def carry_out(self, contest: str, order: OrganiserOrder, do: Callable[[Self], str]) -> DoneOrder:
        """Carry out an order unless it was done before. In the transaction, `do` gets this part and describes the
        effect. If it raises, nothing changes. Raises InputError if another order has the id.
        """
        order = order.with_id()
        with self._writing() as connection:
            announced_row(connection, contest, locked=True)
            found = _done_order(connection, contest, order.id)
            if found is not None:
                if (found.order.action, found.order.target) != (order.action, order.target):
                    raise InputError("this form was used for another order already: open it again")
                return replace(found, is_repeated=True)
            before = Reader.from_part(self._inside(connection)).journal_end(contest)
            done = do(self._inside(connection))
            new = (journal.c.contest == contest, journal.c.id > before)
            connection.execute(update(journal).where(*new).values(who=order.who))
            at = self._stamp()
            connection.execute(insert(orders).values(contest=contest, at=at, done=done, **asdict(order)))
            return DoneOrder(order, at, done)

    @contextmanager
    def trial(self, contest: str) -> Iterator[Self]:
        """Write in a transaction as `carry_out`, which is rolled back."""
        with suppress(_RolledBackError), self._writing() as connection:
            announced_row(connection, contest, locked=True)
            yield self._inside(connection)
            raise _RolledBackError


class _RolledBackError(Exception):
    """Ends a trial."""


def _done_order(connection: Connection, contest: str, number: str) -> DoneOrder | None:
    row = connection.execute(select(orders).where(orders.c.contest == contest, orders.c.id == number)).first()
    return None if row is None else _of(row)


class Orders(ContestDatabase, TakesOrders):
    """The orders of a contest."""

    def get(self, number: str) -> DoneOrder | None:
        """None if it was not carried out."""
        with self._reading() as connection:
            return _done_order(connection, self._contest, number)

    def latest(self, limit: int) -> list[DoneOrder]:
        """Newest first."""
        query = select(orders).where(orders.c.contest == self._contest)
        return [_of(row) for row in self._rows(query.order_by(orders.c.at.desc(), orders.c.id).limit(limit))]


def _of(row: Row[Any]) -> DoneOrder:
    return DoneOrder(value_of(OrganiserOrder, row), row.at, row.done)
