"""What a box has outside this process is marked with its owner, so that a later judge knows what may be removed.

Containers have the mark as a label; on disk each box has one directory, with the mark in its file `owner`.
"""

import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from judge.base.errors import HostError
from judge.sandbox.machine.procfs import environment_of, process_ids, started_ticks

PREFIX = "judge-box-"
MARK = "JUDGE_BOX"
"""The environment variable that names a process's box, where there is no container around it."""


class Fate(Enum):
    """Whether an owner still runs; `UNKNOWN` if it is of another host, boot or pid namespace."""

    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Owner:
    """One process of a judge; a later process with the same number is another owner."""

    uid: int
    pid: int
    started_ticks: int
    """When it started, in clock ticks since boot."""
    world: str
    """The boot and the pid namespace in which `pid` means something."""

    @classmethod
    def me(cls) -> "Owner":
        """This process as an owner."""
        pid = os.getpid()
        return cls(os.geteuid(), pid, started_ticks(pid) or 0, _world())

    def encode(self) -> str:
        """The mark, for a label or a file."""
        return f"{self.uid}:{self.pid}:{self.started_ticks}:{self.world}"

    @classmethod
    def decode(cls, mark: str) -> "Owner":
        """The owner of a mark; raises ValueError for anything else."""
        uid, pid, started, world = mark.strip().split(":", 3)
        return cls(int(uid), int(pid), int(started), world)

    def fate(self) -> Fate:
        """Whether the process still runs; another user's is unknown, for /proc may hide it."""
        if self.world != _world() or os.geteuid() not in (0, self.uid):
            return Fate.UNKNOWN
        return Fate.ALIVE if started_ticks(self.pid) == self.started_ticks else Fate.GONE


def mark_of(directory: Path) -> Path:
    """The file with the mark of a box's directory."""
    return directory / "owner"


def make_directory() -> Path:
    """A new directory of this process, mode 0700, for what a box needs on disk."""
    directory = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        mark_of(directory).write_text(Owner.me().encode(), encoding="ascii")
    except OSError:
        remove_directory(directory)
        raise
    return directory


@contextmanager
def owned_directory() -> Iterator[Path]:
    """A directory as `make_directory` makes it, removed afterwards; if the judge is killed, the next one removes it.

    Raises HostError if there is no room for it.
    """
    try:
        directory = make_directory()
    except OSError as error:
        where = tempfile.gettempdir()
        raise HostError(f"{where}: {error.strerror}: make room there, or set TMPDIR") from error
    try:
        yield directory
    finally:
        remove_directory(directory)


def remove_directory(directory: Path) -> None:
    """Remove a box's directory, also if an agent has changed the modes in it; never raises."""
    for path, names, _ in os.walk(directory):
        for inner in (Path(path, name) for name in names):
            with suppress(OSError):
                if not inner.is_symlink():
                    inner.chmod(0o700)  # before the walk goes on into it
    shutil.rmtree(directory, ignore_errors=True)


def directories() -> Iterator[tuple[Path, Owner | None]]:
    """This user's directories of boxes, with their owners where there is a mark.

    What is another user's or a link is passed over: anybody may make such a name in a temporary directory.
    """
    for directory in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        try:
            found = directory.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                continue
            yield directory, Owner.decode(mark_of(directory).read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            yield directory, None
        except OSError:
            continue


def kill_marked(directory: Path) -> None:
    """Kill every process that was started for a box's directory, in any session or group; never raises."""
    mark = f"{MARK}={directory}\0".encode()
    while _kill_round(mark):
        pass  # until a round finds none: a killed process may have started another


def _kill_round(mark: bytes) -> int:
    """Kill the processes that have the mark now; returns how many there were."""
    killed = 0
    for pid in process_ids():
        with suppress(OSError):
            if mark not in environment_of(pid):
                continue
            pidfd = os.pidfd_open(pid)
            try:
                if mark in environment_of(pid):  # nor has another process got the number meanwhile
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                    killed += 1
            finally:
                os.close(pidfd)
    return killed


def _world() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
