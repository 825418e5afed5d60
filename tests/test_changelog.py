"""The changelog and its fragments have the form that a release needs."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import judge

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
SECTIONS = ["Added", "Changed", "Fixed", "Removed", "Security"]


def test_newest_release_is_the_version_of_the_package() -> None:
    releases = re.findall(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$", TEXT, re.MULTILINE)

    base, _, development = judge.__version__.partition(".dev")
    assert base != releases[0][0] if development else base == releases[0][0]
    for newer, older in pairwise(releases):
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
                assert len(line) <= 120, line


def test_first_release_has_at_most_150_lines() -> None:
    first = TEXT.partition("\n## 0.2.0 ")[2].partition("\n## ")[0]

    assert len(first.splitlines()) <= 150


def test_fragments_have_a_known_type() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
    types = [each["directory"] for each in config["type"]]

    assert [each["name"] for each in config["type"]] == SECTIONS
    assert config["start_string"] in TEXT
    for path in (ROOT / config["directory"]).iterdir():
        if path.name in (*config["ignore"], Path(config["template"]).name):
            continue
        assert re.fullmatch(rf"(\d+|\+[a-z0-9-]+)\.({'|'.join(types)})\.md", path.name), path.name
        assert path.read_text(encoding="utf-8").strip(), path.name
