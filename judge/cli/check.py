"""`judge check`: test an agent before a contest; print grade, evidence and fix of each check."""

from __future__ import annotations

import logging
import shlex
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.resources import DEFAULT_POLICY
from judge.cli.options import BoxOption, ClockOption, JsonOption, PolicyOption, SetOption, box_kind, complete_agent
from judge.terminal.output import fail, print_json, print_notice

if TYPE_CHECKING:
    from judge.submissions.check import CheckReport

EXAMPLES = """
judge check ./my-agent
judge check my-brain.py --policy renju-15 --set clock.turn_ms=5000
judge check ./my-agent --keep conversations
judge check my.jar --policy gomocup-standard:fast --json

Exit codes: 0 no check failed, 1 a check or the host failed, 2 the command was wrong.
"""


def check(
    agent: Annotated[
        str,
        typer.Argument(metavar="AGENT", help="Executable, directory, or house agent.", autocompletion=complete_agent),
    ],
    policy: PolicyOption = DEFAULT_POLICY,
    box: BoxOption = "docker",
    set_: SetOption = None,
    clock: ClockOption = "",
    as_json: JsonOption = False,
    keep: Annotated[
        Path | None, typer.Option(help="Directory for the conversations and the records of the games.")
    ] = None,
) -> None:
    """Check that AGENT meets all requirements of a contest, and print how to fix each failure."""
    from judge.api.checks import check as checked
    from judge.base.logs import set_level
    from judge.submissions.check import Grade, OverlongError
    from judge.terminal.check_display import CheckDisplay

    set_level(logging.ERROR)
    shown = CheckDisplay(as_json)
    try:
        with closing(shown):
            report = checked(
                agent,
                policy=policy,
                changes=set_ or [],
                clock=clock,
                box=box_kind(box),
                keep=keep,
                progress=shown.progress,
                trying=shown.trying,
                notify=print_notice,
            )
    except OverlongError as error:
        fail(str(error), 1)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        terms = ["--policy", policy, *(word for change in set_ or [] for word in ("--set", change))]
        terms += ["--clock", clock] if clock else []
        shown.end(report, _next_step(report, agent, keep, shlex.join(terms)))
    if report.grade is Grade.FAIL:
        raise SystemExit(1)


def _next_step(report: CheckReport, agent: str, keep: Path | None, terms: str) -> str:
    from judge.submissions.check import Grade

    failures = [finding.check for finding in report.findings if finding.grade is Grade.FAIL]
    if failures:
        again = f"judge check {shlex.quote(agent)} {terms}"
        logs = f"the conversations are in {keep}" if keep else "--keep DIR also writes the conversations"
        return f"fix {failures[0]} first, then run {again}; {logs}"
    game = f"judge match {shlex.quote(agent)} {report.partner} {terms}"
    return f"play a game ({game}), or submit it (judge submit --help)"
