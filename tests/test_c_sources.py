"""Our C is compiled without a warning here; a user's compiler may be newer and warn of more, and is let."""

import subprocess
from pathlib import Path

import pytest

from judge.resources import IMAGES

WARNINGS = ("-Wall", "-Wextra", "-Werror")


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in IMAGES.rglob("*.c")}), ids=lambda folder: folder.name
)
def test_a_compiler_warns_of_nothing(folder: Path) -> None:
    command = ["gcc", "-std=c11", "-O2", *WARNINGS, "-fsyntax-only", *sorted(path.name for path in folder.glob("*.c"))]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)
