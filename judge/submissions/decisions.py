"""What an organiser decides of a submission, from a terminal or a page: each decision happens once, with a reason."""

from collections.abc import Callable, Mapping

from judge.base.text import printable
from judge.store.orders import DoneOrder, OrganiserOrder
from judge.store.submission_types import Submission
from judge.store.submissions import Register

Decision = Callable[[Register, int, str, str], Submission]

DECISIONS: Mapping[str, Decision] = {
    "approve": Register.approve,
    "refuse": Register.refuse,
    "withdraw": Register.withdraw,
    "retry": Register.retry,
}
"""What may be decided, by the action of its order; the target is the number of a submission."""


def decide(register: Register, order: OrganiserOrder) -> DoneOrder:
    """Carry out a decision. Raises as the method of the register that does it, and then nothing has changed."""
    number = int(order.target)

    def do(inner: Register) -> str:
        return state_line(DECISIONS[order.action](inner, number, order.who, order.why))

    return register.carry_out(order, do)


def state_line(submission: Submission) -> str:
    """A submission and its state: `submission 3, five version 2: approved`."""
    version = f" version {submission.version}" if submission.version else ""
    name = printable(submission.name) or "no name yet"
    return f"submission {submission.id}, {name}{version}: {submission.state.value}"
