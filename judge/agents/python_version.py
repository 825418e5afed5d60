"""Selects the version of Python by a program's first line and statements.

Uses only the standard library, because a box runs this module.
"""

import re
from pathlib import Path

_MAX_READ_BYTES = 1 << 20
_MAX_FIRST_LINE_BYTES = 4096
"""The kernel takes 255 bytes."""
_VERSION = re.compile(r"python([23])")
_OPTION = re.compile(r"-[A-RT-Za-z]+")  # -S is an option of env
_ONLY_2 = re.compile(rb"(?m)^[ \t]*(?:print[ \t]+(?:[\"']|>>|[\w.]+\()|except[ \t]+[\w.]+[ \t]*,[ \t]*\w+[ \t]*:)")
"""`print "x"`, `print str(x)`, `except Error, error:`: statements of Python 2 only."""


def first_line(head: bytes) -> bytes:
    """The interpreter line (`#!…`), or b""."""
    return head.split(b"\n")[0] if head[:2] == b"#!" else b""


def python_words(path: Path) -> tuple[str, ...]:
    """`python2` or `python3` and the first line's options. Without a version, statements of Python 2 only decide."""
    with path.open("rb") as stream:
        text = stream.read(_MAX_READ_BYTES)
    words = first_line(text)[:_MAX_FIRST_LINE_BYTES].decode("utf-8", "replace").split()
    named = _VERSION.search(" ".join(words))
    is_2 = named[1] == "2" if named else _ONLY_2.search(text) is not None
    options = [word for word in words[1:] if _OPTION.fullmatch(word)]
    return ("python2" if is_2 else "python3", *options)
