"""Phrases that writers avoid are found on the lines that a commit adds."""

import subprocess
from pathlib import Path

import pytest

from scripts.prose import main

MODULE = '''"""A module.

Nobody reads it.
"""

TEXT = "the first of all words"
# it is told
'''


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "judge").mkdir()
    (tmp_path / "judge/module.py").write_text(MODULE)
    (tmp_path / "README.md").write_text("A page.\nIt says so.\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "first"]):
        subprocess.run([*git, *words], check=True)
    return tmp_path


def test_hits_below_a_path_are_listed_with_their_lines(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == main(["judge"], checkout)

    assert [
        "judge/module.py:3: docstrings: nobody, somebody: Nobody",
        "judge/module.py:7: comments: a program that speaks: told",
    ] == capsys.readouterr().out.splitlines()


def test_commit_without_a_hit_on_its_lines_passes(checkout: Path) -> None:
    (checkout / "judge/module.py").write_text(MODULE + "MORE = 1\n")
    subprocess.run(["git", "-C", str(checkout), "add", "."], check=True)

    assert 0 == main(["--staged"], checkout)


def test_commit_with_a_hit_on_its_lines_is_refused(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "README.md").write_text("A page.\nIt says so.\nIt goes on.\n")
    subprocess.run(["git", "-C", str(checkout), "add", "."], check=True)

    assert 1 == main(["--staged"], checkout)
    assert "README.md:3: documents: goes on: goes on\n" == capsys.readouterr().out
