"""The lines that commands print of a submission: what was received, its steps, its state and its findings."""

from judge.base.text import printable
from judge.store.submission_types import State, UploadStep
from judge.submissions.check import CheckReport, Grade
from judge.terminal.output import SENTENCE_CHARACTERS, finding_lines


def received_line(number: int, filename: str, size: int, digest: str) -> str:
    """What was received, on one line."""
    return f"submission {number}: {printable(filename)}, {size} bytes, SHA-256 {printable(digest[:16])}"


def step_line(step: UploadStep) -> str:
    """A step of the processing on one line."""
    grade = "ok" if step.ok else "FAIL"
    text = printable(step.text, SENTENCE_CHARACTERS)
    return f"{grade:<5} {printable(str(step.stage)):<9} {text} ({step.seconds:.1f} s)"


def print_state(state: State, name: str, version: int | None, why: str) -> None:
    """Print what became of a submission, and why."""
    said = printable(why, SENTENCE_CHARACTERS)
    if state is not State.PASSED:
        print(f"{state.value}: {said}")
        return
    print(f"passed: {printable(name)} version {version}" if version else "passed: it")
    if said:
        print(said)


def print_findings(report: CheckReport | None) -> None:
    """Print the findings of a report that did not pass, failures first; nothing if there was no check."""
    findings = () if report is None else report.findings
    for grade in (Grade.FAIL, Grade.WARNING):
        for line in finding_lines(finding for finding in findings if finding.grade is grade):
            print(line)
