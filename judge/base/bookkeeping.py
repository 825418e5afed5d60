"""Files of version control, editors and systems, which are not part of an agent.

Uses only the standard library, because a box runs this module.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

FOLDERS = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", "_darcs", "cvs", ".jj"),
        *("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".ipynb_checkpoints"),
        *(".idea", ".vscode", ".vs", ".gradle", ".settings"),
        *("__macosx", ".appledouble", ".fseventsd", ".spotlight-v100", ".trashes", "$recycle.bin"),
    }
)
"""Lower case. `.git` can also be a file."""
FILES = frozenset(
    {
        *(".gitignore", ".gitattributes", ".gitmodules", ".gitkeep", ".hgignore", ".hgtags", ".mailmap"),
        *(".ds_store", ".localized", "icon\r", "thumbs.db", "ehthumbs.db", "desktop.ini", ".directory"),
    }
)
COMPANION = "._"
"""Such files contain file attributes of macOS."""
_COMPANION_HEADS = (b"\x00\x05\x16\x07", b"\x00\x05\x16\x00")
"""AppleDouble and AppleSingle (RFC 1740)."""
HEAD_BYTES = 4


def is_bookkeeping(path: str) -> bool:
    """Whether a relative path is, or is inside, bookkeeping."""
    parts = [part.lower() for part in path.split("/") if part]
    name = parts[-1] if parts else ""
    is_swap = name.startswith(".") and name.endswith((".swp", ".swo"))
    return not FOLDERS.isdisjoint(parts) or name in FILES or is_swap


def may_be_companion(path: str) -> bool:
    """Whether `is_companion` must decide."""
    return path.rsplit("/", 1)[-1].startswith(COMPANION)


def is_companion(head: bytes) -> bool:
    """`head` is the start of a file that may be a companion."""
    return head.startswith(_COMPANION_HEADS)


def own_paths(top: Path) -> Iterator[Path]:
    """All paths below `top`, without bookkeeping."""
    left = [top]
    while left:
        directory = left.pop()
        with suppress(PermissionError):
            for found in sorted(directory.iterdir()):
                if is_bookkeeping(found.name) or _is_companion_file(found):
                    continue
                yield found
                if found.is_dir() and not found.is_symlink():
                    left.append(found)


def _is_companion_file(path: Path) -> bool:
    if not may_be_companion(path.name) or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return is_companion(os.pread(file.fileno(), HEAD_BYTES, 0))
    except OSError:
        return False
