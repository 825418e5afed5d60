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
from judge.submissions.check import CheckReport, Grade, OverlongError, examine
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
        try:
            with slot_alone(kind) as slot:
                report = examine(staged, chosen, slot, kind, staging, IntakeLimits().check_s)
        except OverlongError as error:
            fail(str(error), 1)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _show(report)
    if report.grade is Grade.FAIL:
        raise SystemExit(1)


def _show(report: CheckReport) -> None:
    """A table on a terminal, otherwise lines."""
    console = Console(highlight=False)
    console.print(_plain(f"{report.agent}, {report.policy}, {report.protocol}, {report.box}"))
    if console.is_terminal:
        console.print(_table(report))
    else:
        for line in finding_lines(report.findings):
            print(line)
    if report.untried:
        console.print(_plain(f"not tried: {', '.join(report.untried)}"), soft_wrap=True)
    console.print(Text(report.grade.value, style=f"bold {_COLOURS[report.grade]}"))


def _table(report: CheckReport) -> Table:
    table = Table("", "check", "result and fix", box=None, pad_edge=False)
    for finding in report.findings:
        colour = _COLOURS[finding.grade]
        seen = _plain(finding.evidence)
        if finding.fix:
            seen.append(f"\n{printable(finding.fix, SENTENCE_CHARACTERS)}", style="bold")
        tried = _plain(f"{finding.check}: {finding.tried}")
        table.add_row(Text(finding.grade.value, style=colour), tried, seen)
    return table


def _plain(text: str) -> Text:
    """Text in which markup has no effect."""
    return Text(printable(text, SENTENCE_CHARACTERS))
