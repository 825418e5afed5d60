"""Files are on the disk whole or not at all, also after a kill or a loss of power: write new, fsync, rename.

Files from outside are read within bounds: `read_bounded`. Names from outside may be unfit: `is_file`.
"""

import ctypes
import errno
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

from judge.base.errors import InputError

PARTIAL = ".partial"
"""How the name of a file ends that is not whole yet."""

_LIBC = ctypes.CDLL(None, use_errno=True)
_AT_CWD, _EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE of renameat2(2), which Python has no name for."""


def write_durably(path: Path, data: bytes) -> None:
    """Put `data` at `path` in one step, and return when it would survive a loss of power; raises OSError.

    What a full disk took of it goes away again.
    """
    partial = path.with_name(path.name + PARTIAL)
    try:
        with partial.open("wb") as file:
            file.write(data)
            sync_file(file)
        partial.replace(path)
    except OSError:
        with suppress(OSError):
            partial.unlink()
        raise
    sync(path.parent)


def create_private(path: Path, data: bytes) -> None:
    """Write a new file that only its owner may read, from the first byte on, and return when it is on the disk.

    Raises FileExistsError if the file exists, and other OSErrors.
    """
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        sync_file(file)


def move_durably(source: Path, target: Path) -> None:
    """Move a directory to `target`, from another disk too, in one step, and return when it would survive a loss of
    power; raises OSError. `target` is not there yet."""
    partial = target.with_name(target.name + PARTIAL)
    shutil.rmtree(partial, ignore_errors=True)
    shutil.move(source, partial)
    for path in (partial, *partial.rglob("*")):
        sync(path)
    partial.rename(target)
    sync(target.parent)


def exchange_durably(source: Path, target: Path) -> None:
    """Put the directory `source` in place of the one at `target`, which is removed, in one step; raises OSError.

    After a kill the one or the other is at `target`, whole.
    """
    partial = target.with_name(target.name + PARTIAL)
    shutil.rmtree(partial, ignore_errors=True)
    shutil.move(source, partial)
    for path in (partial, *partial.rglob("*")):
        sync(path)
    if _LIBC.renameat2(_AT_CWD, os.fsencode(partial), _AT_CWD, os.fsencode(target), _EXCHANGE):
        number = ctypes.get_errno()
        shutil.rmtree(partial, ignore_errors=True)
        raise OSError(number, os.strerror(number))
    sync(target.parent)
    shutil.rmtree(partial)


def sync_file(file: IO[bytes]) -> None:
    """Make what was written to an open file survive a loss of power; raises OSError."""
    file.flush()
    os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Make the content of a file, or the names in a directory, survive a loss of power; raises OSError."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def is_file(path: Path) -> bool:
    """Whether `path` is a regular file, or a link to one; False also for a name that no file system allows."""
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises OSError for a name of more than 255 bytes


def is_directory(path: Path) -> bool:
    """Whether `path` is a directory, or a link to one; False also for a name that no file system allows."""
    return os.path.isdir(path)  # noqa: PTH112 - as in is_file


def is_link(path: Path) -> bool:
    """Whether `path` is a symbolic link; False also for a name that no file system allows."""
    return os.path.islink(path)  # noqa: PTH114 - as in is_file


def read_bounded(path: Path, most: int, fix: str = "", *, links: bool = False) -> bytes:
    """The content of a regular file of at most `most` bytes; `links`: one that a link leads to will do.

    Raises InputError if it is larger, a link, a special file (which is not opened for reading: a named pipe would wait
    for ever), or cannot be read; `fix` says what to do then.
    """
    try:
        # A device or a pipe is not waited for.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{path}: a directory or a special file, which is not read; copy a file in its place")
            data = file.read(min(status.st_size, most) + 1)  # read(most + 1) would allocate all of that
            if len(data) > status.st_size:
                data += file.read(most + 1 - len(data))
    except OSError as error:
        if error.errno == errno.ELOOP and not links:
            raise InputError(f"{path}: a link, which is not followed; copy a file in its place") from None
        raise InputError(f"{path}: {error.strerror}{fix and '; '}{fix}") from None
    if len(data) > most:
        raise InputError(f"{path}: it has more than {most} bytes, and no file of this kind has")
    return data
