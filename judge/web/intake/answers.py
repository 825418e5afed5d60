"""Responses without data for organisers only."""

from collections.abc import Sequence

from judge.contest_games import GameState
from judge.journal.events import SubmissionState
from judge.store.practice_games import PracticeGame
from judge.store.types import Change, Submission, UploadStep
from judge.transparency.receipt import Receipt
from judge.web.schemas import Detail, JournalEvent, PracticeInfo, PracticePage, Received, StepInfo, Summary

HOST_FAILED = "the judge's host failed; this does not count against the submission"


def summary(submission: Submission) -> Summary:
    """The author's view of a submission."""
    return Summary(
        id=submission.id,
        name=submission.name,
        title=submission.title,
        version=submission.version,
        filename=submission.filename,
        sha256=submission.upload,
        size=submission.size,
        received_at=submission.received_at,
        state=submission.state,
        why=shown_reason(submission.state, submission.why),
        again_at=submission.due_at,
    )


def received(submission: Submission, receipt: Receipt | None, *, is_repeated: bool = False) -> Received:
    """The submission of an upload."""
    return Received(**dict(summary(submission)), receipt=receipt, is_repeated=is_repeated)


def detail(submission: Submission, steps: list[UploadStep], journal: list[Change], receipt: Receipt | None) -> Detail:
    """A submission with its steps and journal."""
    current = [step for step in steps if step.attempt == submission.attempt]
    return Detail(
        **dict(summary(submission)),
        receipt=receipt,
        steps=[StepInfo(stage=step.stage, ok=step.ok, text=step.text, seconds=step.seconds) for step in current],
        journal=[
            JournalEvent(at=change.at, who=change.who, state=change.state, why=shown_reason(change.state, change.why))
            for change in journal
        ],
    )


def shown_reason(state: SubmissionState, why: str) -> str:
    """A state's reason, without host failures."""
    return HOST_FAILED if state is SubmissionState.FAILED else why


def practice_page(games: Sequence[PracticeGame]) -> PracticePage:
    """Practice games."""
    return PracticePage(games=[_practice_info(game) for game in games])


def _practice_info(game: PracticeGame) -> PracticeInfo:
    values = {name: getattr(game, name) for name in PracticeInfo.model_fields}
    return PracticeInfo(**{**values, "why": practice_reason(game)})


def practice_reason(game: PracticeGame) -> str:
    """Why a game is not over, without host failures."""
    if game.state in (GameState.CANCELLED, GameState.DONE) or not game.failures:
        return game.why
    return HOST_FAILED
