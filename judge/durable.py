"""A file is on the disk whole or not at all, whatever is killed or loses its power when: write new, fsync, rename."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

PARTIAL = ".partial"
"""How the name of a file ends that is not whole yet."""


def write_durably(path: Path, data: bytes) -> None:
    """Put `data` at `path` in one step, and return when it would survive a loss of power; raises OSError.

    What a full disk took of it goes away again.
    """
    partial = path.with_name(path.name + PARTIAL)
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError:
        with suppress(OSError):
            partial.unlink()
        raise
    sync_directory(path.parent)


def move_durably(source: Path, target: Path) -> None:
    """Move a directory to `target`, from another disk too, in one step, and return when it would survive a loss of
    power; raises OSError. `target` is not there yet."""
    partial = target.with_name(target.name + PARTIAL)
    shutil.rmtree(partial, ignore_errors=True)
    shutil.move(source, partial)
    for path in (partial, *partial.rglob("*")):
        _sync(path)
    partial.rename(target)
    sync_directory(target.parent)


def sync_directory(directory: Path) -> None:
    """Make the names of a directory survive a loss of power; raises OSError."""
    _sync(directory)


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
