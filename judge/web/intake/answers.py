"""Responses without data for organisers only."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from judge.contest_games import GameState
from judge.journal.events import SubmissionState
from judge.store.practice_games import PracticeGame
from judge.store.types import Change, Submission, UploadStep
from judge.transparency.receipt import Receipt
from judge.web.schemas import Detail, PracticePage, Received

HOST_FAILED = "the judge's host failed; this does not count against the submission"


def public(submission: Submission) -> Submission:
    """The author's view of a submission."""
    return replace(submission, why=shown_reason(submission.state, submission.why))


def received(submission: Submission, receipt: Receipt | None, *, is_repeated: bool = False) -> Received:
    """The submission of an upload."""
    return Received(**_values(submission), receipt=receipt, is_repeated=is_repeated)


def detail(submission: Submission, steps: list[UploadStep], journal: list[Change], receipt: Receipt | None) -> Detail:
    """A submission with its steps and journal."""
    return Detail(
        **_values(submission),
        receipt=receipt,
        steps=steps,
        journal=[replace(change, why=shown_reason(change.state, change.why)) for change in journal],
    )


def _values(submission: Submission) -> dict[str, Any]:
    return {each.name: getattr(public(submission), each.name) for each in fields(Submission)}


def shown_reason(state: SubmissionState, why: str) -> str:
    """A state's reason, without host failures."""
    return HOST_FAILED if state is SubmissionState.FAILED else why


def practice_page(games: Sequence[PracticeGame]) -> PracticePage:
    """Practice games."""
    return PracticePage(games=[replace(game, why=practice_reason(game)) for game in games])


def practice_reason(game: PracticeGame) -> str:
    """Why a game is not over, without host failures."""
    if game.state in (GameState.CANCELLED, GameState.DONE) or not game.failures:
        return game.why
    return HOST_FAILED
