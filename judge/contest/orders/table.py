"""All orders of organisers that change a contest."""

from collections.abc import Mapping

from judge.contest.orders.contest_orders import CONTEST_ORDERS
from judge.contest.orders.order import ContestOrder
from judge.contest.orders.submission_orders import SUBMISSION_ORDERS, AuthorsOrder, RegisterOrder

ORDERS: Mapping[str, type[ContestOrder | AuthorsOrder | RegisterOrder]] = {**CONTEST_ORDERS, **SUBMISSION_ORDERS}
