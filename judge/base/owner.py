"""Marks containers (label) and directories (file `owner`) with their judge, so that a later one can remove them."""

import os
import select
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from judge.base.errors import HostError
from judge.base.procfs import environment_of, process_ids, started_ticks

DIRECTORY_PREFIX = "judge-owned-"
"""Of marked directories."""

MARK = "JUDGE_BOX"
"""Environment variable: the box of a process without a container."""

_END_S = 1.0
"""For killed processes."""


class Fate(Enum):
    """`UNKNOWN` on another host, boot or PID namespace."""

    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Owner:
    """A later process with the same PID is a different owner."""

    uid: int
    pid: int
    started_ticks: int
    world: str

    @classmethod
    def me(cls) -> "Owner":
        pid = os.getpid()
        return cls(os.geteuid(), pid, started_ticks(pid) or 0, _world())

    def encode(self) -> str:
        return f"{self.uid}:{self.pid}:{self.started_ticks}:{self.world}"

    @classmethod
    def decode(cls, mark: str) -> "Owner":
        """Raises ValueError."""
        uid, pid, started, world = mark.strip().split(":", 3)
        return cls(int(uid), int(pid), int(started), world)

    def fate(self) -> Fate:
        """`UNKNOWN` for another user's process, because /proc may hide it."""
        if self.world != _world() or os.geteuid() not in (0, self.uid):
            return Fate.UNKNOWN
        try:
            return Fate.ALIVE if started_ticks(self.pid) == self.started_ticks else Fate.GONE
        except OSError:
            return Fate.UNKNOWN


def mark_of(directory: Path) -> Path:
    """Path of a directory's mark."""
    return directory / "owner"


def make_directory(place: Path | None = None) -> Path:
    """Create a marked directory (mode 0700) for files of a box, or copies of a command.

    `place` is by default the temporary directory. Raises OSError.
    """
    directory = Path(tempfile.mkdtemp(prefix=DIRECTORY_PREFIX, dir=place))
    try:
        mark_of(directory).write_text(Owner.me().encode(), encoding="ascii")
    except OSError:
        remove_directory(directory)
        raise
    return directory


@contextmanager
def owned_directory() -> Iterator[Path]:
    """If the judge is killed, the next one removes it. Raises HostError if the disk is full."""
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
    """Even if an agent changed modes in it. Never raises."""
    for path, names, _ in os.walk(directory):
        for inner in (Path(path, name) for name in names):
            with suppress(OSError):
                if not inner.is_symlink():
                    inner.chmod(0o700)  # before the walk enters it
    shutil.rmtree(directory, ignore_errors=True)


def directories(place: Path | None = None) -> Iterator[tuple[Path, Owner | None]]:
    """This user's marked directories in `place` (default: the temporary directory) with their owners, None without a
    mark.

    Skips links and other users' entries: any user can create such a name.
    """
    for directory in Path(place or tempfile.gettempdir()).glob(DIRECTORY_PREFIX + "*"):
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
    """Kill a directory's processes in any session or group. Never raises.

    Those that do not end within `_END_S` of the signal, as in a frozen cgroup, are left to the kernel.
    """
    mark = f"{MARK}={directory}\0".encode()
    while _kill_round(mark):
        pass  # A killed process may have started another.


def _kill_round(mark: bytes) -> bool:
    """Whether processes were killed, all of which have ended."""
    with ExitStack() as stack:
        killed = []
        for pid in process_ids():
            with suppress(OSError):
                if mark not in environment_of(pid):
                    continue
                pidfd = os.pidfd_open(pid)
                stack.callback(os.close, pidfd)
                if mark in environment_of(pid):  # the PID may be reused
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                    killed.append(pidfd)
        until = time.monotonic() + _END_S
        return bool(killed) and all(_ends(pidfd, until - time.monotonic()) for pidfd in killed)


def _ends(pidfd: int, seconds: float) -> bool:
    end = select.poll()
    end.register(pidfd, select.POLLIN)
    return bool(end.poll(max(0.0, 1000 * seconds)))


def _world() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
