"""Which processors belong to the judge and which to each slot."""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from judge.base.errors import InputError

SIBLINGS = Path("/sys/devices/system/cpu")
"""Where the kernel says which processors are hyperthreads of one core."""

Core = tuple[int, ...]
"""A whole core by the numbers of its processors, lowest first: several where it has hyperthreads."""


@dataclass(frozen=True, slots=True)
class CorePlacement:
    """Who runs where. A slot's cores belong to nobody else, unless `shared` or given to several games on purpose."""

    judge: tuple[int, ...]
    slots: tuple[tuple[int, ...], ...]

    @property
    def shared(self) -> bool:
        """Whether the judge runs on a processor of a slot: figures and clocks are coarser then."""
        return any(set(self.judge) & set(slot) for slot in self.slots)


def place_slots(
    cores: Iterable[Core], slots: int = 1, cores_per_slot: int = 1, sharing: int = 1, taken: Collection[Core] = ()
) -> CorePlacement:
    """Give the judge the lowest core and the slots the highest ones, the first slot the topmost.

    Those that others have `taken` come last.

    A core is given whole, with all of its hyperthreads: what runs on one slows the others. Where no core is left for
    the judge, it takes the first hyperthread of the lowest, and shares the core only where that has no other.

    `sharing` slots have the same cores, for policies that say so (`box.sharing`). Raises InputError for more slots than
    cores.
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


def available() -> frozenset[int]:
    """The processors that this process may use."""
    return frozenset(os.sched_getaffinity(0))


_GIVEN = available()


@contextmanager
def on_all_processors() -> Iterator[None]:
    """Let this thread use all processors that this process had at its start; it may have moved to a few of them."""
    before = available()
    os.sched_setaffinity(0, _GIVEN)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def whole_cores() -> tuple[Core, ...]:
    """The cores that this process may use, each with those of its hyperthreads that it may use."""
    return group_cores(available(), map(_siblings, available()))


def group_cores(available: Collection[int], siblings: Iterable[Collection[int]]) -> tuple[Core, ...]:
    """Processors by cores; `siblings` names those that are one core, one that it does not name is a core alone."""
    cores = {frozenset(core) & frozenset(available) for core in siblings} - {frozenset()}
    known = frozenset[int]().union(*cores)
    alone = {frozenset({processor}) for processor in available if processor not in known}
    return tuple(sorted(tuple(sorted(core)) for core in cores | alone))


def core_of(processor: int) -> int:
    """The lowest processor of the core that a processor belongs to: one name of it, whichever of them one may use."""
    return min(_siblings(processor) | {processor})


def parse_processors(text: str) -> frozenset[int]:
    """The numbers of a list such as `0-2,8`; raises ValueError for anything else."""
    found: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def _siblings(processor: int) -> frozenset[int]:
    """The hyperthreads of a processor's core, itself among them; nothing where the kernel does not say."""
    path = SIBLINGS / f"cpu{processor}" / "topology" / "thread_siblings_list"
    try:
        return parse_processors(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return frozenset()
