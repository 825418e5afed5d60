"""What commands print for a submission: upload, steps, state, findings, next step, and JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.base.parsing import to_document
from judge.base.text import printable
from judge.journal.events import SubmissionState
from judge.store.types import Submission, UploadStep
from judge.submissions.check import CheckReport, Grade
from judge.terminal.output import SENTENCE_CHARACTERS, finding_lines, note, stderr_lines

if TYPE_CHECKING:
    from judge.store.submissions import Register
    from judge.submissions.service import IntakeDirectory

REPEATED = "the same file was submitted before, and is not processed again; to enter it twice, give it another --name"


def print_received(upload: Submission) -> None:
    """Print number, file and digest of an upload."""
    digest = printable(upload.upload[:16])
    print(f"submission {upload.id}: {printable(upload.filename)}, {upload.size} bytes, SHA-256 {digest}", flush=True)


def print_step(step: UploadStep) -> None:
    """Print the result of a processing step."""
    grade = "ok" if step.ok else "FAIL"
    text = printable(step.text, SENTENCE_CHARACTERS)
    print(f"{grade:<5} {printable(str(step.stage)):<9} {text} ({step.seconds:.1f} s)", flush=True)


def print_state(ended: Submission) -> None:
    """Print the state of a submission and the reason."""
    said = printable(ended.why, SENTENCE_CHARACTERS)
    if ended.state is not SubmissionState.PASSED:
        print(f"{ended.state.value}: {said}")
        return
    print(f"passed: {printable(ended.name)} version {ended.version}" if ended.version else "passed: it")
    if said:
        print(said)


def print_findings(report: CheckReport | None) -> None:
    """Print the findings that did not pass, failures first; nothing without a report."""
    findings = () if report is None else report.findings
    for grade in (Grade.FAIL, Grade.WARNING):
        for line in finding_lines(finding for finding in findings if finding.grade is grade):
            print(line)
    for line in (line for finding in findings for line in stderr_lines(finding)):
        print(line)


def print_result(directory: IntakeDirectory, register: Register, ended: Submission, contest: Path) -> None:
    """Print findings, state and next step."""
    from judge.contest.admissions import joins_later

    print_findings(report_of(directory, ended))
    print_state(ended)
    if ended.state is SubmissionState.PASSED:
        if register.has_begun() and joins_later(register):
            note("it joins the contest, which has begun")
        elif register.has_begun():
            note(
                "the contest has begun: its entries are locked in, so this agent does not take part; "
                f"a Swiss admits it: judge contest enter {ended.name} {contest} --why …"
            )
        return
    of = f"{ended.id} {contest}"
    if ended.state is SubmissionState.REFUSED:
        note(f"next: fix it and submit it again; the log is in: judge submissions show {of} --log")
        if ended.agent is not None:
            note(f"or accept it unchanged: judge submissions approve {of} --why REASON")
    elif ended.state is SubmissionState.RECEIVED:
        note(f"it waits, and is not refused; next: judge submissions retry {of}")
    elif ended.state is SubmissionState.FAILED:
        note(f"next: fix the host (judge doctor), then: judge submissions retry {of}")


def report_of(directory: IntakeDirectory, submission: Submission) -> CheckReport | None:
    """The report of the check; None before its end."""
    if submission.report is None:
        return None
    return CheckReport.model_validate_json(directory.files.get(submission.report))


def submission_json(directory: IntakeDirectory, register: Register, submission: Submission) -> dict[str, Any]:
    """A submission with its steps, history and report as JSON."""
    report = report_of(directory, submission)
    return {
        "id": submission.id,
        "author": submission.author,
        "name": submission.name,
        "title": submission.title,
        "version": submission.version,
        "state": submission.state,
        "why": submission.why,
        "filename": submission.filename,
        "sha256": submission.upload,
        "size": submission.size,
        "received_at": submission.received_at,
        "agent": submission.digest,
        "steps": [*map(to_document, register.steps(submission))],
        "journal": [*map(to_document, register.journal(submission.id))],
        "report": None if report is None else report.model_dump(mode="json"),
    }
