"""The slots of this host."""

from judge.base.errors import InputError
from judge.play.venue import Slot
from judge.sandbox.machine.cores import is_free, place_slots, whole_cores


def slots_on_host(cores: int, count: int = 0, sharing: int = 1, *, ponders: bool = False) -> list[Slot]:
    """`count` slots of `cores` cores, up to `sharing` on the same cores; count 0: as many as fit.

    Raises InputError if the slots do not fit, or if one needs the judge's
    core although agents ponder.
    """
    available = whole_cores()
    if ponders and cores >= len(available):
        # Pondering on the judge's core would delay reading the opponent's answer.
        raise InputError(
            f"clock.ponder = true: a game needs {cores} cores and the judge one, and this process may use "
            f"{len(available)}: play on a host with more cores, or remove clock.ponder"
        )
    most = max(1, (len(available) - 1) // cores) * sharing
    if count > most:
        raise InputError(
            f"{count} games at the same time do not fit: {len(available)} cores allow {most} games of {cores} each, "
            "because one core is for the judge and the Engine"
        )
    taken = [core for core in available[1:] if not is_free(core, lambda _: None)]
    placement = place_slots(available, count or most, cores, sharing, taken)
    return [Slot(cores=agent_cores, judge_cores=placement.judge) for agent_cores in placement.slots]
