"""The lines that commands print for a submission: upload, steps, state and findings."""

from judge.base.text import printable
from judge.journal.events import SubmissionState
from judge.store.types import UploadStep
from judge.submissions.check import CheckReport, Grade
from judge.terminal.output import SENTENCE_CHARACTERS, finding_lines, stderr_lines

REPEATED = "the same file was submitted before, and is not processed again; to enter it twice, give it another --name"


def received_line(number: int, filename: str, size: int, digest: str) -> str:
    """The line for a received upload."""
    return f"submission {number}: {printable(filename)}, {size} bytes, SHA-256 {printable(digest[:16])}"


def step_line(step: UploadStep) -> str:
    """The line for a processing step."""
    grade = "ok" if step.ok else "FAIL"
    text = printable(step.text, SENTENCE_CHARACTERS)
    return f"{grade:<5} {printable(str(step.stage)):<9} {text} ({step.seconds:.1f} s)"


def print_state(state: SubmissionState, name: str, version: int | None, why: str) -> None:
    """Print the state of a submission and the reason."""
    said = printable(why, SENTENCE_CHARACTERS)
    if state is not SubmissionState.PASSED:
        print(f"{state.value}: {said}")
        return
    print(f"passed: {printable(name)} version {version}" if version else "passed: it")
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
