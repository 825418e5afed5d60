"""Atomic, durable file writes, which survive kills and power loss, bounded reads, and directories that are complete."""

import errno
import functools
import hashlib
import operator
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO

from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.locks import lock

PARTIAL = ".partial"

# O_NONBLOCK: opening must not block on a device or pipe. Windows has only some of the flags.
_READ: int = functools.reduce(
    operator.or_, (getattr(os, name, 0) for name in ("O_RDONLY", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
)
_NO_LINKS: int = getattr(os, "O_NOFOLLOW", 0)


def write_durably(path: Path, data: bytes) -> None:
    """Write the whole file. Simultaneous writers of a path wait for each other.

    Raises OSError, without leaving a partial file. A killed process leaves one, which the next writer uses.
    """
    partial = path.with_name(path.name + PARTIAL)
    with _open_alone(partial) as file:
        try:
            file.write(data)
            sync_file(file)
            partial.replace(path)
        except OSError:
            with suppress(OSError):
                partial.unlink()
            raise
    sync(path.parent)


def _open_alone(path: Path) -> BinaryIO:
    """Create or empty a file, locked until it is closed. Raises OSError."""
    while True:
        file = path.open("ab")
        try:
            lock(file)
            status = os.fstat(file.fileno())
            if _is_at(path, status):
                if status.st_size:
                    file.truncate(0)
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # another writer has renamed or removed it


def _is_at(path: Path, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), status)
    except FileNotFoundError:
        return False


def create_private(path: Path, data: bytes) -> None:
    """Only its owner can read the file. Raises FileExistsError, and other OSErrors."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        sync_file(file)


def sync_file(file: IO[bytes]) -> None:
    """Flush and sync an open file. Raises OSError."""
    file.flush()
    os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Sync a file's content or a directory's names. Raises OSError."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def is_file(path: Path) -> bool:
    """True also for a link to a regular file; False for an invalid name."""
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises OSError for a name of more than 255 bytes


def is_directory(path: Path) -> bool:
    """As `is_file`, for a directory."""
    return os.path.isdir(path)  # noqa: PTH112 - as in is_file


def is_link(path: Path) -> bool:
    """False for an invalid name."""
    return os.path.islink(path)  # noqa: PTH114 - as in is_file


def is_only_readable(path: Path) -> bool:
    """Whether neither a file nor its directory can be written."""
    return path.is_file() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file, or a link to one, for reading. Raises OSError, also for a named pipe or a device, whose
    readers wait.
    """
    fd = os.open(path, _READ)
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(fd, "rb")
    os.close(fd)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "a special file, which is not read; copy a file in its place", str(path))


def read_bounded(path: Path, most: int, fix: str = "", *, links: bool = False) -> bytes:
    """Read a regular file, or with `links` a link to one.

    Raises InputError if the file is larger than `most`, a link, special (a named pipe would block) or unreadable, with
    the advice `fix`.
    """
    try:
        with os.fdopen(os.open(path, _READ if links else _READ | _NO_LINKS), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{path}: a directory or a special file, which is not read; copy a file in its place")
            data = file.read(min(status.st_size, most) + 1)  # read(most + 1) would allocate that much.
            if len(data) > status.st_size:
                data += file.read(most + 1 - len(data))
    except OSError as error:
        if error.errno == errno.ELOOP and not links:
            raise InputError(f"{path}: a link, which is not followed; copy a file in its place") from None
        if error.errno == errno.EISDIR:
            fix = fix or "name a file"
        raise InputError(f"{path}: {error.strerror}{fix and '; '}{fix}") from None
    if len(data) > most:
        raise InputError(f"{path}: larger than the limit of {most} bytes for this kind of file")
    return data


def read_lines_bounded(path: Path, most: int, most_lines: int, kind: str, fix: str = "") -> bytes:
    """Read a text file or a link to one. Raises InputError as `read_bounded`, with the line of a limit.

    The caller checks `most_lines` in smaller files.
    """
    try:
        return read_bounded(path, most, fix, links=True)
    except InputError:
        if not path.is_file():
            raise
    with os_errors_as(InputError, path), path.open("rb") as file:
        data = file.read(most)
    line = min(data.count(b"\n"), most_lines) + 1
    raise InputError(f"{path}, line {line}: {kind} has at most {most_lines} lines and {most} bytes")


def checked_sha256(digest: str) -> str:
    """A hexadecimal SHA-256, which can be the name of a file. Raises ValueError for another text."""
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise ValueError(f"not a SHA-256: {digest[:80]!r}")
    return digest


def sha256_of(path: Path) -> str:
    """Hexadecimal. Raises OSError."""
    with path.open("rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def new_directories(places: Sequence[Path], what: str, failure: str) -> Iterator[Sequence[Path]]:
    """Yield where to write `places`; these directories are renamed at the end, the first one last, or removed.

    Raises InputError if a place has files, HostError if writing fails. `what` and `failure` are words of the errors.
    """
    for place in places:
        if place.exists() and not (place.is_dir() and not any(place.iterdir())):
            raise InputError(f"{place}: exists; {what} is never overwritten, name another directory")
    partials = [place.absolute().with_name(f".{place.name}.partial") for place in places]
    try:
        for partial in partials:
            shutil.rmtree(partial, ignore_errors=True)
        yield partials
        for partial, place in reversed([*zip(partials, places, strict=True)]):
            partial.replace(place)
    except OSError as error:
        raise HostError(f"{error.filename or places[0]}: {error.strerror}: {failure}") from None
    finally:
        for partial in partials:
            shutil.rmtree(partial, ignore_errors=True)
