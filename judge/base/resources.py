"""Where the judge's own files are: policies, image sources, and what it compiles.

`data` beside this module has `images` and `policies`: in a checkout as links to the directories at its top, in a wheel
as directories. What is compiled is kept outside the package: a checkout has it in its `.build`, an installed judge in
its user's cache.
"""

import os
from pathlib import Path

import judge

CODE = Path(__file__).resolve().parents[1]
"""The package itself."""

_DATA = CODE / "data"

IMAGES = (_DATA / "images").resolve()
"""The sources of images, house agents, starters and attacks."""

POLICIES = (_DATA / "policies").resolve()
"""The policies that come with the judge, and the sources of the seccomp profiles."""


def code_parts() -> list[Path]:
    """The files and directories of the package, sorted: without `data`, which a checkout has elsewhere."""
    return sorted(path for path in CODE.iterdir() if path not in (_DATA, CODE / "__pycache__"))


def build_directory() -> Path:
    """Where compiled programs are kept; it may not exist yet.

    It is `.build` of a checkout, else `judge/VERSION` in XDG_CACHE_HOME, or in ~/.cache where that is no absolute path.
    """
    if _DATA.joinpath("images").is_symlink():
        return IMAGES.parent / ".build"
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    cache = chosen if chosen.is_absolute() else Path.home() / ".cache"
    return cache / "judge" / judge.__version__


BUILD_DIRECTORY = build_directory()
