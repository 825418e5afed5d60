"""Assigns processors to the judge and to slots."""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from judge.base.errors import InputError

SIBLINGS = Path("/sys/devices/system/cpu")

Core = tuple[int, ...]
"""Processor numbers in ascending order; several with hyperthreads."""


@dataclass(frozen=True, slots=True)
class CorePlacement:
    """A slot's cores are exclusive unless `shared`, or given to several games."""

    judge: tuple[int, ...]
    slots: tuple[tuple[int, ...], ...]

    @property
    def shared(self) -> bool:
        """The judge runs on a slot's processor. Measurements and clocks are less precise then."""
        return any(set(self.judge) & set(slot) for slot in self.slots)


def place_slots(
    cores: Iterable[Core], slots: int = 1, cores_per_slot: int = 1, sharing: int = 1, taken: Collection[Core] = ()
) -> CorePlacement:
    """Give the judge the lowest core and the slots the highest ones, the topmost first.

    Cores are assigned whole, those in `taken` last. If no core is left, the judge uses the first hyperthread of the
    lowest core, and shares the core only if it has no other.

    `sharing` is the number of slots on the same cores (`box.sharing`). Raises InputError if there are too few cores.
    """
    each = sorted(cores)
    places = -(-slots // sharing)
    wanted = places * cores_per_slot
    if not 0 < wanted <= len(each):
        shared = f", {sharing} on the same," if sharing > 1 else ""
        raise InputError(
            f"{slots} slots of {cores_per_slot} cores{shared} do not fit on {len(each)} cores: ask for fewer"
        )
    judge, lowest = each[0], each[0]
    if wanted == len(each):
        judge, lowest = lowest[:1], lowest[1:] or lowest
    down = [*sorted(each[:0:-1], key=lambda core: core in taken), lowest]
    given = [tuple(sorted(sum(down[start : start + cores_per_slot], ()))) for start in range(0, wanted, cores_per_slot)]
    return CorePlacement(judge, tuple(given[number % places] for number in range(slots)))


def count_cores(processors: Collection[int]) -> int:
    """Number of whole cores."""
    return len(group_cores(processors, map(_siblings, processors)))


def split_cores(processors: Collection[int]) -> tuple[Core, Core]:
    """Half of the whole cores for each seat. Raises InputError for an odd number of cores."""
    whole = group_cores(processors, map(_siblings, processors))
    if not whole or len(whole) % 2:
        raise InputError(
            f"clock.ponder = true: each seat needs its own cores, and the slot has {len(whole)}: give it an even "
            "number ([slots] cores in contest.toml, --cores of judge worker), or remove clock.ponder"
        )
    half = len(whole) // 2
    return tuple(sorted(sum(whole[:half], ()))), tuple(sorted(sum(whole[half:], ())))


def available() -> frozenset[int]:
    """Processors that this process may use."""
    return frozenset(os.sched_getaffinity(0))


_GIVEN = available() if hasattr(os, "sched_getaffinity") else frozenset()


@contextmanager
def on_all_processors() -> Iterator[None]:
    """This thread may use all processors that the process had at its start."""
    before = available()
    os.sched_setaffinity(0, _GIVEN)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def whole_cores() -> tuple[Core, ...]:
    """Usable cores with their usable hyperthreads."""
    return group_cores(available(), map(_siblings, available()))


def group_cores(available: Collection[int], siblings: Iterable[Collection[int]]) -> tuple[Core, ...]:
    """An unlisted processor is a core alone."""
    cores = {frozenset(core) & frozenset(available) for core in siblings} - {frozenset()}
    known = frozenset[int]().union(*cores)
    alone = {frozenset({processor}) for processor in available if processor not in known}
    return tuple(sorted(tuple(sorted(core)) for core in cores | alone))


def core_of(processor: int) -> int:
    """Lowest processor, which identifies the core."""
    return min(_siblings(processor) | {processor})


def parse_processors(text: str) -> frozenset[int]:
    """Parse a list such as `0-2,8`. Raises ValueError."""
    found: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def _siblings(processor: int) -> frozenset[int]:
    path = SIBLINGS / f"cpu{processor}" / "topology" / "thread_siblings_list"
    try:
        return parse_processors(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return frozenset()
