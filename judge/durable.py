"""A file is on the disk whole or not at all, whatever is killed or loses its power when: write new, fsync, rename."""

import os
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


def sync_directory(directory: Path) -> None:
    """Make the names of a directory survive a loss of power; raises OSError."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
