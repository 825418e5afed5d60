"""CONTRIBUTING.md lists every package with tests that exist."""

import re
from pathlib import Path

from tests.test_house import PARTS_OF_PUBLISH

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def package_rows() -> list[tuple[str, str, str]]:
    """The name, purpose and tests of each package."""
    section = TEXT.partition("\n## Packages and their tests\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([\w.]+)` \| (.+?) \| (.+?) \|$", section, re.MULTILINE)


def test_every_package_has_a_purpose_and_tests() -> None:
    rows = package_rows()
    packages = {path.stem for path in (ROOT / "judge").iterdir() if path.is_dir() or path.suffix == ".py"}

    assert [name for name, _, _ in rows] == sorted((packages | PARTS_OF_PUBLISH) - {"__init__", "__pycache__", "data"})
    for _, _, tests in rows:
        for path in tests.split(", "):
            assert (ROOT / path).exists(), path


def test_every_mark_is_described() -> None:
    marks = re.findall(r'^    "(\w+): ', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)

    assert set(marks) == set(re.findall(r"^\| `(\w+)` \| [^|]+ \|$", TEXT, re.MULTILINE))
