"""The orders of organisers: each is carried out once, and stands with who, when, why and what was done.

An order has an id that whoever gives it has chosen. Its effects and the note of it are written in one transaction, so
after a kill at any moment there are both or none; the same id again changes nothing, and says what was done then.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlalchemy import Connection, Engine, Row, func, insert, select, update

from judge.base.errors import InputError
from judge.store.connection import connect
from judge.store.journal import now
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


def once(connection: Connection, contest: str, order: OrganiserOrder, do: Callable[[], str]) -> DoneOrder:
    """Carry out an order with `do`, which returns what was done, unless that has happened; inside a transaction in
    which nobody else writes to the contest.

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
    connection.execute(
        insert(orders).values(
            contest=contest,
            id=order.id,
            at=at,
            who=order.who,
            action=order.action,
            target=order.target,
            why=order.why,
            done=done,
        )
    )
    return DoneOrder(order, at, done)


def done_order(connection: Connection, contest: str, number: str) -> DoneOrder | None:
    """The order of an id; None if it was not carried out."""
    row = connection.execute(select(orders).where(orders.c.contest == contest, orders.c.id == number)).first()
    return None if row is None else _of(row)


class Orders:
    """The orders of one contest, to be read, and those that change no table of the contest."""

    def __init__(self, url: str, contest: str) -> None:
        """Connect and migrate; InputError or HostError as `connect`."""
        self._engine: Engine = connect(url)
        self._contest = contest

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def get(self, number: str) -> DoneOrder | None:
        """The order of an id; None if it was not carried out."""
        with self._engine.connect() as connection:
            return done_order(connection, self._contest, number)

    def latest(self, limit: int) -> list[DoneOrder]:
        """The last orders, newest first."""
        query = select(orders).where(orders.c.contest == self._contest)
        with self._engine.connect() as connection:
            rows = connection.execute(query.order_by(orders.c.at.desc(), orders.c.id).limit(limit))
            return [_of(row) for row in rows]

    def note(self, order: OrganiserOrder, done: str) -> DoneOrder:
        """Note an order whose effects are files, after they are on disk; once."""
        with self._engine.begin() as connection:
            return once(connection, self._contest, order, lambda: done)


def _of(row: Row[tuple[object, ...]]) -> DoneOrder:
    values = row._mapping
    order = OrganiserOrder(values["who"], values["action"], values["target"], values["why"], values["id"])
    return DoneOrder(order, values["at"], values["done"])
