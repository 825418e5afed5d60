"""Locks on files and directories (flock(2)), which the kernel releases when the file is closed or the process ends.

Nothing is written to the file. Windows has no flock: there, records can only be read.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


def lock(file: int | IO[Any], *, shared: bool = False) -> None:
    """Wait for the lock. Raises OSError."""
    import fcntl

    fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def try_lock(file: int | IO[Any], *, shared: bool = False) -> bool:
    """Whether the file is locked now, without waiting. Raises OSError."""
    import fcntl

    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def try_lock_directory(directory: Path) -> IO[bytes] | None:
    """Lock the file `lock` of a directory, which is created if missing. None if it is locked. Raises OSError."""
    directory.mkdir(parents=True, exist_ok=True)
    file = (directory / "lock").open("wb")
    if try_lock(file):
        return file
    file.close()
    return None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for the lock of a file, which is created if missing. Raises OSError."""
    with path.open("ab") as file:
        lock(file)
        yield
