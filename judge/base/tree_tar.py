"""File trees as plain tar streams: directories and regular files, modes 0755 and 0644, no owners or times.

Of the format's extensions, only long names are accepted. Uses only the standard library, because boxes contain this
module.
"""

import os
import tarfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

EXECUTABLE, PLAIN = 0o755, 0o644

_BLOCK = 512
_CHUNK = 1 << 18
_LONG_NAME = "././@LongLink"
_ANY_BYTES = "surrogateescape"


class TreeError(Exception):
    """A truncated stream, or another member. The text follows the stream's name."""


@dataclass(frozen=True, slots=True)
class TreeMember:
    """The name is untrusted."""

    name: str
    size: int
    mode: int
    is_directory: bool


def write_stream(out: IO[bytes]) -> tarfile.TarFile:
    """The caller closes the file."""
    return tarfile.open(fileobj=out, mode="w|", format=tarfile.GNU_FORMAT, encoding="utf-8", errors=_ANY_BYTES)


def add_member(
    tar: tarfile.TarFile, name: str, content: IO[bytes] | None = None, size: int = 0, *, is_executable: bool = False
) -> None:
    """A directory has no `content`. Raises OSError if `content` is shorter."""
    header = tarfile.TarInfo(name)
    if content is None:
        header.type, header.mode = tarfile.DIRTYPE, EXECUTABLE
    else:
        header.size, header.mode = size, EXECUTABLE if is_executable else PLAIN
    tar.addfile(header, content)


def add_file(tar: tarfile.TarFile, name: str, path: Path) -> None:
    """Executable if its owner may execute it."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        add_member(tar, name, file, status.st_size, is_executable=bool(status.st_mode & 0o100))


def tree_chunks(top: Path, name: str, only: Collection[str] | None = None) -> Iterator[bytes]:
    """Stream of the files below `top`, in chunks; `name` is the directory's name in it.

    Raises OSError, and TreeError if a file shrinks.
    """
    for path in sorted(each for each in top.rglob("*") if each.is_file() and not each.is_symlink()):
        if only is not None and str(path.relative_to(top)) not in only:
            continue
        with path.open("rb") as file:
            header = tarfile.TarInfo(f"{name}/{path.relative_to(top)}")
            header.size, header.mode = os.fstat(file.fileno()).st_size, PLAIN
            yield header.tobuf(tarfile.GNU_FORMAT, "utf-8", _ANY_BYTES)
            for begin in range(0, header.size, _CHUNK):
                yield _exactly(file, min(_CHUNK, header.size - begin))
            yield bytes(_padded(header.size) - header.size)
    yield bytes(2 * _BLOCK)


def unpack_stream(stream: BinaryIO, target: Path, path_of: Callable[[TreeMember], str], name_bytes: int = 4096) -> None:
    """Write a stream below the new directory `target`.

    `path_of` returns a member's relative path or raises an error; it is the only check of names and sizes. Raises
    OSError, and TreeError for an unsupported stream or a name of more than `name_bytes`.
    """
    target.mkdir(mode=0o755)
    target.chmod(0o755)
    try:
        while header := _next_header(stream, name_bytes):
            _write(header, path_of, stream, target)
    except tarfile.TarError:
        raise TreeError("is no plain tar file") from None
    while rest := stream.read(_CHUNK):
        if rest.strip(b"\0"):
            raise TreeError("is no plain tar file")


def _next_header(stream: BinaryIO, name_bytes: int) -> tarfile.TarInfo | None:
    header = _header(stream)
    if header is None or header.type != tarfile.GNUTYPE_LONGNAME:
        return header
    if header.name != _LONG_NAME or not 0 < header.size <= name_bytes + 2:  # a slash of a directory, and a NUL
        raise TreeError("is no plain tar file")
    name = _exactly(stream, _padded(header.size))[: header.size].rstrip(b"\0")
    header = _header(stream)
    if header is None:
        raise TreeError("is no plain tar file")
    header.name = name.decode("utf-8", _ANY_BYTES)
    return header


def _header(stream: BinaryIO) -> tarfile.TarInfo | None:
    block = _exactly(stream, _BLOCK)
    if block == bytes(_BLOCK):
        return None
    return tarfile.TarInfo.frombuf(block, "utf-8", _ANY_BYTES)


def _write(header: tarfile.TarInfo, path_of: Callable[[TreeMember], str], stream: BinaryIO, target: Path) -> None:
    is_directory = header.type == tarfile.DIRTYPE
    if header.type not in (tarfile.DIRTYPE, tarfile.REGTYPE) or (is_directory and header.size):
        raise TreeError("is no plain tar file")
    path = target / path_of(TreeMember(header.name, header.size, header.mode, is_directory))
    if is_directory:
        path.mkdir(mode=0o755, parents=True, exist_ok=True)
        return
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    with path.open("xb") as file:
        left = header.size
        while left:
            data = _exactly(stream, min(left, _CHUNK))
            file.write(data)
            left -= len(data)
    _exactly(stream, _padded(header.size) - header.size)
    path.chmod(EXECUTABLE if header.mode & 0o100 else PLAIN)


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise TreeError("is cut short")
    return data


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK
