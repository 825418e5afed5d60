"""Orders, as in `judge contest` and `judge submissions`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from judge.base.errors import InputError
from judge.base.text import sentence
from judge.contest import order_previews, orders
from judge.contest.contest import Contest
from judge.contest.folder_names import EXPORTS, PUBLISHED
from judge.contest.order_previews import Effect, PlaceChange
from judge.journal.events import SubmissionState
from judge.store.orders import DoneOrder, OrganiserOrder
from judge.store.submission_queries import LATE
from judge.store.submissions import LATE_REFUSED
from judge.store.types import ENTERS, Submission
from judge.submissions.service import decide
from judge.transparency.log import KEY_FILE
from judge.web.organisers.console import Console
from judge.web.organisers.files import export, publish_pages


@dataclass(frozen=True, slots=True)
class Preview:
    """Heading, effect in one or two sentences, changes of the standings, and the game's attempt (or 0)."""

    heading: str
    words: str
    note: str = ""
    changes: Sequence[PlaceChange] = ()
    attempt: int = 0
    readers: Literal["everybody", "author", "authors", "organisers"] = "everybody"
    """Who can read the reason."""


@dataclass(frozen=True, slots=True)
class Action:
    """`preview` and `carry_out` raise InputError if it is impossible now."""

    label: str
    preview: Callable[[Console, str], Preview]
    carry_out: Callable[[Console, OrganiserOrder, int], DoneOrder]
    is_long: bool = False
    """It is carried out after the answer, which the order's page shows."""


def action_of(name: str) -> Action:
    """Raises InputError for an unknown name."""
    if name not in ACTIONS:
        raise InputError("there is no such order: give one from the page of the game, the agent or the submission")
    return ACTIONS[name]


# --- a contest -------------------------------------------------------------------------------------------------------


def _of_contest(
    label: str, effect: Callable[[Contest], Effect], order: Callable[[Contest, OrganiserOrder], DoneOrder]
) -> Action:
    def preview(console: Console, _: str) -> Preview:
        contest = console.begun()
        found = effect(contest)
        return Preview(label, found.words, found.note, found.changes)

    def carry_out(console: Console, given: OrganiserOrder, _: int) -> DoneOrder:
        return order(console.begun(), replace(given, target=""))

    return Action(label, preview, carry_out)


def _preview_void(console: Console, target: str) -> Preview:
    game, found = order_previews.effect_of_void(console.begun(), target)
    heading = sentence(f"Void game {game.number} and play it again")
    return Preview(heading, found.words, found.note, found.changes, game.attempt)


def _preview_replay(console: Console, target: str) -> Preview:
    game, found = order_previews.effect_of_replay(console.begun(), target)
    return Preview(sentence(f"Play game {game.number} again"), found.words, found.note)


def _preview_disqualify(console: Console, target: str) -> Preview:
    found = order_previews.effect_of_disqualify(console.begun(), target)
    return Preview(sentence(f"Disqualify {target}"), found.words, found.note, found.changes)


def _preview_withdraw(console: Console, target: str) -> Preview:
    found = order_previews.effect_of_withdraw(console.begun(), target)
    return Preview(sentence(f"Withdraw {target}"), found.words, found.note, found.changes)


def _preview_enter(console: Console, target: str) -> Preview:
    found = order_previews.effect_of_enter(console.begun(), target)
    return Preview(sentence(f"Enter {target}"), found.words, found.note)


# --- files -----------------------------------------------------------------------------------------------------------


def _preview_export(console: Console, _: str) -> Preview:
    contest = console.begun()
    if not (contest.planned.folder / KEY_FILE).exists():
        raise InputError(
            f"an export is signed, and there is no {KEY_FILE} in the contest's folder: make it once with "
            f"judge contest key {contest.planned.folder / KEY_FILE}, and open this page again"
        )
    return Preview(
        sentence("Export: the signed results"),
        sentence(
            "Writes tables, records and pages with a signature that everybody can verify. After the end, the page "
            "Verify offers the newest export."
        ),
        sentence(f"The files go to a new directory in {EXPORTS}. This may take minutes."),
        readers="organisers",
    )


def _preview_publish(console: Console, _: str) -> Preview:
    is_over = console.begun().is_over()
    return Preview(
        sentence("Publish: the live pages"),
        sentence("Writes the current pages as files for a web server. They are not signed: for verification, export."),
        sentence(f"The contest is over: {PUBLISHED} gets the final pages.")
        if is_over
        else sentence(f"The contest runs: {PUBLISHED} gets its present state. Publish again after the end."),
        readers="organisers",
    )


# --- authors ---------------------------------------------------------------------------------------------------------


def _preview_message(console: Console, _: str) -> Preview:
    count = len(console.state.notices.authors())
    words = sentence(f"The message is on the page of each author, and is sent to their addresses. Authors: {count}.")
    return Preview(sentence("Message to all authors"), words, readers="authors")


def _preview_send(console: Console, _: str) -> Preview:
    waiting = sum(each.waiting for each in console.state.notices.by_author())
    words = sentence(f"Waiting notices that are sent at once: {waiting}. Results are collected for a day otherwise.")
    return Preview(sentence("Send notices now"), words, readers="organisers")


def _preview_late(console: Console, author: str) -> Preview:
    register = console.state.register
    if register.is_locked_in():
        raise InputError(LATE_REFUSED)
    if author not in console.state.notices.authors():
        raise InputError(sentence(f"there is no author {author!r}"))
    words = sentence(f"{author} can submit after the end of submissions, until the contest begins.")
    return Preview(sentence("Permit a late submission"), words)


# --- submissions -----------------------------------------------------------------------------------------------------


_FINAL_ENTRIES = sentence("The contest has begun: its entries do not change.")


def _of_submission(name: str, label: str, says: Callable[[Submission], str]) -> Action:
    def refuse_without_effect(console: Console) -> None:
        if name == "approve" and console.state.register.has_begun() and not console.state.directory.joins_later:
            raise InputError(_FINAL_ENTRIES)

    def preview(console: Console, target: str) -> Preview:
        register = console.state.register
        submission = register.get(_number(target))
        refuse_without_effect(console)
        if not register.has_begun():
            return Preview(label, says(submission), readers="author")
        if not console.state.directory.joins_later:
            return Preview(label, says(submission), _FINAL_ENTRIES, readers="author")
        entry = register.own_entries(submission.author).get(submission.id)
        if name in ("refuse", "withdraw") and entry is not None and entry.is_active:
            words = sentence(f"{entry.name} continues to take part. To take it out, withdraw the agent.")
            return Preview(label, words, readers="author")
        return Preview(label, says(submission), readers="author")

    def carry_out(console: Console, order: OrganiserOrder, _: int) -> DoneOrder:
        target = str(_number(order.target))
        if console.orders.get(order.id) is None:
            refuse_without_effect(console)
        return decide(console.state.register, replace(order, action=name, target=target))

    return Action(label, preview, carry_out)


def _number(target: str) -> int:
    if not (target.isascii() and target.isdigit() and len(target) < 19):
        raise InputError(sentence("a submission is named by its number"))
    return int(target)


def _says_approve(submission: Submission) -> str:
    name, author = submission.name or submission.filename, submission.author
    return sentence(f"{name} of {author} becomes an entry although it was refused: {submission.why}")


def _says_out(submission: Submission) -> str:
    name, author = submission.name or submission.filename, submission.author
    if submission.state not in ENTERS:
        return sentence(f"{name} of {author} is no entry: its state is {submission.state.value}.")
    return sentence(f"{name} of {author} is no longer an entry. An earlier version takes its place if it passed.")


def _says_retry(submission: Submission) -> str:
    name, author = submission.name or submission.filename, submission.author
    if submission.state in (SubmissionState.FAILED, SubmissionState.REFUSED):
        return sentence(f"{name} of {author} is unpacked, built and checked again.")
    return sentence(f"{name} of {author} is {submission.state.value}: it cannot be processed again now.")


ACTIONS: Mapping[str, Action] = {
    "pause": _of_contest(sentence("Pause"), order_previews.effect_of_pause, orders.pause),
    "resume": _of_contest(sentence("Resume"), order_previews.effect_of_resume, orders.resume),
    # Another attempt than the preview's may have another result.
    "void": Action(
        sentence("Void and play again"), _preview_void, lambda console, *given: orders.void(console.begun(), *given)
    ),
    "replay": Action(
        sentence("Play again"), _preview_replay, lambda console, order, _: orders.replay(console.begun(), order)
    ),
    "disqualify": Action(
        sentence("Disqualify"), _preview_disqualify, lambda console, order, _: orders.disqualify(console.begun(), order)
    ),
    "withdraw-agent": Action(
        sentence("Withdraw"), _preview_withdraw, lambda console, order, _: orders.withdraw(console.begun(), order)
    ),
    "enter": Action(sentence("Enter"), _preview_enter, lambda console, order, _: orders.enter(console.begun(), order)),
    "end-season": _of_contest(sentence("End the season"), order_previews.effect_of_end_season, orders.end_season),
    "freeze-admissions": _of_contest(
        sentence("Freeze admissions"), order_previews.effect_of_freeze_admissions, orders.freeze_admissions
    ),
    "reopen-admissions": _of_contest(
        sentence("Reopen admissions"), order_previews.effect_of_reopen_admissions, orders.reopen_admissions
    ),
    "export": Action(
        sentence("Export"), _preview_export, lambda console, order, _: export(console, order), is_long=True
    ),
    "publish": Action(
        sentence("Publish"), _preview_publish, lambda console, order, _: publish_pages(console, order), is_long=True
    ),
    "message": Action(
        sentence("Send the message"),
        _preview_message,
        lambda console, order, _: console.state.notices.send_message(replace(order, target="")),
    ),
    "send": Action(
        sentence("Send notices now"),
        _preview_send,
        lambda console, order, _: console.state.notices.send_now(replace(order, target="")),
    ),
    LATE: Action(
        sentence("Permit a late submission"),
        _preview_late,
        lambda console, order, _: console.state.register.admit_late(order),
    ),
    "approve": _of_submission("approve", sentence("Approve"), _says_approve),
    "refuse": _of_submission("refuse", sentence("Refuse"), _says_out),
    "withdraw": _of_submission("withdraw", sentence("Withdraw"), _says_out),
    "retry": _of_submission("retry", sentence("Process again"), _says_retry),
}
