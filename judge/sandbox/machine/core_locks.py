"""Locks between the judges of a host: a game only runs on locked cores.

A core's lock is a flock on /sys/devices/system/cpu/cpuN. Every user can open that directory and none can replace it.
For judges in containers, JUDGE_LOCKS names a shared directory with an entry cpuN per core.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from textwrap import shorten
from threading import Event, Lock, Thread

from judge.base.errors import InputError
from judge.base.locks import lock, try_lock
from judge.base.text import decode
from judge.sandbox.machine.cores import available, core_of, on_all_processors
from judge.sandbox.machine.procfs import program_name, started_ticks, status_field

VARIABLE = "JUDGE_LOCKS"
KERNELS = Path("/sys/devices/system/cpu")

Tell = Callable[[str], None]

COMMAND = 60

ANCESTORS = 5


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

    def wait(self) -> None:
        self.waited = True
        for path in self._paths:
            lock(self._open(path), shared=self._shared)

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
    won: list[CoreLocks] = []
    deciding, is_decided = Lock(), Event()

    def wait(locks: CoreLocks) -> None:
        locks.wait()
        with deciding:
            if won:
                locks.__exit__()
            else:
                won.append(locks)
                is_decided.set()

    for locks in of:
        Thread(target=wait, args=(locks,), daemon=True).start()
    is_decided.wait()
    return won[0]


def is_free(core: Collection[int], tell: Tell) -> bool:
    """Whether no judge holds a core."""
    locks = CoreLocks(core, tell)
    is_so = locks.take_if_free()
    locks.__exit__()
    return is_so


def holders(cores: Collection[int]) -> Mapping[int, str]:
    """Current holders, without locking. Raises InputError if JUDGE_LOCKS lacks a core."""
    found = {}
    for path in _paths(cores, lambda _: None):
        if next(_holders(path), None) is not None:
            found[int(path.name.removeprefix("cpu"))] = holder_of(path)
    return found


def holders_here() -> Mapping[int, str]:
    """Holder of each core of this host ("" if free). Empty if locks are hidden."""
    with on_all_processors():
        own = sorted({core_of(each) for each in available()})
    try:
        found = holders(own)
    except InputError:
        return {}
    return {core: found.get(core, "") for core in own}


def _paths(cores: Collection[int], tell: Tell) -> list[Path]:
    chosen = os.environ.get(VARIABLE)
    directory = Path(chosen) if chosen else KERNELS
    paths = [directory / f"cpu{core}" for core in sorted(cores)]
    for path in paths:
        if path.is_symlink() or not path.exists():
            if chosen:
                raise InputError(
                    f"{VARIABLE}: {path} is not there, or a link; make a file of that name, or unset {VARIABLE}"
                )
            tell(
                f"WARNING: {directory} is hidden, so judges on this host do not know of each other: run one at a time, "
                f"or let {VARIABLE} name a directory with a file cpuN for each core that all of them see"
            )
            return []
    return paths


def waits(pid: int) -> bool:
    """Whether a process waits for any file lock."""
    return any(words[1] == "->" and words[5] == str(pid) for words in _kernels_locks())


def is_waited_for(pid: int) -> bool:
    """Whether another process waits for any file lock of this process."""
    # Waiting processes follow the lock, under its number.
    lines = list(_kernels_locks())
    held = {words[0] for words in lines if words[1] == "FLOCK" and words[4] == str(pid)}
    return any(words[0] in held and words[1] == "->" for words in lines)


def holder_of(path: Path) -> str:
    """Describe the holder of a core's lock, as far as visible."""
    for pid in _holders(path):
        command = next(filter(None, map(_judge_command, _lineage(pid))), "")
        judges = [each for each in _lineage(pid) if command and _judge_command(each) == command]
        process = judges[-1] if judges else pid  # the others are its forks
        words = shorten(command or program_name(process) or "another program", COMMAND, placeholder=" ...")
        started = _started(process)
        since = f", running since {started:%Y-%m-%d %H:%M}" if started else ""
        return f"{words} (process {process}{since})"
    return "another process"


def _holders(path: Path) -> Iterator[int]:
    found = path.stat()
    device = found.st_dev
    file = f"{os.major(device):02x}:{os.minor(device):02x}:{found.st_ino}"
    for _, kind, *words in _kernels_locks():
        if kind == "FLOCK" and words[3] == file and int(words[2]) > 0:
            yield int(words[2])


def _kernels_locks() -> Iterator[list[str]]:
    """`4: FLOCK ADVISORY WRITE 708 00:16:3591 0 EOF`, and `4: -> FLOCK ...`."""
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return
    yield from map(str.split, lines)


def _lineage(pid: int) -> Iterator[int]:
    for _ in range(ANCESTORS):
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
