"""An author's page of a submission."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge.contest_games import GameState
from judge.journal.events import SubmissionState
from judge.store.practice_games import PracticeGame
from judge.store.submissions import Register
from judge.store.types import ENTERS, Submission, UploadStep
from judge.submissions.check import CheckReport, Grade
from judge.submissions.pipeline import Stage
from judge.submissions.practice import with_shorter_games
from judge.submissions.service import IntakeDirectory
from judge.web.authors.games import practice_line
from judge.web.intake.app import stored_file
from judge.web.schemas import shown_reason

WORDS = {Stage.STAGED: "stored"}
"""Stages with another word on pages."""


@dataclass(frozen=True, slots=True)
class StageView:
    """`mark` is done, failed, now, held (waits for a slot) or waiting."""

    name: str
    mark: str
    text: str = ""
    seconds: float | None = None


def submission_values(
    directory: IntakeDirectory, register: Register, submission: Submission, *, is_held: bool
) -> Mapping[str, Any]:
    """Values of the page."""
    steps = register.steps(submission)
    report = None
    if submission.report is not None:
        report = CheckReport.model_validate_json(stored_file(directory, submission.report, "report"))
    findings = () if report is None else report.findings
    problems = [each for grade in (Grade.FAIL, Grade.WARNING) for each in findings if each.grade is grade]
    return {
        "submission": submission,
        "why": shown_reason(submission.state, submission.why),
        "stages": _stages(submission, steps, "held" if is_held else "now"),
        "is_open": not submission.is_over,
        "is_too_late": register.has_begun() and not directory.joins_later,
        "problems": problems,
        "passes": [finding for finding in findings if finding.grade is Grade.PASS],
        "untried": () if report is None else report.untried,
    }


def practice_values(
    directory: IntakeDirectory, submission: Submission, games: Sequence[PracticeGame]
) -> Mapping[str, Any]:
    """Values about practice games."""
    limits, clock = directory.intake, directory.policy.clock
    is_waiting = any(game.state in (GameState.PENDING, GameState.RUNNING) for game in games)
    may_ask = limits.practice_games and limits.practice_games_per_day >= limits.practice_games
    return {
        "games": [*map(practice_line, games)],
        "practice_s": limits.practice_s
        if with_shorter_games(directory.policy, limits.practice_s) != directory.policy
        else 0,
        "turn_ms": clock.answer_ms,
        "may_practise": bool(may_ask and submission.state in ENTERS and not is_waiting),
        "is_practising": is_waiting,
    }


def _stages(submission: Submission, steps: Sequence[UploadStep], now: str) -> Sequence[StageView]:
    told = {step.stage: step for step in steps}
    has_failed = any(not step.ok for step in steps)
    shown = []
    for stage in Stage:
        step, word = told.get(stage), WORDS.get(stage, stage.value)
        if step is not None:
            shown.append(StageView(word, "done" if step.ok else "failed", step.text, step.seconds))
        elif stage is Stage.RECEIVED:
            shown.append(StageView(word, "done"))
        elif (
            submission.state is SubmissionState.PROCESSING and not has_failed and not any(s.mark == now for s in shown)
        ):
            shown.append(StageView(word, now))
        else:
            shown.append(StageView(word, "waiting"))
    return shown
