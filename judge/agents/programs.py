"""Tells programs from other files by their first bytes, not by their names."""

import re
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

from judge.agents.pe_format import is_dll, is_windows_program

_ELF = b"\x7fELF"
_NOT_RUN = (b"\x01\x00", b"\x00\x01", b"\x04\x00", b"\x00\x04")
"""What the header of an ELF file says of object files and core dumps, in either order of bytes."""

LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""How a pointer of Git LFS begins."""
MAX_LFS_POINTER_BYTES = 1024

_MAX_READ_BYTES = 1 << 20
_MAX_FIRST_LINE_BYTES = 4096
"""Size of a first line (`#!…`) of which the words are read; the kernel takes 255 bytes."""
_VERSION = re.compile(r"python([23])")
_OPTION = re.compile(r"-[A-RT-Za-z]+")  # -S is of env, and nothing that a program needs
_ONLY_2 = re.compile(rb"(?m)^[ \t]*(?:print[ \t]+(?:[\"']|>>|[\w.]+\()|except[ \t]+[\w.]+[ \t]*,[ \t]*\w+[ \t]*:)")
"""`print "x"`, `print str(x)`, `except Error, error:`: statements that Python 3 does not have."""


class ProgramKind(IntEnum):
    """The kinds of programs; of several in one archive the smallest plays."""

    NATIVE = 1
    JAR = 2
    WINDOWS = 3
    PYTHON = 4
    """Last: beside a program in another language it is most often a tool, or the source of that program."""


def kind_of(path: Path) -> ProgramKind | None:
    """The kind of program that a file is; None for a source, a library, data, or a file that is not there."""
    try:
        with path.open("rb") as stream:
            head = stream.read(128)
    except OSError:
        return None
    if head[:4] == _ELF:
        is_library = path.suffix == ".so" or ".so." in path.name
        return None if is_library or head[16:18] in _NOT_RUN else ProgramKind.NATIVE
    if is_windows_program(path):
        return None if is_dll(path) else ProgramKind.WINDOWS
    if path.suffix == ".jar" and head[:4] == b"PK\x03\x04":
        return ProgramKind.JAR
    if path.suffix == ".py" or b"python" in first_line(head):
        return ProgramKind.PYTHON
    return None


def is_lfs_pointer(path: Path) -> bool:
    """Whether a file is a pointer of Git LFS to a file that is elsewhere."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(LFS_POINTER)) == LFS_POINTER
    except OSError:
        return False


def first_line(head: bytes) -> bytes:
    """The line that names an interpreter (`#!…`), of the first bytes of a file; empty if there is none."""
    return head.split(b"\n")[0] if head[:2] == b"#!" else b""


def python_words(path: Path) -> tuple[str, ...]:
    """`python2` or `python3`, whichever a program is for, and the options of its first line.

    The first line decides where it names a version; where it does not, statements that only Python 2 has.
    """
    with path.open("rb") as stream:
        text = stream.read(_MAX_READ_BYTES)
    words = first_line(text)[:_MAX_FIRST_LINE_BYTES].decode("utf-8", "replace").split()
    named = _VERSION.search(" ".join(words))
    is_2 = named[1] == "2" if named else _ONLY_2.search(text) is not None
    options = [word for word in words[1:] if _OPTION.fullmatch(word)]
    return ("python2" if is_2 else "python3", *options)


def playable(paths: Sequence[Path]) -> list[Path]:
    """Of some files the programs, all of one kind, in order of name; one for Linux goes before one for Windows."""
    kinds = {path: kind for path in sorted(paths) if (kind := kind_of(path)) is not None}
    best = min(kinds.values(), default=None)
    return [path for path, kind in kinds.items() if kind is best]
