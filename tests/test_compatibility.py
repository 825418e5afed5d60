"""A released format changes only with a new version, and the changelog has the form that a release needs."""

import json
import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

import judge
from judge.base.registry import GROUPS
from judge.record.spec import GameRecord
from tests.compat.formats import (
    ROOT,
    changes,
    document_fields,
    formats,
    freeze,
    least_version,
    name_fields,
    newest_snapshot,
    numbers,
    table_fields,
)

MIGRATIONS = Path(judge.__file__).parent / "store/migrations/versions"


def test_changed_format_has_a_new_version() -> None:
    released, now = newest_snapshot(), formats()
    if released is None:
        pytest.skip("no format is frozen; `python -m tests.compat.formats COMMIT` prints the changes since a commit")

    assert released.keys() <= now.keys()
    for name, old in released.items():
        changed = changes(old["fields"], now[name]["fields"])
        least = least_version(old["version"], changed)
        assert numbers(least) <= numbers(now[name]["version"]), f"{name} needs version {least}:\n" + "\n".join(changed)


SCHEMA = """{
    "$defs": {
        "Clock": {"properties": {"turn_ms": {"default": 1}}, "description": "a clock"},
        "Limits": {"properties": {"memory": {}}, "required": ["memory"]}
    },
    "properties": {"clock": {"$ref": "#/$defs/Clock"}, "box": {"enum": ["docker"]}, "name": {"type": "string"}},
    "required": ["name"]
}"""


@pytest.mark.parametrize(
    ("old", "new", "lines", "version"),
    [
        ('"a clock"', '"another text"', [], "3.1"),
        ('"turn_ms": {', '"match_ms": {"default": 0}, "turn_ms": {', ["minor: added .clock.match_ms"], "3.2"),
        ('"box": {', '"limits": {"$ref": "#/$defs/Limits"}, "box": {', ["minor: added .limits"], "3.2"),
        ('["docker"]', '["docker", "process"]', ["minor: added .box =process"], "3.2"),
        ('"required": ["name"', '"required": ["name", "box"', ["major: changed .box"], "4.0"),
        ('"name"', '"title"', ["major: removed .name", "major: added .title"], "4.0"),
        ('"default": 1', '"default": 2', ["major: changed .clock.turn_ms"], "4.0"),
        ('"string"', '"integer"', ["major: changed .name"], "4.0"),
        ('["docker"]', '["process"]', ["major: removed .box =docker", "minor: added .box =process"], "4.0"),
    ],
)
def test_change_of_a_schema_needs_a_version(old: str, new: str, lines: list[str], version: str) -> None:
    before, after = (dict(document_fields(json.loads(text))) for text in (SCHEMA, SCHEMA.replace(old, new)))

    found = changes(before, after)

    assert len(lines) == len(found)
    assert all(line.startswith(f"{start}: ") or line == start for start, line in zip(lines, found, strict=True)), found
    assert version == least_version("3.1", found)


def test_field_of_an_answer_is_a_minor_change() -> None:
    answer = {"properties": {"id": {}}, "required": ["id"]}
    before, after = ({"paths": {"/games": {"get": {"responses": {"200": each}}}}} for each in ({}, answer))

    found = changes(dict(document_fields(before)), dict(document_fields(after)))

    assert ["minor: added paths /games get responses 200.id: always {}"] == found


RULES = """
class Base: ...
class Rules: ...
class Game(Rules):
    def __init__(self, *, seed=0): ...
def play(game, turns=3): ...
"""


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("turns=3", "turns=3, *, seed=1", "minor: added judge.games play seed="),
        ("turns=3", "turns=5", ""),
        ("turns=3", "turns", "major: removed judge.games play turns="),
        ("(game, turns=3)", "(game)", "major: removed judge.games play turns="),
        ("play(game", "play(game, seat", "major: changed judge.games play: "),
        ("play(game", "play(board", "major: changed judge.games play: "),
        ("Game(Rules)", "Game(Base)", "major: changed judge.games Game: "),
        ("seed=0): ...", "seed=0): ...\n    def end(self): ...", "minor: added judge.games Game.end: "),
        ("class Base: ...", "class Base:\n    end = None", "minor: added judge.games Base.end: "),
        ("class Base: ...", "", "major: removed judge.games Base"),
        ("class Base: ...", "class Base: ...\nclass _Own: ...", ""),
    ],
)
def test_change_of_a_python_name_is_minor_or_major(before: str, after: str, expected: str, tmp_path: Path) -> None:
    checkouts = []
    for name, text in (("before", RULES), ("after", RULES.replace(before, after))):
        checkouts.append(tmp_path / name)
        for path, content in (
            ("docs/api.md", "| `judge.games` | stable |\n| `judge.api` | provisional |\n"),
            ("judge/__init__.py", ""),
            ("judge/games.py", text),
        ):
            (checkouts[-1] / path).parent.mkdir(parents=True, exist_ok=True)
            (checkouts[-1] / path).write_text(content)

    old, new = (dict(name_fields(checkout)) for checkout in checkouts)

    found = changes(old, new)
    assert bool(expected) == bool(found)
    assert any(line.startswith(expected) for line in found or [""])


def test_every_change_of_a_table_is_major() -> None:
    old, new = (dict(table_fields(f"CREATE TABLE games (\n\tid TEXT{more}\n);\n")) for more in ("", ",\n\tround TEXT"))

    assert {"major"} == {line.partition(":")[0] for line in changes(old, new)}


def test_snapshot_is_never_replaced(tmp_path: Path) -> None:
    path = freeze(tmp_path)

    assert formats() == newest_snapshot(tmp_path)
    assert judge.__version__.startswith(path.stem)
    with pytest.raises(FileExistsError):
        freeze(tmp_path)


def test_major_versions_are_those_in_the_code() -> None:
    now = formats()

    assert f"judge-record-{numbers(now['record']['version'])[0]}" == GameRecord.model_fields["format"].default
    assert max(int(path.name[:4]) for path in MIGRATIONS.glob("[0-9]*.py")) == numbers(now["store"]["version"])[0]


def test_every_format_has_fields_and_every_entry_point_is_listed() -> None:
    assert all(each["fields"] for each in formats().values())
    assert all(f"`{group}`" in (ROOT / "docs/compatibility.md").read_text() for group in GROUPS)


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
