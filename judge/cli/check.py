"""`judge check`: try an agent before a contest; prints a grade, the evidence and the fix for each check."""

import logging
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.agents.agents import stage_agent
from judge.base.logs import set_level
from judge.base.text import printable
from judge.cli.host_setup import box_kind, make_ready, slot_alone
from judge.cli.options import BoxOption, JsonOption, PolicyOption, SetOption, complete_agent
from judge.referee.policy import load_policy
from judge.sandbox.machine.owner import owned_directory
from judge.submissions.check import CheckReport, Finding, Grade, OverlongError, examine
from judge.submissions.limits import IntakeLimits
from judge.terminal.output import SENTENCE_CHARACTERS, fail, finding_lines, print_json

EXAMPLES = """
Examples:

judge check ./my-agent

judge check my-brain.py --policy renju-15 --set clock.turn_ms=5000

judge check my.jar --policy gomocup-standard:fast --json

Exit codes: 0 no check failed, 1 a check or the host failed, 2 the command was wrong.
"""

_COLOURS = {Grade.PASS: "green", Grade.WARNING: "yellow", Grade.FAIL: "red"}


def check(
    agent: Annotated[
        str,
        typer.Argument(metavar="AGENT", help="Executable, directory, or house agent.", autocompletion=complete_agent),
    ],
    policy: PolicyOption = "gomocup-freestyle",
    box: BoxOption = "docker",
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Test AGENT in all that a contest will ask of it, and print how to fix what fails."""
    set_level(logging.ERROR)  # log lines would be mixed with the report
    chosen = load_policy(policy, set_ or [])
    kind = box_kind(box)
    with owned_directory() as staging:
        staged = stage_agent(agent, staging)
        make_ready(kind, chosen, [staged.seat(chosen).runtime])
        shown = _Shown(as_json)
        try:
            with slot_alone(kind) as slot, shown:
                seconds = IntakeLimits().check_s
                report = examine(staged, chosen, slot, kind, staging, seconds, shown.progress, shown.trying)
        except OverlongError as error:
            fail(str(error), 1)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        shown.end(report)
    if report.grade is Grade.FAIL:
        raise SystemExit(1)


class _Shown:
    """Prints each finding when it is made, and on a terminal what is being tried."""

    def __init__(self, is_silent: bool) -> None:
        self._console = Console(highlight=False, quiet=is_silent)
        self._status = self._console.status("") if self._console.is_terminal and not is_silent else None
        self._printed: list[Finding] = []

    def __enter__(self) -> None:
        if self._status is not None:
            self._status.start()

    def __exit__(self, *_error: object) -> None:
        if self._status is not None:
            self._status.stop()

    def trying(self, what: str) -> None:
        """Show what is tried next."""
        if self._status is not None:
            self._status.update(_plain(f"trying: {what}"))

    def progress(self, report: CheckReport) -> None:
        """Print the findings that were not printed yet; one that became worse is printed again."""
        if not self._printed:
            self._line(_plain(f"{report.agent}, {report.policy}, {report.protocol}, {report.box}"))
        for finding in report.findings:
            if finding not in self._printed:
                self._printed.append(finding)
                if self._console.is_terminal:
                    self._console.print(_row(finding))
                else:
                    for line in finding_lines([finding]):
                        self._line(_plain(line))

    def end(self, report: CheckReport) -> None:
        """Print what was not tried, and the grade."""
        if report.untried:
            self._line(_plain(f"not tried: {', '.join(report.untried)}"))
        self._line(Text(report.grade.value, style=f"bold {_COLOURS[report.grade]}"))

    def _line(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)


def _row(finding: Finding) -> Table:
    """A finding in columns that have the same widths for all."""
    seen = _plain(finding.evidence)
    if finding.fix:
        seen.append(f"\n{printable(finding.fix, SENTENCE_CHARACTERS)}", style="bold")
    row = Table(box=None, pad_edge=False, show_header=False, expand=True)
    row.add_column(width=7)
    row.add_column(ratio=2)
    row.add_column(ratio=3)
    tried = _plain(f"{finding.check}: {finding.tried}")
    row.add_row(Text(finding.grade.value, style=_COLOURS[finding.grade]), tried, seen)
    return row


def _plain(text: str) -> Text:
    """Text in which markup has no effect."""
    return Text(printable(text, SENTENCE_CHARACTERS))
