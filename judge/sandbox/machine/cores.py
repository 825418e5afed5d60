"""Assigns processors to the judge and to slots, and locks them between the judges of a host.

A game only runs on locked cores. A core's lock is a flock on /sys/devices/system/cpu/cpuN. Every user can open that
directory and none can replace it. For judges in containers, JUDGE_LOCKS names a shared directory with an entry cpuN per
core.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from textwrap import shorten

from judge.base.errors import InputError
from judge.base.locks import CancellableWaits, try_lock
from judge.base.procfs import program_name, started_ticks, status_field
from judge.base.text import decode

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


LOCKS_VARIABLE = "JUDGE_LOCKS"

Tell = Callable[[str], None]

COMMAND_CHARACTERS = 60

MAX_ANCESTORS = 5


class CoreLocks:
    """Locks the whole cores of some processors; can be entered repeatedly.

    Cores are locked in ascending order, which prevents deadlocks. Several judges can have `shared` locks.
    """

    def __init__(self, processors: Collection[int], tell: Tell, *, shared: bool = False) -> None:
        """`tell` is called once per other holder. Raises InputError if JUDGE_LOCKS lacks a core."""
        self.processors = tuple(processors)
        self._paths = _paths({core_of(each) for each in processors}, tell)
        self._shared = shared
        self.tell = tell
        self._told: set[str] = set()
        self._files: list[int] = []
        self.waited = False
        """Whether another judge held a lock at the last locking. If it died, its boxes may still run there."""

    def __enter__(self) -> None:
        if not self.take_if_free():
            self.report_holders()
            self.wait()

    def __exit__(self, *_: object) -> None:
        while self._files:
            os.close(self._files.pop())

    def wait(self, waits: CancellableWaits | None = None) -> bool:
        """False, with no core locked, if `waits` are cancelled first."""
        waits = waits or CancellableWaits()
        self.waited = True
        for path in self._paths:
            if not waits.lock(self._open(path), shared=self._shared):
                self.__exit__()
                return False
        return True

    def take_if_free(self) -> bool:
        if self._files:
            return True
        self.waited = False
        for path in self._paths:
            if not try_lock(self._open(path), shared=self._shared):
                self.__exit__()
                return False
        return True

    def report_holders(self) -> None:
        for path in self._paths:
            text = f"waiting for core {path.name.removeprefix('cpu')}: {holder_of(path)} has it"
            if text not in self._told:
                self._told.add(text)
                self.tell(text)

    def _open(self, path: Path) -> int:
        # Safe for links and pipes in JUDGE_LOCKS.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        self._files.append(file)
        return file


def take_one(of: Sequence[CoreLocks]) -> CoreLocks:
    """One core: free now, else the first to become free."""
    for locks in of:
        if locks.take_if_free():
            return locks
    for locks in of:
        locks.report_holders()
    waits = CancellableWaits()
    winner: CoreLocks | None = None
    pool = ThreadPoolExecutor(len(of))
    try:
        waiting = {pool.submit(locks.wait, waits): locks for locks in of}
        locked = futures.wait(waiting, return_when=futures.FIRST_COMPLETED).done.pop()
        locked.result()
        winner = waiting[locked]
        return winner
    finally:
        # A process that waits for a core, or has one, without need would end practice games and stop other judges.
        waits.cancel()
        pool.shutdown()
        for locks in of:
            if locks is not winner:
                locks.__exit__()


def is_free(core: Collection[int], tell: Tell) -> bool:
    """Whether no judge holds a core."""
    locks = CoreLocks(core, tell)
    is_so = locks.take_if_free()
    locks.__exit__()
    return is_so


def service_cores() -> frozenset[int]:
    """Cores on which `judge.contest.host_setup` placed this process; empty if it may use all."""
    return frozenset(core_of(each) for each in available()) if available() < _GIVEN else frozenset()


def holders_here() -> Mapping[int, str]:
    """Holder of each core of this host ("" if free). Empty if locks are hidden."""
    with on_all_processors():
        cores = sorted({core_of(each) for each in available()})
    try:
        paths = _paths(cores, lambda _: None)
    except InputError:
        return {}
    holders = {int(path.name.removeprefix("cpu")): holder_of(path) for path in paths if any(_holders(path))}
    return {core: holders.get(core, "") for core in cores}


def _directory() -> Path:
    return Path(os.environ.get(LOCKS_VARIABLE) or SIBLINGS)


def _paths(cores: Collection[int], tell: Tell) -> list[Path]:
    chosen, directory = os.environ.get(LOCKS_VARIABLE), _directory()
    paths = [directory / f"cpu{core}" for core in sorted(cores)]
    for path in paths:
        if path.is_symlink() or not path.exists():
            if chosen:
                raise InputError(
                    f"{LOCKS_VARIABLE}: {path} is not there, or a link; make a file of that name, "
                    f"or unset {LOCKS_VARIABLE}"
                )
            tell(
                f"WARNING: {directory} is hidden, so judges on this host do not know of each other: run one at a time, "
                f"or let {LOCKS_VARIABLE} name a directory with a file cpuN for each core that all of them see"
            )
            return []
    return paths


def waits(pid: int) -> bool:
    """Whether a process waits for any file lock."""
    return any(words[1] == "->" and words[5] == str(pid) for words in _kernels_locks())


def is_waited_for(pid: int) -> bool:
    """Whether another process waits for a core of this process."""
    # Waiting processes follow the lock, under its number.
    lines = list(_kernels_locks())
    locks = [words for words in lines if words[1] == "FLOCK" and words[4] == str(pid)]
    cores = {_kernels_name(path) for path in _directory().glob("cpu[0-9]*")} if locks else set()
    lock_numbers = {words[0] for words in locks if words[5] in cores}
    return any(words[0] in lock_numbers and words[1] == "->" for words in lines)


def holder_of(path: Path) -> str:
    """Describe the holder of a core's lock, as far as visible."""
    for pid in _holders(path):
        command = next(filter(None, map(_judge_command, _lineage(pid))), "")
        judges = [each for each in _lineage(pid) if command and _judge_command(each) == command]
        process = judges[-1] if judges else pid  # the others are its forks
        words = shorten(command or program_name(process) or "another program", COMMAND_CHARACTERS, placeholder=" ...")
        started = _started(process)
        since = f", running since {started:%Y-%m-%d %H:%M}" if started else ""
        return f"{words} (process {process}{since})"
    return "another process"


def _holders(path: Path) -> Iterator[int]:
    file = _kernels_name(path)
    for _, kind, *words in _kernels_locks():
        if kind == "FLOCK" and words[3] == file and int(words[2]) > 0:
            yield int(words[2])


def _kernels_name(path: Path) -> str:
    found = path.stat()
    return f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"


def _kernels_locks() -> Iterator[list[str]]:
    """`4: FLOCK ADVISORY WRITE 708 00:16:3591 0 EOF`, and `4: -> FLOCK ...`."""
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return
    yield from map(str.split, lines)


def _lineage(pid: int) -> Iterator[int]:
    for _ in range(MAX_ANCESTORS):
        yield pid
        parent = status_field(pid, "PPid")
        if not parent:
            return
        pid = int(parent)


def _judge_command(pid: int) -> str:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    words = decode(line).rstrip("\0").split("\0")
    for number, word in enumerate(words[:4]):
        if Path(word).name in ("judge", "judge.cli"):
            return " ".join(["judge", *words[number + 1 :]])
    return ""


def _started(pid: int) -> datetime | None:
    ticks = started_ticks(pid)
    boot = Path("/proc/stat").read_text(encoding="ascii").partition("\nbtime ")[2].split()
    if ticks is None or not boot:
        return None
    seconds = int(boot[0]) + ticks / os.sysconf("SC_CLK_TCK")
    return datetime.fromtimestamp(seconds)  # noqa: DTZ006 for a person on this host
