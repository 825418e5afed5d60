"""A folder's state as an archive: equal contents give equal bytes. A folder after a game is hostile until parsed.

Directories and regular files are stored: names (any bytes) and contents. Modes, owners, times, extended attributes and
holes are not. Files are restored with mode 0600, directories with 0700, owned by the agent. Other entries, and those
nested too deeply, are left out with a note. Contents too large for the folder (holes count as bytes) are refused as a
whole.
"""

import hashlib
import io
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from judge.base.text import quote

PAGE_BYTES = 4096

MAX_DEPTH = 32

MAX_PATH = 1024

MAX_NAME = 255

END = bytes(1024)

ANY_BYTES = "surrogateescape"


class UnkeptError(Exception):
    """The text is the reason, shown after `not kept: `."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """Bytes in whole pages, and number of files and directories."""

    size_bytes: int
    inodes: int

    @property
    def stream_bytes(self) -> int:
        return self.size_bytes + self.inodes * (512 + 512 + 512 + MAX_PATH + 512) + 20 * 512


@dataclass(frozen=True, slots=True)
class Archive:
    """Canonical tar file, its SHA-256 (hex), and the size of the contents."""

    data: bytes
    digest: str
    size_bytes: int
    inodes: int

    def fits(self, room: Capacity) -> bool:
        return self.size_bytes <= room.size_bytes and self.inodes <= room.inodes


def pack_folder(entries: Mapping[bytes, bytes | None]) -> Archive:
    """Files with their contents, directories with None."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8", errors=ANY_BYTES) as tar:
        for path, content in sorted(entries.items()):
            member = tarfile.TarInfo(path.decode("utf-8", ANY_BYTES))
            if content is None:
                member.type, member.mode = tarfile.DIRTYPE, 0o700
                tar.addfile(member)
            else:
                member.size, member.mode = len(content), 0o600
                tar.addfile(member, io.BytesIO(content))
    data = buffer.getvalue()
    pages = sum(-(-len(content) // PAGE_BYTES) for content in entries.values() if content)
    return Archive(data, hashlib.sha256(data).hexdigest(), pages * PAGE_BYTES, len(entries))


def parse_folder(data: bytes, room: Capacity) -> tuple[Archive, tuple[str, ...]]:
    """Parse a hostile tar file. Return the stored part and notes on the rest. Raises `UnkeptError`."""
    if len(data) > room.stream_bytes:
        raise UnkeptError(_too_large(room))
    if not data.endswith(END):
        raise UnkeptError("the archive of the folder is cut short")
    leftovers = _Leftovers()
    entries: dict[bytes, bytes | None] = {}
    try:
        for path, content in _members(data, leftovers):
            _add(entries, path, content, leftovers)
            if len(entries) > room.inodes:
                raise UnkeptError(_too_large(room))
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as error:
        raise UnkeptError(f"the archive of the folder is broken: {error}") from None
    archive = pack_folder(entries)
    if not archive.fits(room):
        raise UnkeptError(_too_large(room))
    return archive, leftovers.notes()


def measure_folder(data: bytes) -> Archive:
    """Measure the contents of a stored archive. Raises `UnkeptError` if it is not one."""
    archive, notes = parse_folder(data, Capacity(len(data) + PAGE_BYTES * len(data), len(data)))
    if notes:
        raise UnkeptError(notes[0])
    return replace(archive, data=data, digest=hashlib.sha256(data).hexdigest())


def _members(data: bytes, leftovers: "_Leftovers") -> Iterator[tuple[bytes, bytes | None]]:
    """A stream, so that no header can cause seeking."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r|", encoding="utf-8", errors=ANY_BYTES) as tar:
        for member in tar:
            path = _relative(member.name.encode("utf-8", ANY_BYTES))
            if path == b"":
                continue  # the folder itself
            if path is None:
                leftovers.add("names that lead out of the folder", member.name)
            elif path.count(b"/") >= MAX_DEPTH or len(path) > MAX_PATH:
                leftovers.add(f"entries nested deeper than {MAX_DEPTH} names", member.name)
            elif member.isdir():
                yield path, None
            elif member.issparse():  # a few bytes would become any number
                leftovers.add("links and special files", member.name)
            elif member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and member.size >= 0:
                file = tar.extractfile(member)
                yield path, file.read() if file else b""
            elif member.islnk():
                leftovers.add("second names of files (hard links)", member.name)
            else:
                leftovers.add("links and special files", member.name)


def _relative(name: bytes) -> bytes | None:
    parts = [part for part in name.split(b"/") if part != b"."]
    if parts == [] or parts == [b""]:
        return b"" if not name.startswith(b"/") else None
    if any(part in (b"", b"..") or len(part) > MAX_NAME or b"\0" in part for part in parts):
        return None
    return b"/".join(parts)


def _add(entries: dict[bytes, bytes | None], path: bytes, content: bytes | None, leftovers: "_Leftovers") -> None:
    names = path.split(b"/")
    for depth in range(1, len(names)):
        if entries.setdefault(b"/".join(names[:depth]), None) is not None:
            leftovers.add("files in files", path.decode("utf-8", ANY_BYTES))
            return
    entries.setdefault(path, content)


def _too_large(room: Capacity) -> str:
    return f"it would not fit again into {room.size_bytes} bytes and {room.inodes} files and directories"


class _Leftovers:
    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._first: dict[str, str] = {}

    def add(self, reason: str, name: str) -> None:
        self._counts[reason] = self._counts.get(reason, 0) + 1
        self._first.setdefault(reason, quote(name, 80))

    def notes(self) -> tuple[str, ...]:
        return tuple(
            f"not kept: {count} {reason}, the first {self._first[reason]}" for reason, count in self._counts.items()
        )


EMPTY = pack_folder({})
