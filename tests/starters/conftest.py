"""The starters for authors, built as each tells: `make` in a copy of its folder."""

import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from judge.base.locks import locked
from judge.base.resources import IMAGES
from judge.host.compilers import JAVAC_PACKAGE

PROTOCOLS = ("gomocup", "agi", "stratego", "qchess")
LANGUAGES = ("c", "cpp", "python", "java")
STARTERS = [f"starter-{protocol}-{language}" for protocol in PROTOCOLS for language in LANGUAGES]

Built = Callable[[str], Path]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The folder of a starter, by name; each is built once for all processes of a run."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder /= "starters"
    folder.mkdir(exist_ok=True)

    @cache
    def build_once(name: str) -> Path:
        is_built = folder / f"{name}.built"
        with locked(folder / f"{name}.lock"):
            if not is_built.exists():
                build(name, folder / name)
                is_built.touch()
        return folder / name

    return build_once


def build(name: str, agent: Path) -> None:
    """A compiler's warning fails the test."""
    if name.endswith("-java") and not shutil.which("javac"):
        pytest.skip(f"there is no javac here: apt-get install {JAVAC_PACKAGE}")
    # Not what an author has compiled there.
    shutil.copytree(IMAGES / name, agent, ignore=shutil.ignore_patterns("starter", "*.class"))
    if (agent / "Makefile").exists():
        made = subprocess.run(["make"], cwd=agent, capture_output=True, text=True, check=False)
        assert (made.returncode, made.stderr) == (0, "")


def protocol_of(name: str) -> str:
    return name.split("-")[1]
