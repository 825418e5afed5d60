"""Prepare this host for games: clean up, build images, and take a slot of cores."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial

from judge.base.errors import InputError
from judge.base.text import printable
from judge.host.build_images import build_images
from judge.referee.play import Slot, Venue
from judge.referee.policy import Policy
from judge.sandbox.box import BoxKind
from judge.sandbox.docker import images, requirements
from judge.sandbox.docker.reaper import alone_on, reap
from judge.sandbox.machine.core_locks import CoreLocks, Tell, take_one
from judge.sandbox.machine.cores import CorePlacement, place_slots, whole_cores
from judge.terminal.output import note

KEEPER = "keeper"


def box_kind(text: str) -> BoxKind:
    """Parse the value of `--box`. Raises InputError if it is unknown."""
    if text == "docker":
        return "docker"
    if text == "process":
        note(
            "judge: WARNING: --box process isolates nothing. The agents run as you, with your files, your network "
            "and no memory limit. Use it only for programs that you trust."
        )
        return "process"
    raise InputError(f"--box {text}: use docker or process")


def clean_up(*, containers: bool = True) -> None:
    """Remove the leftovers of killed judges on this host. Raises HostError if that fails or no Engine answers."""
    for line in reap(containers=containers):
        note(f"judge: removed what an earlier judge left: {line}")


def make_ready(kind: BoxKind, policy: Policy, runtimes: Sequence[str]) -> None:
    """Clean up, check that the Engine meets the policy, and build missing images. Raises HostError, InputError."""
    clean_up(containers=kind == "docker")
    if kind == "docker":
        requirements.require(policy.box)
        build_missing_images({*runtimes, KEEPER} if policy.folders.kept else {*runtimes})
        for runtime in set(runtimes):
            images.runtime_image(runtime)
        if policy.folders.kept:
            images.keeper_image()


def build_missing_images(names: Iterable[str]) -> None:
    """Build missing or outdated images of the judge; other names are ignored. Raises HostError."""
    for name in images.missing_images(names):
        note(f"judge: building the image {name}, once; this may take some minutes")
        build_images([name], note)


def build_missing_image(name: str) -> None:
    """Build the image of a submission's runtime, which its policy allows. Raises HostError."""
    build_missing_images([name])


def print_notice(text: str) -> None:
    """Print a notice about the process that this judge waits for."""
    note(f"judge: {printable(text, 400)}")


def place_on_host() -> CorePlacement:
    """Return one slot for each core except the judge's, and move this process to the judge's core."""
    cores = whole_cores()
    placement = place_slots(cores, max(1, len(cores) - 1))
    os.sched_setaffinity(0, placement.judge)
    return placement


def make_venue(kind: BoxKind) -> Venue:
    """Return a venue whose slot holds its core locks until its first game is over; each further game waits again."""
    if kind == "process":
        return Venue()
    slot, locks = _take_slot(place_on_host(), print_notice)
    return Venue(slot, turn=partial(alone_on, locks))


@contextmanager
def slot_alone(kind: BoxKind, placement: CorePlacement | None = None, tell: Tell | None = None) -> Iterator[Slot]:
    """Hold a slot in which no other judge of this host plays. Process boxes have no reserved cores.

    Waits for a free slot, and passes the process that holds it to the callback. Raises HostError if the leftovers of a
    killed judge cannot be removed.
    """
    if kind == "process":
        yield Slot()
        return
    slot, locks = _take_slot(placement or place_on_host(), tell or print_notice)
    with alone_on(locks):
        yield slot


@contextmanager
def free_slot(placement: CorePlacement, tell: Tell) -> Iterator[Slot | None]:
    """Like `slot_alone`, but yields None if no slot is free now."""
    for cores in placement.slots:
        locks = CoreLocks(cores, tell)
        if locks.take_if_free():
            with alone_on(locks):
                yield Slot(cores, placement.judge)
            return
    yield None


def _take_slot(placement: CorePlacement, tell: Tell) -> tuple[Slot, CoreLocks]:
    once = cache(tell)
    locks = take_one([CoreLocks(cores, once) for cores in placement.slots])
    return Slot(locks.processors, placement.judge), locks


def report_occupied(slots: Sequence[Slot]) -> None:
    """Print which processes hold the cores of these slots, and for which cores this is unknown."""
    tell = cache(print_notice)
    for cores in {slot.cores for slot in slots}:
        locks = CoreLocks(cores, tell)
        if not locks.take_if_free():
            locks.report_holders()
        locks.__exit__()
