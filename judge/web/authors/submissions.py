"""A submission as its author's page shows it: each stage in its order, the report, and what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge.store.submission_types import ENTERS, State, Submission, UploadStep
from judge.store.submissions import Register
from judge.submissions.check import CheckReport, Finding, Grade
from judge.submissions.pipeline import Stage
from judge.submissions.service import IntakeDirectory
from judge.web.intake.app import stored_file
from judge.web.intake.schemas import shown_reason

ADMITTED = "admitted"

OPEN = (State.RECEIVED, State.PROCESSING)


@dataclass(frozen=True, slots=True)
class StageView:
    """A stage: `mark` is done, failed, now, held (it waits for a slot) or waiting; `seconds` is None before its end."""

    name: str
    mark: str
    text: str = ""
    seconds: float | None = None


def submission_values(
    directory: IntakeDirectory, register: Register, submission: Submission, *, is_held: bool
) -> Mapping[str, Any]:
    """What the page of a submission shows; `is_held`: it waits for a slot in which a game is played."""
    steps = [step for step in register.steps(submission.id) if step.attempt == submission.attempt]
    report = _report(directory, submission)
    findings = () if report is None else report.findings
    problems = [each for grade in (Grade.FAIL, Grade.WARNING) for each in findings if each.grade is grade]
    return {
        "submission": submission,
        "why": shown_reason(submission.state, submission.why),
        "stages": _stages(submission, steps, "held" if is_held else "now"),
        "is_open": is_open(submission),
        "has_begun": register.has_begun(),
        "problems": problems,
        "passes": _passes(findings),
        "untried": () if report is None else report.untried,
    }


def is_open(submission: Submission) -> bool:
    """Whether something is still to come by itself."""
    return submission.state in OPEN or (submission.state is State.FAILED and submission.due_at is not None)


def _report(directory: IntakeDirectory, submission: Submission) -> CheckReport | None:
    if submission.report is None:
        return None
    return CheckReport.model_validate_json(stored_file(directory, submission.report, "report"))


def _passes(findings: Sequence[Finding]) -> Sequence[Finding]:
    return [finding for finding in findings if finding.grade is Grade.PASS]


def _stages(submission: Submission, steps: Sequence[UploadStep], now: str) -> Sequence[StageView]:
    """All stages: those that are over, the one that runs, by the mark `now`, and those to come."""
    told = {step.stage: step for step in steps}
    has_failed = any(not step.ok for step in steps)
    shown = []
    for stage in Stage:
        step = told.get(stage)
        if step is not None:
            shown.append(StageView(stage, "done" if step.ok else "failed", step.text, step.seconds))
        elif stage is Stage.RECEIVED:
            shown.append(StageView(stage, "done"))
        elif submission.state is State.PROCESSING and not has_failed and not any(s.mark == now for s in shown):
            shown.append(StageView(stage, now))
        else:
            shown.append(StageView(stage, "waiting"))
    is_in = submission.state in ENTERS
    is_out = submission.state in (State.REFUSED, State.WITHDRAWN)
    shown.append(StageView(ADMITTED, "done" if is_in else "failed" if is_out else "waiting"))
    return shown
