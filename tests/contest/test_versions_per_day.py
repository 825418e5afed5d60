"""New versions of an author enter a ladder up to a number in 24 hours; the newest of the others waits."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judge.cli.submit import open_intake
from judge.contest.orders import enter_passed
from judge.publish.load import load_store
from judge.translations.language import ENGLISH
from judge.web.authors.ladder import ladder_values
from tests.contests import submit
from tests.publish.cups import Cup
from tests.verify.test_ladder import joins

LIMIT = """
[intake]
versions_per_day = 2
"""


def entries(cup: Cup) -> list[str]:
    cup.contest.refresh()
    return [name for name in cup.contest.snapshot.by_name() if name.startswith(("zoe", "yan"))]


def with_versions(folder: Path, count: int) -> Cup:
    """A ladder with `zoe`, of which new versions have passed one after the other."""
    cup = joins(folder, LIMIT)
    assert not enter_passed(cup.contest)
    for number in range(count):
        submit(cup, "zoe", "eve", str(number))
        enter_passed(cup.contest)
    return cup


def shift_clock(cup: Cup, monkeypatch: pytest.MonkeyPatch, hours: float) -> None:
    later = datetime.now(UTC) + timedelta(hours=hours)
    monkeypatch.setattr(cup.store, "_now", lambda: later)


def test_version_above_the_limit_waits_with_a_reason(tmp_path: Path) -> None:
    with with_versions(tmp_path / "cup", 3) as cup:
        assert enter_passed(cup.contest)
        assert ["zoe", "zoe.2", "zoe.3"] == entries(cup)
        assert ["zoe: its author entered 2 new versions in 24 hours: the newest one waits"] == [
            line.text for line in cup.store.last_lines(cup.contest.name, 9, "not-entered")
        ]


def test_newest_version_enters_after_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with with_versions(tmp_path / "cup", 5) as cup:
        shift_clock(cup, monkeypatch, 25)
        assert not enter_passed(cup.contest)
        assert ["zoe", "zoe.2", "zoe.3", "zoe.6"] == entries(cup)


def test_clock_that_is_set_back_does_not_keep_versions_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with with_versions(tmp_path / "cup", 3) as cup:
        shift_clock(cup, monkeypatch, -25)
        assert not enter_passed(cup.contest)
        assert "zoe.4" in entries(cup)


def test_another_author_enters_at_once(tmp_path: Path) -> None:
    with with_versions(tmp_path / "cup", 3) as cup:
        submit(cup, "yan", "pat")
        enter_passed(cup.contest)
        submit(cup, "yan", "pat", "2")
        enter_passed(cup.contest)
        assert ["yan", "yan.2"] == [name for name in entries(cup) if name.startswith("yan")]


def test_authors_page_has_the_newest_version_only(tmp_path: Path) -> None:
    with with_versions(tmp_path / "cup", 2) as cup:
        with closing(open_intake(cup.folder).register()) as register:
            own = register.submissions("eve")
        values = ladder_values(load_store(cup.contest), own, (), 0, ENGLISH)
        assert values is not None
        assert ["zoe.3"] == [each["participant"].name for each in values["agents"]]
