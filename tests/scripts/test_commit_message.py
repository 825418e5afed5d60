"""The commit-msg hook accepts the form of CONTRIBUTING.md and refuses others."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/commit_message.py"


def check(message: str, folder: Path) -> tuple[int, str]:
    path = folder / "COMMIT_EDITMSG"
    path.write_text(message)
    done = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("docs: split the organiser's manual\n", ""),
        ("sandbox: fix void verdict when cgroups are hidden\n\nThe reason.\n# a comment\n", ""),
        ("Merge branch 'main'\n", ""),
        (f"web: {'x' * 67}\n", ""),
        ("# only a comment\n", "the message is empty"),
        (f"web: {'x' * 68}\n", "the subject has 73 characters; at most 72"),
        ("Refuse a board\n", "the subject must start with the package"),
        ("web: refuse a board.\n", "the subject ends with a period"),
        ("web: refuse a board\nat once\n", "the second line must be empty"),
    ],
)
def test_good_message_is_accepted_and_another_one_refused(message: str, problem: str, tmp_path: Path) -> None:
    code, text = check(message, tmp_path)

    assert (1, True) == (code, problem in text) if problem else (0, "") == (code, text)
