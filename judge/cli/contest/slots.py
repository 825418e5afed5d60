"""The slots of this machine: whole cores for the games, and one that stays for the judge and the Engine."""

from collections.abc import Sequence
from functools import cache

from judge.cli.match import tell_person
from judge.errors import InputError
from judge.referee.play import Slot
from judge.sandbox.core_locks import CoreLocks, is_free
from judge.sandbox.cores import place, whole_cores


def slots_here(cores: int, workers: int = 0, sharing: int = 1) -> list[Slot]:
    """`workers` slots of `cores` cores each, of which `sharing` may be the same; 0: as many as there is room for.

    Cores on which no other judge of this host plays now come first. InputError for more than that.
    """
    there = whole_cores()
    most = max(1, (len(there) - 1) // cores) * sharing
    if workers > most:
        raise InputError(
            f"{workers} games at once: {len(there)} cores are room for {most} games of {cores} each, "
            "for one core stays for the judge and the Engine"
        )
    taken = [core for core in there[1:] if not is_free(core, lambda _: None)]
    placement = place(there, workers or most, cores, sharing, taken)
    return [Slot(cores=own, judge_cores=placement.judge) for own in placement.slots]


def say_who_has(slots: Sequence[Slot]) -> None:
    """Say for whom the first games of slots wait, and where nobody can know that."""
    tell = cache(tell_person)
    for cores in {slot.cores for slot in slots}:
        locks = CoreLocks(cores, tell)
        if not locks.take_if_free():
            locks.say_who_has_them()
        locks.__exit__()
