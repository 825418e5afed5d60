"""contest.toml and the journal change together: a failed commit leaves both, a repeated order changes nothing."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from judge.base.errors import HostError
from judge.contest.contest import announce, open_store
from judge.contest.entries import intake_directory
from judge.contest.plan import Planned, load_plan
from judge.contest.settings import change_settings, settings_of
from judge.store.orders import OrganiserOrder
from judge.store.submissions import Register

TEXT = """\
name = "cup"
title = "Spring"   # on the pages
policy = "gomocup-standard"

[format]
name = "round-robin"
"""
ORDER = OrganiserOrder("olga", "settings", "", "a better title", "1" * 32)


@pytest.fixture
def planned(tmp_path: Path) -> Planned:
    (tmp_path / "contest.toml").write_text(TEXT)
    found = load_plan(tmp_path)
    with closing(open_store(found)) as store:
        announce(store, found)
    return found


@pytest.fixture
def register(planned: Planned) -> Iterator[Register]:
    with closing(intake_directory(planned).register()) as found:
        yield found


def events(planned: Planned) -> list[str]:
    with closing(open_store(planned)) as store:
        return [line.event for line in store.journal("cup")]


def change(planned: Planned, register: Register, version: str) -> None:
    change_settings(planned, register, ORDER, {"title": "Autumn"}, version)


def test_changed_settings_are_in_the_file_and_in_the_journal_once(planned: Planned, register: Register) -> None:
    version = settings_of(planned).version
    for _ in range(2):
        change(planned, register, version)
    assert TEXT.replace("Spring", "Autumn") == planned.path.read_text()
    assert 1 == events(planned).count("settings")
    assert [] == list(planned.folder.glob("*.partial"))


def test_failed_commit_leaves_file_and_journal(planned: Planned, register: Register) -> None:
    def fail(_: object) -> NoReturn:
        raise OperationalError("COMMIT", {}, OSError("disk I/O error"))

    event.listen(register._engine, "commit", fail)
    with pytest.raises((HostError, OperationalError)):
        change(planned, register, settings_of(planned).version)
    event.remove(register._engine, "commit", fail)
    assert TEXT == planned.path.read_text()
    assert "settings" not in events(planned)
    assert [] == list(planned.folder.glob("*.partial"))

    change(planned, register, settings_of(planned).version)
    assert 1 == events(planned).count("settings")
