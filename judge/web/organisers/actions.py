"""The orders that the pages offer."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from judge.base.errors import InputError
from judge.contest.orders.contest_orders import CONTEST_ORDERS
from judge.contest.orders.order import ContestOrder, Order
from judge.contest.orders.submission_orders import SUBMISSION_ORDERS, AuthorsOrder, RegisterOrder
from judge.store.orders import OrganiserOrder
from judge.web.organisers.console import Console
from judge.web.organisers.files import FILE_ORDERS, FileOrder

Kind = type[ContestOrder | AuthorsOrder | RegisterOrder | FileOrder]

ACTIONS: Mapping[str, Kind] = {**CONTEST_ORDERS, **SUBMISSION_ORDERS, **FILE_ORDERS}


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
