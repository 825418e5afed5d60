"""Orders for submissions and authors. A new one is a class here and a name in `SUBMISSION_ORDERS`."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace

from judge.base.errors import InputError
from judge.base.text import sentence
from judge.contest.orders.order import AUTHOR, AUTHORS, SUBMISSION, Effect, Order
from judge.journal.events import LateAllowed, SubmissionState
from judge.store.notices import MESSAGE, Notices
from judge.store.orders import OrganiserOrder
from judge.store.submission_queries import LATE
from judge.store.submissions import RETRIED, Register
from judge.store.types import ENTERS, EntryRow, Submission
from judge.submissions.service import state_line

ENTRIES_CHANGE = "entries_change"
FINAL_ENTRIES = sentence("The contest has begun: its entries do not change.")


class AuthorsOrder(Order[Notices]):
    """An order about the notices of all authors."""

    target = AUTHORS

    def __init__(self, notices: Notices, given: OrganiserOrder) -> None:
        super().__init__(notices, notices.contest, given)


class Message(AuthorsOrder):
    """Send a message to all authors: it is on their pages, and sent to their addresses by judge serve."""

    action = MESSAGE
    command = "message"
    example = '"The start is at 19:00." cup'
    label = sentence("Send the message")
    link = title = sentence("Message to all authors")
    readers = "authors"

    def do(self, inner: Notices) -> Effect:
        count, reached = inner.send_to_all(self.given.why)
        return Effect(
            sentence(f"message to all authors; authors: {count}, with an address for notices: {reached}"),
            sentence(f"The message is on the page of each author, and is sent to their addresses. Authors: {count}."),
        )


class Send(AuthorsOrder):
    """Send the waiting notices now, also results that are collected for a mail. judge serve must run."""

    action = "send"
    example = "cup"
    label = sentence("Send notices now")
    default_why = "sent by the organiser"
    readers = "organisers"

    def do(self, inner: Notices) -> Effect:
        waiting = inner.make_due()
        return Effect(
            sentence(f"waiting notices that are sent now: {waiting}"),
            sentence(f"Waiting notices that are sent at once: {waiting}. Results are collected for a day otherwise."),
        )


class RegisterOrder(Order[Register]):
    """An order that changes the register of submissions."""

    def __init__(self, register: Register, given: OrganiserOrder) -> None:
        super().__init__(register, register.contest, given)


class Late(RegisterOrder):
    """Let an author submit until the start."""

    action = LATE
    command = ""
    label = sentence("Permit a late submission")
    target = AUTHOR
    needs = "is_closed"

    def do(self, inner: Register) -> Effect:
        author = self.given.target
        if inner.is_locked_in():
            raise InputError(sentence("The contest has begun: a late submission cannot be permitted any more."))
        if author not in Notices.for_contest(inner, self.name).authors():
            raise InputError(sentence(f"there is no author {author!r}"))
        inner.note(LateAllowed(author, self.given.why))
        return Effect(
            sentence(f"{author} may submit until the contest begins"),
            sentence(f"{author} can submit after the end of submissions, until the contest begins."),
        )


class SubmissionOrder(RegisterOrder):
    """An order for a submission."""

    target = SUBMISSION
    readers = "author"
    change: Callable[[Register, int, str, str], Submission]
    """Takes number, organiser and reason; returns the changed submission."""
    entry: EntryRow | None = None
    """Its entry in a ladder that has begun, if it takes part."""

    def read(self) -> None:
        target = self.given.target
        if not (target.isascii() and target.isdigit() and len(target) < 19):
            raise InputError(sentence("a submission is named by its number"))
        self.number = int(target)
        self.given = replace(self.given, target=str(self.number))

    def do(self, inner: Register) -> Effect:
        before, is_final = inner.get(self.number), inner.is_locked_in() and not inner.joins_later
        if is_final and self.needs == ENTRIES_CHANGE:
            raise InputError(FINAL_ENTRIES)
        entries = inner.own_entries(before.author) if inner.joins_later else {}
        self.entry = entries[self.number] if self.number in entries and entries[self.number].is_active else None
        words = self.words(before, before.name or before.filename)
        done = self.change(inner, self.number, self.given.who, self.given.why)
        return Effect(state_line(done), words, FINAL_ENTRIES if is_final else "")

    @abstractmethod
    def words(self, before: Submission, name: str) -> str:
        """Words of the preview."""


class TakeOut(SubmissionOrder):
    """An order after which a submission is no entry."""

    def words(self, before: Submission, name: str) -> str:
        if self.entry is not None:
            return sentence(f"{self.entry.name} continues to take part. To take it out, withdraw the agent.")
        if before.state not in ENTERS:
            return sentence(f"{name} of {before.author} is no entry: its state is {before.state.value}.")
        return sentence(
            f"{name} of {before.author} is no longer an entry. An earlier version takes its place if it passed."
        )


class WithdrawSubmission(TakeOut):
    """Withdraw a submission: it will not be an entry. Games already played stay in the records."""

    action = "withdraw"
    example = '3 --why "the author asked" cup'
    label = sentence("Withdraw")
    states = tuple(state for state in SubmissionState if state is not SubmissionState.WITHDRAWN)
    change = staticmethod(Register.withdraw)


class Approve(SubmissionOrder):
    """Accept a submission that the check refused."""

    action = "approve"
    example = '3 --why "our host was busy" cup'
    label = sentence("Approve")
    states = (SubmissionState.REFUSED,)
    needs = ENTRIES_CHANGE
    change = staticmethod(Register.approve)

    def words(self, before: Submission, name: str) -> str:
        return sentence(f"{name} of {before.author} becomes an entry although it was refused: {before.why}")


class Refuse(TakeOut):
    """Refuse a submission that would play. Its author sees the reason."""

    action = "refuse"
    example = '3 --why "not the author\'s own program" cup'
    label = sentence("Refuse")
    states = ENTERS
    change = staticmethod(Register.refuse)


class Retry(SubmissionOrder):
    """Process a failed, refused or waiting submission again."""

    action = "retry"
    example = '3 --why "the Engine is back" cup'
    label = sentence("Process again")
    default_why = "retried by the organiser"
    states = RETRIED
    change = staticmethod(Register.retry)

    def words(self, before: Submission, name: str) -> str:
        return sentence(f"{name} of {before.author} is unpacked, built and checked again.")


SUBMISSION_ORDERS: Mapping[str, type[AuthorsOrder | RegisterOrder]] = {
    order.action: order for order in (Message, Send, WithdrawSubmission, Approve, Refuse, Retry, Late)
}
