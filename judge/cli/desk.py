"""From a contest's file to the desk where it takes submissions, for the commands that stand behind it."""

import getpass
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from judge.cli.match import placement_here, slot_alone, tell_person
from judge.cli.ready import bring_for_strangers
from judge.cli.text import note
from judge.contest.entries import desk_of
from judge.contest.plan import PLAN_FILE, load_plan
from judge.referee.play import Slot
from judge.sandbox.core_locks import CoreLocks, Tell
from judge.sandbox.cores import CorePlacement
from judge.sandbox.reaper import reap
from judge.submissions.pipeline import process
from judge.submissions.service import ORGANISER, IntakeDirectory, Processor

ContestFile = Annotated[Path, typer.Option("--contest", metavar="C", help=f"The contest's {PLAN_FILE}, or its folder.")]
HERE = Path(PLAN_FILE)


def open_desk(contest: Path) -> IntakeDirectory:
    """The desk of the contest in a file; InputError as `load_plan`."""
    return desk_of(load_plan(contest))


def processor(desk: IntakeDirectory, tell: Tell = tell_person) -> Processor:
    """What makes an agent of an upload on this host; what a killed judge left is cleared away first.

    `tell` hears who is waited for; it must be importable by name. Raises HostError where there is no Engine.
    """
    for line in reap(containers=True):
        note(f"judge: removed what an earlier judge left: {line}")
    workplace = UploadHost(placement_here(), tell)
    limits = desk.intake.limits
    return partial(process, workplace=workplace, limits=limits, need=bring_for_strangers)


@dataclass(frozen=True, slots=True)
class UploadHost:
    """This host as a workplace: builds are on the judge's core, examinations in a slot that no game has meanwhile."""

    placement: CorePlacement
    tell: Tell

    @contextmanager
    def aside(self) -> Iterator[tuple[int, ...]]:
        """See `judge.submissions.pipeline.Workplace`."""
        with CoreLocks(self.placement.judge if self.placement.shared else (), self.tell):
            yield self.placement.judge

    def slot(self) -> AbstractContextManager[Slot]:
        """See `judge.submissions.pipeline.Workplace`."""
        return slot_alone("docker", self.placement, self.tell)


def by_hand() -> str:
    """Who decides at this terminal, for the journal."""
    try:
        return f"{ORGANISER} ({getpass.getuser()})"
    except (KeyError, OSError):
        return ORGANISER
