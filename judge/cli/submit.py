"""`judge submit`: take an agent in for a contest, build it, check it, and say what happened at each step."""

import json
import logging
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.cli.desk import ContestFile, open_desk, processor
from judge.cli.text import note
from judge.logs import set_level
from judge.store.register import Register
from judge.store.submission import ENTERS, State, Submission, ToldStep
from judge.store.tokens import checked_author
from judge.submissions.check import CheckReport, Grade
from judge.submissions.pipeline import UploadStep
from judge.submissions.service import ORGANISER, IntakeDirectory, at_work, give_back, process_taken, receive_file
from judge.text import printable

EXAMPLES = """
Examples:

judge submit my-agent.zip --contest cup/contest.toml

judge submit pbrain-five.zip --contest cup --name five --author "Ada L." --json

Exit codes: 0 it passed, 1 it was refused, or the host failed; 2 something in the command was wrong.
"""

CHARACTERS = 600
"""How much of a sentence is shown; a stranger may have written part of it."""


def submit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive of files or sources, or one program.")],
    contest: ContestFile,
    name: Annotated[str, typer.Option(help="What the agent is called; else as its manifest says.")] = "",
    author: Annotated[str, typer.Option(help="Whose it is; else the organiser's own.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Take FILE in for a contest: unpack it, build it, check it, register it."""
    set_level(logging.ERROR)  # a line of the log would come between this command's own
    desk = open_desk(contest)
    if author:
        checked_author(author)

    def tell(step: UploadStep) -> None:
        if not as_json:
            print(line_of(step), flush=True)

    with closing(desk.register()) as register, at_work(desk) as worker:
        give_back(desk, register)
        taken = receive_file(desk, register, file, name, author or ORGANISER, worker)
        if not as_json:
            size = f"{taken.size} bytes, SHA-256 {taken.upload[:16]}"
            print(f"submission {taken.id}: {printable(taken.filename)}, {size}", flush=True)
        ended = process_taken(desk, register, taken, processor(desk), tell)
        if as_json:
            print(json.dumps(document(desk, register, ended), indent=2))
        else:
            tell_end(desk, register, ended, contest)
    if ended.state not in ENTERS:
        raise SystemExit(1)


def line_of(step: UploadStep | ToldStep) -> str:
    """A step on a line."""
    grade = "ok" if step.ok else "FAIL"
    return f"{grade:<5} {printable(str(step.stage)):<9} {printable(step.text, CHARACTERS)} ({step.seconds:.1f} s)"


def tell_end(desk: IntakeDirectory, register: Register, ended: Submission, contest: Path) -> None:
    """What came of it, the findings that must be fixed, and what to do next."""
    for line in findings_of(report_of(desk, ended)):
        print(line)
    called = f"{printable(ended.name)} version {ended.version}" if ended.version else "it"
    if ended.state is State.PASSED:
        print(f"passed: {called}")
        if ended.why:
            print(printable(ended.why, CHARACTERS))
        if register.has_begun():
            note("the contest has begun: its entries are frozen, and this plays no game of it")
        return
    print(f"{ended.state.value}: {printable(ended.why, CHARACTERS)}")
    of = f"{ended.id} --contest {contest}"
    if ended.state is State.REFUSED:
        note(f"next: fix it and submit it again; what was said: judge submissions log {of}")
        if ended.agent is not None:
            note(f"or let it in all the same: judge submissions approve {of} --why REASON")
    elif ended.state is State.RECEIVED:
        note(f"it waits, and nothing is held against it; next: judge submissions retry {of}")
    elif ended.state is State.FAILED:
        note(f"next: fix the host (judge doctor), then: judge submissions retry {of}")


def findings_of(report: CheckReport | None) -> list[str]:
    """The findings that did not pass, the failed ones first, each with its fix."""
    found = () if report is None else report.findings
    lines = []
    for grade in (Grade.FAIL, Grade.WARNING):
        for finding in found:
            if finding.grade is grade:
                seen = printable(finding.evidence, CHARACTERS)
                lines.append(f"{grade.value:<7} {finding.check}: {finding.tried}: {seen}")
                if finding.fix:
                    lines.append(f"        fix: {printable(finding.fix, CHARACTERS)}")
    return lines


def report_of(desk: IntakeDirectory, submission: Submission) -> CheckReport | None:
    """The gate's report, if it got that far; InputError where the file was damaged."""
    if submission.report is None:
        return None
    return CheckReport.model_validate_json(desk.files.get(submission.report))


def document(desk: IntakeDirectory, register: Register, submission: Submission) -> dict[str, Any]:
    """A submission as JSON."""
    report = report_of(desk, submission)
    return {
        "id": submission.id,
        "author": submission.author,
        "name": submission.name,
        "version": submission.version,
        "state": submission.state,
        "why": submission.why,
        "filename": submission.filename,
        "sha256": submission.upload,
        "size": submission.size,
        "received_at": submission.received_at,
        "agent": submission.digest,
        "steps": [
            {"stage": step.stage, "ok": step.ok, "text": step.text, "seconds": step.seconds}
            for step in register.steps(submission.id)
            if step.attempt == submission.attempt
        ],
        "journal": [
            {"at": one.at, "who": one.who, "state": one.state, "why": one.why}
            for one in register.journal(submission.id)
        ],
        "report": None if report is None else report.model_dump(mode="json"),
    }
