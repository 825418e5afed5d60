"""contest.toml and the journal change together: a failed commit leaves both, a repeated order changes nothing.

A process that is killed between them leaves what the next one finishes.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from judge.base.errors import HostError
from judge.contest.begin import announce
from judge.contest.contest import open_store
from judge.contest.entries import intake_directory
from judge.contest.plan import Planned, load_plan
from judge.contest.settings import change_settings, finish_change, settings_of
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


def kill_in(planned: Planned, name: str, is_fatal: Callable[[Path, object], bool]) -> None:
    version = settings_of(planned).version
    child = os.fork()
    if not child:
        before = getattr(Path, name)

        def die(path: Path, *given: object) -> object:
            if is_fatal(path, *given):
                os._exit(9)
            return before(path, *given)

        setattr(Path, name, die)
        with closing(intake_directory(planned).register()) as register:
            change(planned, register, version)
        os._exit(0)
    assert 9 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert TEXT == planned.path.read_text()


def kill_after_commit(planned: Planned) -> None:
    kill_in(planned, "replace", lambda _, target: target == planned.path)
    assert 1 == events(planned).count("settings")


@pytest.mark.parametrize("is_sent_again", [False, True])
def test_next_process_finishes_a_committed_change(planned: Planned, register: Register, is_sent_again: bool) -> None:
    version = settings_of(planned).version
    kill_after_commit(planned)
    if is_sent_again:
        change(planned, register, version)
    for _ in range(2):
        finish_change(planned)
        assert TEXT.replace("Spring", "Autumn") == planned.path.read_text()
    assert 1 == events(planned).count("settings")
    assert [] == list(planned.folder.glob("*.partial*"))


def test_file_that_was_edited_after_the_kill_stays(planned: Planned) -> None:
    kill_after_commit(planned)
    edited = TEXT.replace("Spring", "Summer")
    planned.path.write_text(edited)
    finish_change(planned)
    assert edited == planned.path.read_text()
    assert [] == list(planned.folder.glob("*.partial*"))


def test_change_of_a_process_killed_before_its_commit_is_discarded(planned: Planned) -> None:
    kill_in(planned, "replace", lambda path, _: path.name.endswith(".partial.partial"))
    assert "settings" not in events(planned)
    finish_change(planned)
    assert TEXT == planned.path.read_text()
    assert [] == list(planned.folder.glob("*.partial*"))
