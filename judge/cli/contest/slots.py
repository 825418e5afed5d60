"""The slots of this machine: whole cores for the games, and one that stays for the judge and the Engine."""

from judge.errors import InputError
from judge.referee.play import Slot
from judge.sandbox.cores import available, place


def slots_here(cores: int, workers: int = 0) -> list[Slot]:
    """`workers` slots of `cores` processors each; 0: as many as there is room for. InputError for more than that."""
    there = available()
    most = max(1, (len(there) - 1) // cores)
    if workers > most:
        raise InputError(
            f"{workers} games at once: {len(there)} processors are room for {most} games of {cores} each, "
            "for one processor stays for the judge and the Engine"
        )
    placement = place(there, workers or most, cores)
    return [Slot(cores=own, judge_cores=placement.judge) for own in placement.slots]
