"""Rules for file names in uploads. A box has only the standard library and `judge.base.text`."""

import unicodedata
from dataclasses import dataclass, field

from judge.base.text import is_printable, quote, sentence

DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{kind}{number}" for kind in ("com", "lpt") for number in "0123456789¹²³"]
)
"""Reserved on Windows, with any ending."""

RENAME = sentence("rename it, or leave it out")
LESS = sentence("leave out what the agent does not need")
SHOWN_CHARACTERS = 80


class RefusedError(Exception):
    """The text names the member and the reason."""


def shown(name: str) -> str:
    """An untrusted name, quoted."""
    text = quote(name, SHOWN_CHARACTERS)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 4]}...'"


@dataclass(frozen=True)
class Bounds:
    """See `judge.submissions.intake.TreeLimits`."""

    total_bytes: int
    file_bytes: int
    entries: int
    depth: int
    name_bytes: int
    path_bytes: int


@dataclass
class PathChecker:
    """Checks that paths are distinct on every system. Raises RefusedError."""

    bounds: Bounds
    total_bytes: int = 0
    _met: dict[str, "_Met"] = field(default_factory=dict)
    """By name in the least distinguishing file system."""

    def directory(self, raw: str) -> str:
        """The path; empty for the top."""
        path = self._path(raw)
        if path:
            self._enter(path, is_directory=True)
        return path

    def file(self, raw: str, size: int) -> str:
        path = self._path(raw)
        if not path:
            raise RefusedError(sentence(f"{shown(raw)} is not a file name"))
        if not 0 <= size <= self.bounds.file_bytes:
            raise RefusedError(sentence(f"{shown(raw)} has {size} bytes; a file may have {self.bounds.file_bytes}"))
        self.grow(raw, size)
        self._enter(path, is_directory=False)
        return path

    def grow(self, raw: str, size: int) -> None:
        self.total_bytes += size
        if self.total_bytes > self.bounds.total_bytes:
            raise RefusedError(
                sentence(f"with {shown(raw)} it becomes more than {self.bounds.total_bytes} bytes: {LESS}")
            )

    def _path(self, raw: str) -> str:
        refuse_encoding(raw)
        if raw.startswith("/"):
            raise RefusedError(sentence(f"{shown(raw)} is an absolute path; pack paths that are relative"))
        parts = [part for part in raw.removesuffix("/").split("/") if part != "."]
        for part in parts:
            self._refuse_part(part, raw)
        path = "/".join(parts)
        if len(parts) > self.bounds.depth:
            raise RefusedError(
                sentence(f"{shown(raw)} is deeper than {self.bounds.depth} names: move it up, or leave it out")
            )
        if len(path.encode()) > self.bounds.path_bytes:
            raise RefusedError(
                sentence(
                    f"{shown(raw)} is longer than {self.bounds.path_bytes} bytes: shorten its name, or leave it out"
                )
            )
        return path

    def _refuse_part(self, part: str, raw: str) -> None:
        name, why = shown(raw), ""
        if part == "..":
            why = sentence(f"{name} leads out of the archive: pack paths that are relative to the agent's directory")
        elif "\\" in part:
            why = sentence(
                f"{name} has a backslash; use / between folder names: pack it again with the Explorer (Compress to "
                "ZIP file), tar -a, 7-Zip or PowerShell 7"
            )
        elif ":" in part:
            why = sentence(f"{name} has a colon, as a drive has: {RENAME}")
        elif part == "":
            why = sentence(f"{name} has an empty name in it: {RENAME}")
        elif not is_printable(part):
            why = sentence(f"{name} has characters that cannot be printed: {RENAME}")
        elif part != part.strip(" ").rstrip("."):
            why = sentence(f"{name} begins or ends with a space, or ends with a dot: {RENAME}")
        elif part.split(".")[0].rstrip(" ").lower() in DEVICES:
            why = sentence(f"{name} is a device name of Windows: {RENAME}")
        elif len(part.encode()) > self.bounds.name_bytes:
            why = sentence(f"{name} has a name of more than {self.bounds.name_bytes} bytes: {RENAME}")
        if why:
            raise RefusedError(why)

    def _enter(self, path: str, *, is_directory: bool) -> None:
        names = path.split("/")
        for depth in range(1, len(names)):
            self._meet(_Met("/".join(names[:depth]), is_directory=True, is_named=False))
        self._meet(_Met(path, is_directory))

    def _meet(self, new: "_Met") -> None:
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", new.path).casefold())
        old = self._met.setdefault(folded, new)
        if len(self._met) > self.bounds.entries:
            raise RefusedError(sentence(f"it holds more than {self.bounds.entries} files and directories: {LESS}"))
        if old.path != new.path:
            raise RefusedError(
                sentence(
                    f"{shown(new.path)} and {shown(old.path)} are one name on a file system without case: rename one"
                )
            )
        if old.is_directory != new.is_directory:
            raise RefusedError(sentence(f"{shown(new.path)} is both a file and a directory"))
        if old is not new and old.is_named and new.is_named:
            raise RefusedError(sentence(f"{shown(new.path)} is in it twice"))
        old.is_named = old.is_named or new.is_named


@dataclass
class _Met:
    path: str
    is_directory: bool
    is_named: bool = True


def refuse_encoding(raw: str) -> None:
    """Invalid UTF-8 arrives as lone surrogates."""
    if "\0" in raw:
        raise RefusedError(sentence(f"{shown(raw)} has a NUL in its name"))
    try:
        raw.encode()
    except UnicodeEncodeError:
        raise RefusedError(sentence(f"{shown(raw)} has a name that is not UTF-8")) from None
