"""Our C and Java are compiled without a warning here; a user's compiler may be newer and warn of more, and is let."""

import shutil
import subprocess
from pathlib import Path

import pytest

from judge.base.resources import IMAGES

pytestmark = pytest.mark.slow

GCC = ("gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsyntax-only")
JAVAC = ("javac", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "--release", "11", "-Xlint:all", "-Werror", "-d")
"""It starts sooner with a simpler Java machine."""


def folders_with(ending: str) -> list[Path]:
    return sorted({path.parent for path in IMAGES.rglob(f"*{ending}")})


def complaints(command: list[str], folder: Path, ending: str) -> tuple[int, str]:
    files = sorted(path.name for path in folder.glob(f"*{ending}"))
    done = subprocess.run([*command, *files], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("folder", folders_with(".c"), ids=lambda folder: folder.name)
def test_gcc_warns_of_nothing(folder: Path) -> None:
    assert (0, "") == complaints([*GCC], folder, ".c")


@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no javac here")
@pytest.mark.parametrize("folder", folders_with(".java"), ids=lambda folder: folder.name)
def test_javac_warns_of_nothing(folder: Path, tmp_path: Path) -> None:
    assert (0, "") == complaints([*JAVAC, str(tmp_path)], folder, ".java")
