"""Compares the judge's public interfaces with the golden files."""

from difflib import unified_diff
from pathlib import Path

import pytest

from tests.golden.files import SOURCES, stored

OF_SERVICES = {("access.txt",), ("export.txt", "routes.txt")}
"""What takes a contest and services to make."""

HINT = "If you intend this difference, write the golden files again: python -m tests.golden"


@pytest.mark.parametrize(
    "patterns",
    [pytest.param(each, marks=[pytest.mark.slow] * (each in OF_SERVICES), id=" ".join(each)) for each in SOURCES],
)
def test_interface_matches_its_golden_files(patterns: tuple[str, ...], tmp_path: Path) -> None:
    golden, now = stored(patterns), SOURCES[patterns](tmp_path)

    for name in sorted(golden.keys() | now.keys()):
        before, after = golden.get(name, "").splitlines(), now.get(name, "").splitlines()
        difference = "\n".join(unified_diff(before, after, f"golden {name}", f"current {name}", lineterm=""))
        assert not difference, f"{HINT}\n{difference}"
