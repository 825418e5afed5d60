"""`judge check`: what an author runs before entering: a grade for each check, what was seen, and how to fix it."""

import logging
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.agents.agents import stage_agent
from judge.cli.complete import agent_words, policy_words
from judge.cli.match import box_kind, make_ready, slot_alone
from judge.cli.text import fail
from judge.logs import set_level
from judge.referee.policy import load_policy
from judge.sandbox.owner import owned_directory
from judge.submissions.check import CheckReport, Grade, OverlongError, examine
from judge.submissions.limits import IntakeLimits
from judge.text import printable

EXAMPLES = """
Examples:

judge check ./my-agent

judge check my-brain.py --policy renju-15 --set clock.turn_ms=5000

judge check my.jar --policy gomocup-standard:fast --json

Exit codes: 0 all passed, warnings or not; 1 a check failed, or the host did; 2 something in the command was wrong.
"""

_COLOURS = {Grade.PASS: "green", Grade.WARNING: "yellow", Grade.FAIL: "red"}
_CHARACTERS = 600
"""How much of a sentence is shown; an agent may have written part of it."""


def check(
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help="Executable, directory, or house agent.", autocompletion=agent_words)
    ],
    policy: Annotated[
        str,
        typer.Option(
            help="The contest's format: a name or a .toml file; judge policies list.", autocompletion=policy_words
        ),
    ] = "gomocup-freestyle",
    box: Annotated[str, typer.Option(help="docker, or process (isolates nothing).")] = "docker",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Change a number of the policy: clock.turn_ms=1000.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Try everything with AGENT that a contest will do with it, and say how to fix what fails."""
    set_level(logging.ERROR)  # a line of the log would come between this command's own
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
        print(report.model_dump_json(indent=2))
    else:
        _show(report)
    if report.grade is Grade.FAIL:
        raise SystemExit(1)


def _show(report: CheckReport) -> None:
    """A table on a terminal, lines elsewhere."""
    console = Console(highlight=False)
    console.print(_plain(f"{report.agent}, {report.policy}, {report.protocol}, {report.box}"))
    if console.is_terminal:
        console.print(_table(report))
    else:
        for line in _lines(report):
            print(line)
    if report.untried:
        console.print(_plain(f"not tried: {', '.join(report.untried)}"), soft_wrap=True)
    console.print(Text(report.grade.value, style=f"bold {_COLOURS[report.grade]}"))


def _table(report: CheckReport) -> Table:
    table = Table("", "check", "what was seen, and what to do", box=None, pad_edge=False)
    for finding in report.findings:
        colour = _COLOURS[finding.grade]
        seen = _plain(finding.evidence)
        if finding.fix:
            seen.append(f"\n{printable(finding.fix, _CHARACTERS)}", style="bold")
        tried = _plain(f"{finding.check}: {finding.tried}")
        table.add_row(Text(finding.grade.value, style=colour), tried, seen)
    return table


def _lines(report: CheckReport) -> list[str]:
    lines = []
    for finding in report.findings:
        seen = printable(finding.evidence, _CHARACTERS)
        lines.append(f"{finding.grade.value:<7} {finding.check}: {finding.tried}: {seen}")
        if finding.fix:
            lines.append(f"        fix: {printable(finding.fix, _CHARACTERS)}")
    return lines


def _plain(text: str) -> Text:
    """Text without markup, whoever wrote it."""
    return Text(printable(text, _CHARACTERS))
