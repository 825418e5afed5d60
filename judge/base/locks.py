"""Locks on files and directories, which the kernel takes back from a process that ends, however it ends.

A lock belongs to an open file (flock(2)): it is released when the file is closed. Nothing is written to the file, and a
directory can be locked too. A process that waits sleeps in the kernel, and /proc/locks shows it.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


def lock(file: int | IO[Any], *, shared: bool = False) -> None:
    """Lock an open file, waiting as long as another open file has the lock; raises OSError.

    `shared`: several may have it at once if each of them asks for a shared lock.
    """
    fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def try_lock(file: int | IO[Any], *, shared: bool = False) -> bool:
    """Lock an open file if nobody else has the lock; returns whether it is locked now. Raises OSError."""
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def try_lock_directory(directory: Path) -> IO[bytes] | None:
    """Make a directory if it is missing and lock its file `lock`: the open file, or None if somebody else has the lock.

    Closing the file releases the lock. Raises OSError.
    """
    directory.mkdir(parents=True, exist_ok=True)
    file = (directory / "lock").open("wb")
    if try_lock(file):
        return file
    file.close()
    return None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of the file at `path`, which is made if it does not exist; waits for the lock. Raises OSError."""
    with path.open("ab") as file:
        lock(file)
        yield
