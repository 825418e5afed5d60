"""Programs of others that tests compare games with.

`scripts/lib.sh` installs libraries of a package registry in `.build/others`. Programs without a package are in the
folder that JUDGE_OTHER_PROGRAMS names; docs/correctness.md lists their names there. Tests of a missing one are skipped.
"""

import os
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from judge.base.resources import BUILD_DIRECTORY

INSTALLED = BUILD_DIRECTORY / "others"
PROGRAMS = os.environ.get("JUDGE_OTHER_PROGRAMS", "")
GAMES = int(os.environ.get("JUDGE_COMPARED_GAMES", "0"))


def sample(games: int) -> int:
    """Number of games or positions: JUDGE_COMPARED_GAMES, or `games` without it."""
    return GAMES or games


def library(name: str, patch: pytest.MonkeyPatch) -> ModuleType:
    """A module of `.build/others`; skips the test without it."""
    if not (INSTALLED / name.partition(".")[0]).exists():
        pytest.skip(f"{name} is not installed: ./scripts/test --evidence conformance installs it with pip")
    patch.syspath_prepend(INSTALLED)
    return import_module(name)


def program(name: str) -> Path:
    """A program in the folder JUDGE_OTHER_PROGRAMS; skips the test without it."""
    path = Path(PROGRAMS, name)
    if not PROGRAMS or not path.exists():
        where = f"{path} is missing" if PROGRAMS else "JUDGE_OTHER_PROGRAMS names no folder"
        pytest.skip(f"{where}: put {name} into a folder as docs/correctness.md describes, and name it by this variable")
    return path.resolve()
