"""Orders for submissions and authors. A new one is a class here and a name in `SUBMISSION_ORDERS`."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from judge.base.errors import InputError
from judge.base.text import sentence
from judge.contest.orders.order import AUTHOR, AUTHORS, SUBMISSION, Effect, Offer, Order
from judge.journal.events import LateAllowed, SubmissionState
from judge.store.notices import MESSAGE, Notices
from judge.store.orders import OrganiserOrder
from judge.store.submission_queries import LATE
from judge.store.submissions import RETRIED, Register
from judge.store.types import ENTERS, EntryRow, Submission
from judge.submissions.service import state_line

FINAL_ENTRIES = sentence("The contest has begun: its entries do not change.")
LATE_REFUSED = sentence("The contest has begun: a late submission cannot be permitted any more.")


class AuthorsOrder(Order[Notices]):
    """An order about the notices of all authors."""

    target = AUTHORS

    def __init__(self, notices: Notices, given: OrganiserOrder) -> None:
        super().__init__(notices, notices.contest, given)


class Message(AuthorsOrder):
    """Send a message to all authors: it is on their pages, and sent to their addresses by judge serve."""

    action = MESSAGE
    example = '"The start is at 19:00." cup'
    label = sentence("Send the message")
    link = heading = sentence("Message to all authors")
    readers = "authors"

    def do(self, inner: Notices) -> str:
        self.count, reached = inner.send_to_all(self.given.why)
        count = self.count
        return sentence(f"message to all authors; authors: {count}, with an address for notices: {reached}")

    def effect(self) -> Effect:
        count = self.count
        return Effect(
            sentence(f"The message is on the page of each author, and is sent to their addresses. Authors: {count}.")
        )


class Send(AuthorsOrder):
    """Send the waiting notices now, also results that are collected for a mail. judge serve must run."""

    action = "send"
    example = "cup"
    label = sentence("Send notices now")
    default_why = "sent by the organiser"
    readers = "organisers"

    def do(self, inner: Notices) -> str:
        self.count = count = inner.make_due()
        return sentence(f"waiting notices that are sent now: {count}")

    def effect(self) -> Effect:
        waiting = self.count
        return Effect(
            sentence(f"Waiting notices that are sent at once: {waiting}. Results are collected for a day otherwise.")
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

    @classmethod
    def is_offered(cls, offer: Offer) -> bool:
        return offer.is_closed

    def do(self, inner: Register) -> str:
        author = self.given.target
        if inner.is_locked_in():
            raise InputError(LATE_REFUSED)
        if author not in Notices.within(inner, self.name).authors():
            raise InputError(sentence(f"there is no author {author!r}"))
        inner.note(LateAllowed(author, self.given.why))
        return sentence(f"{author} may submit until the contest begins")

    def effect(self) -> Effect:
        author = self.given.target
        return Effect(sentence(f"{author} can submit after the end of submissions, until the contest begins."))


class SubmissionOrder(RegisterOrder):
    """An order for a submission."""

    target = SUBMISSION
    readers = "author"
    changes_entries: ClassVar[bool] = False
    """Whether it is impossible when entries no longer change."""

    @classmethod
    def is_offered(cls, offer: Offer) -> bool:
        return not (offer.is_final and cls.changes_entries)

    def read(self) -> None:
        target = self.given.target
        if not (target.isascii() and target.isdigit() and len(target) < 19):
            raise InputError(sentence("a submission is named by its number"))
        self.number = int(target)
        self.given = replace(self.given, target=str(self.number))
        self.before = self.part.get(self.number)

    def do(self, inner: Register) -> str:
        self.is_final = inner.has_begun() and not inner.joins_later
        if self.is_final and self.changes_entries:
            raise InputError(FINAL_ENTRIES)
        return state_line(self.decide(inner))

    @abstractmethod
    def decide(self, inner: Register) -> Submission:
        """Raises NotNowError."""

    def effect(self) -> Effect:
        return Effect(self.words(), FINAL_ENTRIES if self.is_final else "")

    @abstractmethod
    def words(self) -> str: ...

    @property
    def called(self) -> str:
        return self.before.name or self.before.filename

    def active_entry(self) -> EntryRow | None:
        """Its entry in a ladder that has begun, if it takes part."""
        entry = self.part.own_entries(self.before.author).get(self.number) if self.part.joins_later else None
        return entry if entry is not None and entry.is_active else None


class TakeOut(SubmissionOrder):
    """An order after which a submission is no entry."""

    def words(self) -> str:
        name, author = self.called, self.before.author
        if (entry := self.active_entry()) is not None:
            return sentence(f"{entry.name} continues to take part. To take it out, withdraw the agent.")
        if self.before.state not in ENTERS:
            return sentence(f"{name} of {author} is no entry: its state is {self.before.state.value}.")
        return sentence(f"{name} of {author} is no longer an entry. An earlier version takes its place if it passed.")


class WithdrawSubmission(TakeOut):
    """Withdraw a submission: it will not be an entry. Games already played stay in the records."""

    action = "withdraw"
    example = '3 --why "the author asked" cup'
    label = sentence("Withdraw")
    states = tuple(state for state in SubmissionState if state is not SubmissionState.WITHDRAWN)

    def decide(self, inner: Register) -> Submission:
        return inner.withdraw(self.number, self.given.who, self.given.why)


class Approve(SubmissionOrder):
    """Accept a submission that the check refused."""

    action = "approve"
    example = '3 --why "our host was busy" cup'
    label = sentence("Approve")
    states = (SubmissionState.REFUSED,)
    changes_entries = True

    def decide(self, inner: Register) -> Submission:
        return inner.approve(self.number, self.given.who, self.given.why)

    def words(self) -> str:
        name, author = self.called, self.before.author
        return sentence(f"{name} of {author} becomes an entry although it was refused: {self.before.why}")


class Refuse(TakeOut):
    """Refuse a submission that would play. Its author sees the reason."""

    action = "refuse"
    example = '3 --why "not the author\'s own program" cup'
    label = sentence("Refuse")
    states = ENTERS

    def decide(self, inner: Register) -> Submission:
        return inner.refuse(self.number, self.given.who, self.given.why)


class Retry(SubmissionOrder):
    """Process a failed, refused or waiting submission again."""

    action = "retry"
    example = '3 --why "the Engine is back" cup'
    label = sentence("Process again")
    default_why = "retried by the organiser"
    states = RETRIED

    def decide(self, inner: Register) -> Submission:
        return inner.retry(self.number, self.given.who, self.given.why)

    def words(self) -> str:
        name, author = self.called, self.before.author
        return sentence(f"{name} of {author} is unpacked, built and checked again.")


SUBMISSION_ORDERS: Mapping[str, type[AuthorsOrder | RegisterOrder]] = {
    order.action: order for order in (Message, Send, WithdrawSubmission, Approve, Refuse, Retry, Late)
}
