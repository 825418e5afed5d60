"""The changelog and its fragments have the form that a release needs."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import judge

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
SECTIONS = ["Added", "Changed", "Fixed", "Removed", "Security"]


def fragments() -> list[Path]:
    others = {*CONFIG["ignore"], Path(CONFIG["template"]).name}
    return [path for path in (ROOT / CONFIG["directory"]).iterdir() if path.name not in others]


def test_newest_release_is_the_version_of_the_package() -> None:
    releases = re.findall(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$", TEXT, re.MULTILINE)

    base, _, development = judge.__version__.partition(".dev")
    assert development or base == releases[0][0]
    assert development or not fragments(), "changes after a release need the next version with .dev0"
    for newer, older in pairwise([(base, "today"), *releases] if development else releases):
        assert tuple(map(int, newer[0].split("."))) > tuple(map(int, older[0].split(".")))
        assert newer[1] >= older[1]


def test_entries_have_one_line_in_a_known_section() -> None:
    for release in TEXT.split("\n## ")[1:]:
        sections = release.split("\n### ")
        names = [section.partition("\n")[0] for section in sections[1:]]
        assert names == [name for name in SECTIONS if name in names]
        for section in sections[1:]:
            for line in section.splitlines()[1:]:
                assert not line or line.startswith("- "), line


def test_fragments_have_a_known_type() -> None:
    types = [each["directory"] for each in CONFIG["type"]]

    assert [each["name"] for each in CONFIG["type"]] == SECTIONS
    assert CONFIG["start_string"] in TEXT
    for path in fragments():
        assert re.fullmatch(rf"(\d+|\+[a-z0-9-]+)\.({'|'.join(types)})\.md", path.name), path.name
        assert path.read_text(encoding="utf-8").strip(), path.name
