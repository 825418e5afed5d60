"""A format that judge writes changes only with a new version. tests/compat has records of older versions."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

import judge
from judge.base.registry import GROUPS
from judge.referee.spec import RECORD_FORMAT
from tests.compat.current import current_digests, newest, table

PAGE = Path(__file__).parents[1] / "docs/compatibility.md"
MIGRATIONS = Path(judge.__file__).parent / "store/migrations/versions"
FORMATS = sorted(newest())


def test_every_format_has_a_version() -> None:
    assert set(current_digests()) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_changed_format_without_new_version_is_refused(name: str) -> None:
    row = newest()[name]

    assert row.sha256 == current_digests()[name], (
        f"the format {name!r} differs from version {row.version} of judge {row.since}; add a row to "
        "tests/compat/formats.toml and docs/compatibility.md. If that version is not released, run "
        "python -m tests.compat.current"
    )


@pytest.mark.parametrize("name", FORMATS)
def test_versions_of_a_format_increase(name: str) -> None:
    rows = [row for row in table() if row.name == name]

    for older, newer in pairwise(rows):
        major, minor = older.numbers
        assert newer.numbers in {(major, minor + 1), (major + 1, 0)}
        assert older.sha256 != newer.sha256


def test_major_versions_are_those_in_the_code() -> None:
    revisions = [int(path.name[:4]) for path in MIGRATIONS.glob("[0-9]*.py")]

    assert RECORD_FORMAT == newest()["record"].numbers[0]
    assert max(revisions) == newest()["store"].numbers[0]


def test_page_lists_every_version_and_every_entry_point() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| ([A-Za-z -]+) \| (\d+\.\d+) \| (\d+\.\d+\.\d+) \|", text, re.MULTILINE))

    assert rows == {(row.name, row.version, row.since) for row in table()}
    for group in GROUPS:
        assert f"`{group}`" in text
