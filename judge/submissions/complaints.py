"""What the log of a failed build says to its author: the first error, and what to do where that is known."""

import re
from pathlib import Path

from judge.submissions.path_checks import shown
from judge.text import printable

PYTHON_2 = (
    "it is Python 2: write it for Python 3, or, where the contest's policy admits the runtime python2, begin it with "
    '#!/usr/bin/python2 or say so in agent.toml: runtime = "python2"'
)
PYTHON_2_ERROR = (
    r"SyntaxError: (?:Missing parentheses in call to '(?:print|exec)'"
    r"|multiple exception types must be parenthesized|leading zeros in decimal)"
)
"""What Python 3 says of a program for Python 2."""

_ERROR = re.compile(r"(?i)(?:\berror(?:\[\w+\])?:|\bundefined reference to\b|^\w*Error: )")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_HEADER = re.compile(r"fatal error: ((?:[\w+-][\w.+-]*/)*[\w+-][\w.+-]*): No such file")
_WINDOWS = ("windows.h", "conio.h", "tchar.h", "stdafx.h", "direct.h", "process.h")
_KNOWN = (
    (r"unmappable character", '[build] flags = ["-encoding", "ISO-8859-1"]'),
    (PYTHON_2_ERROR, PYTHON_2),
    (
        r"error\[E0658\]|edition 2024|let\.\.\.else",
        "the rustc here is older: write it for an older one",
    ),
)
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".rs", ".java", ".py")
_LOOKED_AT = 2000
"""How many files are looked at for the cause."""


def first_error(log: str) -> str:
    """The first line of a log that speaks of an error; empty if none does."""
    lines = (line.strip() for line in log.split("\n"))
    return printable(next((line for line in lines if _ERROR.search(line)), ""), 200)


def advice(log: str, tree: Path) -> str:
    """What to do about it; empty if the cause is not known."""
    if path := _utf16_source(tree):
        return f"{shown(path)} is UTF-16: save it as UTF-8"
    for pattern, fix in _KNOWN:
        if re.search(pattern, log):
            return fix
    if found := _HEADER.search(log):
        return _of_header(found[1], tree)
    return ""


def _of_header(name: str, tree: Path) -> str:
    if name.lower() in _WINDOWS:
        return f"{name} is of Windows: send the .exe, or sources for Linux"
    found = (f"/{path.relative_to(tree).as_posix()}" for path in tree.rglob(Path(name).name))
    for path in sorted(path for path in found if path.endswith(f"/{name}"))[:1]:
        folder = path.removesuffix(f"/{name}").removeprefix("/")
        return f'{shown(name)} is there, but not where it is looked for: [build] flags = ["-I./{folder}"]'
    return f"{shown(name)} is neither here nor in what was sent: send it with the sources"


def _utf16_source(tree: Path) -> str:
    sources = (path for path in tree.rglob("*") if path.suffix.lower() in _SOURCES)
    for _, path in zip(range(_LOOKED_AT), sources, strict=False):
        with path.open("rb") as file:
            if file.read(2) in _UTF16:
                return path.relative_to(tree).as_posix()
    return ""
