"""Orders for a contest that has begun."""

from judge.contest.contest import Contest
from judge.contest.orders.contest_orders import CONTEST_ORDERS
from judge.contest.orders.order import Effect
from judge.store.orders import DoneOrder, OrganiserOrder


def give(contest: Contest, order: OrganiserOrder) -> DoneOrder:
    return CONTEST_ORDERS[order.action](contest, order).carry_out()


def previewed(contest: Contest, action: str, target: str = "") -> Effect:
    return CONTEST_ORDERS[action](contest, OrganiserOrder("Olga", action, target, "")).preview()
