"""Screens that were looked at by a person once, and are compared letter by letter since.

`JUDGE_NEW_GOLDEN=1 pytest tests/terminal/test_screen.py` writes them anew; then look at what changed.
"""

import os
import re
from pathlib import Path

DIRECTORY = Path(__file__).parent / "golden"


def assert_golden(name: str, text: str) -> None:
    """The text is the one that is kept under this name."""
    path = DIRECTORY / f"{name}.txt"
    # A game's id changes with every default of a policy.
    text = re.sub(r"\b[0-9a-f]{20}\b", "0" * 20, text)
    tidy = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    if os.environ.get("JUDGE_NEW_GOLDEN"):
        path.write_text(tidy, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == tidy
