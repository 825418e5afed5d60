"""Prepare this host for games: clean up, build images, and take a slot of cores."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial

from judge.base.errors import InputError
from judge.play.venue import Slot, Venue
from judge.record.policy import Policy
from judge.sandbox.box import BoxKind
from judge.sandbox.docker import images, requirements
from judge.sandbox.docker.reaper import alone_on, reap
from judge.sandbox.machine.cores import CoreLocks, CorePlacement, Tell, place_slots, split_cores, take_one, whole_cores

KEEPER = "keeper"


def clean_up(tell: Tell, *, containers: bool = True) -> None:
    """Remove the leftovers of killed judges on this host. Raises HostError if that fails or no Engine answers."""
    for line in reap(containers=containers):
        tell(f"removed what an earlier judge left: {line}")


def make_ready(
    kind: BoxKind, policy: Policy, runtimes: Sequence[str], tell: Tell, *, turn_ms: int | None = None
) -> None:
    """Clean up, check that the Engine meets the policy, and build missing images. Raises HostError, InputError.

    `turn_ms`: shortest turn of a contest (0: no limit), whose clocks must be exact.
    """
    clean_up(tell, containers=kind == "docker")
    if kind == "docker":
        if differences := requirements.notice_without_root(policy.game_box):
            _tell_once(tell, differences)
        requirements.require(policy.box)
        if turn_ms is not None:
            requirements.require_exact_clocks(policy.game_box, turn_ms)
        build_missing_images({*runtimes, KEEPER} if policy.folders.kept else {*runtimes}, tell)
        for runtime in set(runtimes):
            images.find_runtime(runtime)
        if policy.folders.kept:
            images.keeper_image()


@cache
def _tell_once(tell: Tell, text: str) -> None:
    tell(text)


def build_missing_images(names: Iterable[str], tell: Tell) -> None:
    """Build the judge's missing or outdated images; ignores other names. Raises HostError."""
    from judge.host.build_images import build_images

    if missing := images.missing_images(names):
        tell(f"building the images {', '.join(missing)}, once; this may take some minutes")
        build_images(missing, tell)


def place_on_host(policy: Policy | None = None) -> CorePlacement:
    """Slots for games under the policy. Moves this process to the judge's core. Raises InputError."""
    cores = whole_cores()
    each = 1 if policy is None else policy.slot_cores
    if policy is not None and each > len(cores):
        raise InputError(
            f"policy {policy.name}: {policy.slot_reason}: a game needs {each} cores, and this process may use "
            f"{len(cores)}: change the policy with --set, or use another host"
        )
    placement = place_slots(cores, max(1, (len(cores) - 1) // each), each)
    os.sched_setaffinity(0, placement.judge)
    return placement


def make_venue(kind: BoxKind, policy: Policy, tell: Tell) -> Venue:
    """A venue whose slot holds its core locks until its first game is over; each further game waits again."""
    if kind == "process":
        return Venue()
    slot, locks = _take_slot(place_on_host(policy), tell)
    return Venue(slot, turn=partial(alone_on, locks))


@contextmanager
def slot_alone(
    kind: BoxKind, tell: Tell, placement: CorePlacement | None = None, policy: Policy | None = None
) -> Iterator[Slot]:
    """Hold a slot in which no other judge of this host plays.

    `placement` is by default `place_on_host(policy)`. Waits for a free slot, and reports the process that holds it.
    Raises HostError if a killed judge's leftovers cannot be removed.
    """
    if kind == "process":
        yield Slot()
        return
    slot, locks = _take_slot(placement or place_on_host(policy), tell)
    with alone_on(locks):
        yield slot


@contextmanager
def pair_alone(tell: Tell) -> Iterator[tuple[Slot, Slot | None]]:
    """Like `slot_alone`: a slot of one core, and one of two."""
    cores = whole_cores()
    pairs = place_slots(cores, max(1, (len(cores) - 1) // 2), 2) if len(cores) > 1 else None
    placement = pairs or place_on_host()
    os.sched_setaffinity(0, placement.judge)
    with slot_alone("docker", tell, placement) as slot:
        if pairs is None:
            yield slot, None
        else:
            yield replace(slot, cores=split_cores(slot.cores)[1]), slot


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


def report_occupied(slots: Sequence[Slot], tell: Tell) -> None:
    """Report which processes hold these slots' cores, and cores for which this is unknown."""
    once = cache(tell)
    for cores in {slot.cores for slot in slots}:
        locks = CoreLocks(cores, once)
        if not locks.take_if_free():
            locks.report_holders()
        locks.__exit__()
