"""From a contest's file to the desk where it takes submissions, for the commands that stand behind it."""

import getpass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from judge.cli.match import make_slot
from judge.cli.ready import bring_for_strangers
from judge.cli.text import note
from judge.contest.entrants import desk_of
from judge.contest.plan import PLAN_FILE, load_plan
from judge.referee.play import Slot
from judge.sandbox.reaper import reap
from judge.submissions.desk import ORGANISER, Desk, Processor
from judge.submissions.process import process

ContestFile = Annotated[
    Path, typer.Option("--contest", metavar="C", help=f"The contest's {PLAN_FILE}, or its folder.")
]
HERE = Path(PLAN_FILE)


def open_desk(contest: Path) -> Desk:
    """The desk of the contest in a file; InputError as `load_plan`."""
    return desk_of(load_plan(contest))


def processor(desk: Desk) -> Processor:
    """What makes an agent of an upload, on cores of its own; what a killed judge left is cleared away first.

    Raises HostError where there is no Engine.
    """
    for line in reap(containers=True):
        note(f"judge: removed what an earlier judge left: {line}")
    # Several at a time have no cores of their own: the Engine's scheduler shares them out.
    slot = make_slot("docker") if desk.intake.workers == 1 else Slot()
    return partial(process, slot=slot, limits=desk.intake.limits, need=bring_for_strangers)


def by_hand() -> str:
    """Who decides at this terminal, for the journal."""
    try:
        return f"{ORGANISER} ({getpass.getuser()})"
    except (KeyError, OSError):
        return ORGANISER
