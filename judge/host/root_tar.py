"""Tar files of root file systems: the only layer of an image, and one form for equal files."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from judge.base.durable_files import sha256_of
from judge.base.errors import HostError

EPOCH_S = 1700000000
"""Time of an image's files (images/rootfs.sh)."""

CHUNK_BYTES = 1 << 20

_CAPABILITY = "SCHILY.xattr.security.capability"


def write_canonical(source: Path, target: Path) -> str:
    """Write the entries of `source` sorted, as root's, with one time. Returns the SHA-256 (hex) of `target`.

    Equal files give equal bytes. The first name of a file with several is the file, the others are links. /dev is
    empty: the Engine fills it. Raises HostError for an entry that no image has, such as a FIFO.
    """
    with tarfile.open(source) as archive, tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as output:
        entries = {_path(member.name): member for member in archive}
        members = {path: member for path, member in entries.items() if path.partition("/")[0] != "dev"}
        first: dict[str, str] = {}
        for path in sorted(members, key=_sort_key):
            first.setdefault(_file_of(members, path), path)
        for path in sorted({".", "dev", *members}, key=_sort_key):
            member = members.get(path)
            output_path = path if path == "." else f"./{path}"
            if member is None:
                output.addfile(_entry(output_path, tarfile.DIRTYPE, 0o755))
            elif member.isreg() or member.islnk():
                _add_file(archive, output, members, first, path)
            elif member.isdir() or member.issym():
                entry = _entry(output_path, member.type, member.mode if member.isdir() else 0o777)
                entry.linkname = member.linkname
                output.addfile(entry)
            else:
                raise HostError(f"{source}: {path} is neither a file, a directory nor a link")
    return sha256_of(target)


def _add_file(
    archive: tarfile.TarFile,
    output: tarfile.TarFile,
    members: dict[str, tarfile.TarInfo],
    first: dict[str, str],
    path: str,
) -> None:
    named = _file_of(members, path)
    file = members[named]
    entry = _entry(f"./{path}", tarfile.REGTYPE, file.mode)
    if first[named] != path:
        entry.type, entry.linkname = tarfile.LNKTYPE, f"./{first[named]}"
        output.addfile(entry)
        return
    entry.size = file.size
    if _CAPABILITY in file.pax_headers:
        entry.pax_headers = {_CAPABILITY: file.pax_headers[_CAPABILITY]}
    output.addfile(entry, archive.extractfile(file))


def _file_of(members: dict[str, tarfile.TarInfo], path: str) -> str:
    """Path of the entry with the content."""
    for _ in range(len(members)):
        member = members.get(path)
        if member is None:
            raise HostError(f"a link in the root file system names {path}, which is missing")
        if not member.islnk():
            return path
        path = _path(member.linkname)
    raise HostError(f"links in the root file system name each other: {path}")


def _path(name: str) -> str:
    return name.removeprefix("./").strip("/") or "."


def _sort_key(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape") if path != "." else b""


def _entry(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.mtime = kind, mode, EPOCH_S
    return entry


def copy_layer(chunks: Iterator[bytes], target: IO[bytes]) -> str:
    """Copy the only layer of a `docker save` archive. Returns its SHA-256 (hex). Raises HostError."""
    found = ""
    with tarfile.open(fileobj=reader(chunks), mode="r|") as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            if not isinstance(content, io.BufferedReader):
                continue
            # Since Engine 25, layers are among blobs; others are JSON.
            is_blob = member.name.startswith("blobs/sha256/")
            if not member.name.endswith("/layer.tar") and not (is_blob and content.peek(1)[:1] != b"{"):
                continue
            if found:
                raise HostError("the image has more than one layer, and no image of ours has")
            total = hashlib.sha256()
            while chunk := content.read(CHUNK_BYTES):
                target.write(chunk)
                total.update(chunk)
            found = total.hexdigest()
    if not found:
        raise HostError("this Engine exports no layer of the image")
    return found


def reader(chunks: Iterator[bytes]) -> IO[bytes]:
    """A file of an answer of the Engine, in constant memory."""
    return io.BufferedReader(_Chunks(chunks), CHUNK_BYTES)  # type: ignore[type-var]


class _Chunks(io.RawIOBase):
    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size
