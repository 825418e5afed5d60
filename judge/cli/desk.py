"""From a contest's file to the desk where it takes submissions, for the commands that stand behind it."""

import getpass
from importlib import import_module
from pathlib import Path
from typing import Annotated, cast

import typer

from judge.contest.plan import PLAN_FILE, load_plan
from judge.submissions.desk import ORGANISER, Desk, Processor

ContestFile = Annotated[
    Path, typer.Option("--contest", metavar="C", help=f"The contest's {PLAN_FILE}, or its folder.")
]
HERE = Path(PLAN_FILE)


def open_desk(contest: Path) -> Desk:
    """The desk of the contest in a file; InputError as `load_plan`."""
    planned = load_plan(contest)
    return Desk(
        planned.name,
        planned.policy,
        planned.folder.resolve(),
        planned.store_url,
        planned.plan.intake,
    )


def processor() -> Processor:
    """What makes an agent of an upload."""
    return cast(Processor, import_module("judge.submissions.process").process)


def by_hand() -> str:
    """Who decides at this terminal, for the journal."""
    try:
        return f"{ORGANISER} ({getpass.getuser()})"
    except (KeyError, OSError):
        return ORGANISER
