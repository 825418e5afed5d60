"""Orders, as in `judge contest` and `judge submissions`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from judge.base.errors import InputError
from judge.contest import orders
from judge.contest.contest import Contest
from judge.contest.orders import Effect, PlaceChange
from judge.store.orders import DoneOrder, OrganiserOrder
from judge.store.submission_types import ENTERS, State, Submission
from judge.submissions.service import decide
from judge.transparency.log import KEY_FILE
from judge.web.organisers.console import Console
from judge.web.organisers.files import EXPORTS, PUBLISHED, export, publish_pages


@dataclass(frozen=True, slots=True)
class Preview:
    """Heading, changes, and the game's attempt (or 0)."""

    heading: str
    words: str
    changes: Sequence[PlaceChange] = ()
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Action:
    """`preview` and `carry_out` raise InputError if it is impossible now."""

    label: str
    preview: Callable[[Console, str], Preview]
    carry_out: Callable[[Console, OrganiserOrder, int], DoneOrder]


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
        return Preview(f"{label}: {contest.name}", found.words, found.changes)

    def carry_out(console: Console, given: OrganiserOrder, _: int) -> DoneOrder:
        return order(console.begun(), replace(given, target=""))

    return Action(label, preview, carry_out)


def _preview_void(console: Console, target: str) -> Preview:
    game, found = orders.effect_of_void(console.begun(), target)
    return Preview(f"Void game {game.number} and play it again", found.words, found.changes, game.attempt)


def _preview_replay(console: Console, target: str) -> Preview:
    game, found = orders.effect_of_replay(console.begun(), target)
    return Preview(f"Play game {game.number} again", found.words)


def _preview_disqualify(console: Console, target: str) -> Preview:
    found = orders.effect_of_disqualify(console.begun(), target)
    return Preview(f"Disqualify {target}", found.words, found.changes)


# --- files -----------------------------------------------------------------------------------------------------------


def _preview_export(console: Console, _: str) -> Preview:
    contest = console.begun()
    if not (contest.planned.folder / KEY_FILE).exists():
        raise InputError(
            f"an export is signed, and there is no {KEY_FILE} in the contest's folder: make it once with "
            f"judge contest key {contest.planned.folder / KEY_FILE}, and open this page again"
        )
    words = (
        f"A new directory below {EXPORTS} of the contest's folder is written and signed, also if games are still to be "
        "played. It may take minutes. No place changes."
    )
    return Preview(f"Export {contest.name}", words)


def _preview_publish(console: Console, _: str) -> Preview:
    contest = console.begun()
    words = f"The directory {PUBLISHED} of the contest's folder gets the current pages. No place changes."
    return Preview(f"Publish the pages of {contest.name}", words)


# --- submissions -----------------------------------------------------------------------------------------------------


def _of_submission(name: str, label: str, says: Callable[[Submission], str]) -> Action:
    def preview(console: Console, target: str) -> Preview:
        submission = console.state.register.get(_number(target))
        words = says(submission)
        if console.state.register.has_begun():
            words += " The contest has begun: its entries do not change."
        return Preview(f"{label} submission {submission.id}", words)

    def carry_out(console: Console, order: OrganiserOrder, _: int) -> DoneOrder:
        return decide(console.state.register, replace(order, action=name, target=str(_number(order.target))))

    return Action(label, preview, carry_out)


def _number(target: str) -> int:
    if not (target.isascii() and target.isdigit() and len(target) < 19):
        raise InputError("a submission is named by its number")
    return int(target)


def _named(submission: Submission) -> str:
    return f"{submission.name or 'it'} of {submission.author}"


def _says_approve(submission: Submission) -> str:
    return f"{_named(submission)} is {submission.state.value}, and would play. Refused because: {submission.why}"


def _says_out(submission: Submission) -> str:
    if submission.state not in ENTERS:
        return f"{_named(submission)} is {submission.state.value}: it would not play in any case."
    return (
        f"{_named(submission)} would not play; an earlier version of the same name would, if there is one that passed."
    )


def _says_retry(submission: Submission) -> str:
    again = "" if submission.state in (State.FAILED, State.REFUSED) else ", so it cannot be processed again now"
    return f"{_named(submission)} is {submission.state.value}{again}. It is unpacked, built and checked anew."


ACTIONS: Mapping[str, Action] = {
    "pause": _of_contest("Pause", orders.effect_of_pause, orders.pause),
    "resume": _of_contest("Resume", orders.effect_of_resume, orders.resume),
    # Another attempt than the preview's may have another result.
    "void": Action("Void and play again", _preview_void, lambda console, *given: orders.void(console.begun(), *given)),
    "replay": Action("Play again", _preview_replay, lambda console, order, _: orders.replay(console.begun(), order)),
    "disqualify": Action(
        "Disqualify", _preview_disqualify, lambda console, order, _: orders.disqualify(console.begun(), order)
    ),
    "export": Action("Export", _preview_export, lambda console, order, _: export(console, order)),
    "publish": Action("Publish", _preview_publish, lambda console, order, _: publish_pages(console, order)),
    "approve": _of_submission("approve", "Approve", _says_approve),
    "refuse": _of_submission("refuse", "Refuse", _says_out),
    "withdraw": _of_submission("withdraw", "Withdraw", _says_out),
    "retry": _of_submission("retry", "Process again", _says_retry),
}
