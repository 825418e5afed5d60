"""A tree of files that came out of a box as a tar stream: read strictly, as if whoever wrote it meant harm.

The names were looked at in the box, by the same rule; but the box may have been taken over by what it read.
"""

import shutil
import tarfile
from pathlib import Path
from typing import BinaryIO

from judge.errors import HostError
from judge.submissions.limits import TreeLimits
from judge.submissions.path_checks import Bounds, Census, RefusedError

BLOCK = 512
CHUNK = 1 << 18
LONG_NAME = "././@LongLink"
NOT_OURS = "what came out of the box is no plain tar file"

LITTER = ("__MACOSX", ".DS_Store")
"""What packers leave in archives at the top, and nobody wants."""


def bounds_of(limits: TreeLimits) -> Bounds:
    """The same numbers for what runs in a box."""
    return Bounds(**limits.model_dump())


def receive(stream: BinaryIO, target: Path, limits: TreeLimits) -> Census:
    """Write the directories and regular files of a tar stream below the new directory `target`.

    Modes become 0755 and 0644, or 0755 where a file is executable. Raises RefusedError for anything that our own
    programs in the box would not have written, and HostError where the disk does not take it.
    """
    census = Census(bounds_of(limits))
    try:
        target.mkdir(mode=0o755)
        target.chmod(0o755)
        while header := _next_header(stream, limits.path_bytes):
            _write(header, census, stream, target)
        while rest := stream.read(CHUNK):
            if rest.strip(b"\0"):
                raise RefusedError(NOT_OURS)
    except tarfile.TarError:
        raise RefusedError(NOT_OURS) from None
    except OSError as error:
        raise HostError(f"{target}: {error.strerror}: make room, or set TMPDIR") from error
    return census


def _next_header(stream: BinaryIO, path_bytes: int) -> tarfile.TarInfo | None:
    """The header of the next member, with its name where that has a block of its own; None at the end."""
    header = _header(stream)
    if header is None or header.type != tarfile.GNUTYPE_LONGNAME:
        return header
    if header.name != LONG_NAME or not 0 < header.size <= path_bytes + 1:
        raise RefusedError(NOT_OURS)
    name = _exactly(stream, _padded(header.size))[: header.size].rstrip(b"\0")
    header = _header(stream)
    if header is None:
        raise RefusedError(NOT_OURS)
    header.name = name.decode("utf-8", "surrogateescape")
    return header


def _header(stream: BinaryIO) -> tarfile.TarInfo | None:
    block = _exactly(stream, BLOCK)
    if block == bytes(BLOCK):
        return None
    return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")  # looks at the checksum


def _write(header: tarfile.TarInfo, census: Census, stream: BinaryIO, target: Path) -> None:
    if header.type == tarfile.DIRTYPE and header.size == 0:
        path = target / census.directory(header.name)
        path.mkdir(mode=0o755, parents=True, exist_ok=True)
    elif header.type == tarfile.REGTYPE:
        path = target / census.file(header.name, header.size)
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        with path.open("xb") as file:
            _copy(stream, file, header.size)
        path.chmod(0o755 if header.mode & 0o100 else 0o644)
    else:
        raise RefusedError(NOT_OURS)


def _copy(stream: BinaryIO, file: BinaryIO, size: int) -> None:
    left = size
    while left:
        data = _exactly(stream, min(left, CHUNK))
        file.write(data)
        left -= len(data)
    _exactly(stream, _padded(size) - size)


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise RefusedError("what came out of the box is cut short")
    return data


def _padded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def root_of(tree: Path) -> Path:
    """Where an agent begins in what was unpacked: inside of a directory that everything is in. Litter is removed."""
    for name in LITTER:
        path = tree / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
    inner = list(tree.iterdir())
    return root_of(inner[0]) if len(inner) == 1 and inner[0].is_dir() else tree
