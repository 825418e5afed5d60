"""The starters for authors, built as each tells: `make` in a copy of its folder."""

import shutil
import subprocess
from pathlib import Path

import pytest

from judge.base.resources import IMAGES
from judge.sandbox.static_builds import JAVAC_PACKAGE

PROTOCOLS = ("gomocup", "agi", "stratego", "qchess")
LANGUAGES = ("c", "cpp", "python", "java")
STARTERS = [f"starter-{protocol}-{language}" for protocol in PROTOCOLS for language in LANGUAGES]


def build(name: str, folder: Path) -> Path:
    """A starter in a folder of its own in `folder`, compiled where it must be; a compiler's warning fails the test."""
    if name.endswith("-java") and not shutil.which("javac"):
        pytest.skip(f"there is no javac here: apt-get install {JAVAC_PACKAGE}")
    agent = folder / name
    # Not what an author has compiled there.
    shutil.copytree(IMAGES / name, agent, ignore=shutil.ignore_patterns("starter", "*.class"))
    if (agent / "Makefile").exists():
        made = subprocess.run(["make"], cwd=agent, capture_output=True, text=True, check=False)
        assert (made.returncode, made.stderr) == (0, "")
    return agent


def protocol_of(name: str) -> str:
    """What a starter speaks."""
    return name.split("-")[1]
