"""The state of a folder is one archive: same contents, same bytes. A folder after a game is hostile until parsed.

Kept are directories and regular files, by their names (any bytes) and contents. Modes, owners, times, extended
attributes and holes are not: a file comes back as 0600, a directory as 0700, both the agent's own. What is neither
directory nor regular file, a second name of a file, and what is nested too deep are left out, with a note. Contents
that would not fit into the folder again (holes count as bytes) are refused as a whole.
"""

import hashlib
import io
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from judge.base.text import quote

PAGE = 4096
"""What a tmpfs gives out; a file takes whole ones."""

MAX_DEPTH = 32
"""Names in a path; the deepest are left out."""

MAX_PATH = 1024
"""Bytes in a path."""

MAX_NAME = 255
"""Bytes in a name."""

END = bytes(1024)
"""What a whole archive ends with."""

ANY_BYTES = "surrogateescape"
"""How names that are no UTF-8 go through `tarfile` and come out as they were."""

_MALFORMED = (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError)
"""What `tarfile` raises for bytes that are not an archive."""


class UnkeptError(Exception):
    """What an agent left cannot be kept; the text says why, after `not kept: `."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much a folder takes: bytes in whole pages, and files and directories in it."""

    size_bytes: int
    inodes: int

    @property
    def stream_bytes(self) -> int:
        """The most that a full folder's archive can be, names of ordinary length included."""
        return self.size_bytes + self.inodes * (512 + 512 + 512 + MAX_PATH + 512) + 20 * 512


@dataclass(frozen=True, slots=True)
class Archive:
    """A state: the bytes of a canonical tar file, their SHA-256 (hex), and the room that its contents take."""

    data: bytes
    digest: str
    size_bytes: int
    inodes: int

    def fits(self, room: Capacity) -> bool:
        """Whether a folder of that room holds it."""
        return self.size_bytes <= room.size_bytes and self.inodes <= room.inodes


def pack_folder(entries: Mapping[bytes, bytes | None]) -> Archive:
    """The archive of these relative paths: files with their contents, directories with None."""
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
    pages = sum(-(-len(content) // PAGE) for content in entries.values() if content)
    return Archive(data, hashlib.sha256(data).hexdigest(), pages * PAGE, len(entries))


def parse_folder(data: bytes, room: Capacity) -> tuple[Archive, tuple[str, ...]]:
    """What is kept of a hostile tar file, and notes on what is not; raises `UnkeptError`."""
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
    except _MALFORMED as error:
        raise UnkeptError(f"the archive of the folder is broken: {error}") from None
    archive = pack_folder(entries)
    if not archive.fits(room):
        raise UnkeptError(_too_large(room))
    return archive, leftovers.notes()


def measure_folder(data: bytes) -> Archive:
    """A stored archive as it is, with the room that it takes; raises `UnkeptError` for one that holds anything else."""
    archive, notes = parse_folder(data, Capacity(len(data) + PAGE * len(data), len(data)))
    if notes:
        raise UnkeptError(notes[0])
    return replace(archive, data=data, digest=hashlib.sha256(data).hexdigest())


def _members(data: bytes, leftovers: "_Leftovers") -> Iterator[tuple[bytes, bytes | None]]:
    """The directories and regular files of a tar file. As a stream, so that no header can send us back in it."""
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
            elif member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and member.size >= 0:
                file = tar.extractfile(member)
                yield path, file.read() if file else b""
            elif member.islnk():
                leftovers.add("second names of files (hard links)", member.name)
            else:
                leftovers.add("links and special files", member.name)


def _relative(name: bytes) -> bytes | None:
    """A path inside the folder without its dots; empty for the folder itself, None if it leads out."""
    parts = [part for part in name.split(b"/") if part != b"."]
    if parts == [] or parts == [b""]:
        return b"" if not name.startswith(b"/") else None
    if any(part in (b"", b"..") or len(part) > MAX_NAME or b"\0" in part for part in parts):
        return None
    return b"/".join(parts)


def _add(entries: dict[bytes, bytes | None], path: bytes, content: bytes | None, leftovers: "_Leftovers") -> None:
    """Take an entry in, with the directories above it; the first of a name counts."""
    names = path.split(b"/")
    for depth in range(1, len(names)):
        if entries.setdefault(b"/".join(names[:depth]), None) is not None:
            leftovers.add("files in files", path.decode("utf-8", ANY_BYTES))
            return
    entries.setdefault(path, content)


def _too_large(room: Capacity) -> str:
    return f"it would not fit again into {room.size_bytes} bytes and {room.inodes} files and directories"


class _Leftovers:
    """Counts what is not kept, by reason, with the first name of each."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._first: dict[str, str] = {}

    def add(self, reason: str, name: str) -> None:
        self._counts[reason] = self._counts.get(reason, 0) + 1
        self._first.setdefault(reason, quote(name, 80))

    def notes(self) -> tuple[str, ...]:
        """One line a reason; names are escaped."""
        return tuple(
            f"not kept: {count} {reason}, the first {self._first[reason]}" for reason, count in self._counts.items()
        )


EMPTY = pack_folder({})
"""The state of an empty folder, with which every agent begins."""
