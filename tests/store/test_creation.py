"""A process opens an SQLite file that another process is creating."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge.cli import app
from judge.store import database
from judge.store.contests import Store
from tests.cup.test_plan import HEAD, ONE, entry, plan


def begin_creation(path: Path, monkeypatch: pytest.MonkeyPatch) -> sqlite3.Connection:
    """Lock a new file as SQLite does before it creates a table; the next wait ends the lock."""
    creator = sqlite3.connect(path, isolation_level=None)
    creator.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(database, "sleep", lambda _: creator.execute("ROLLBACK"))
    return creator


def test_store_that_another_process_creates_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "contest.db"
    with closing(begin_creation(path, monkeypatch)), closing(Store(f"sqlite:///{path}")) as store:
        assert [] == store.contest_names()


def test_status_of_a_cup_whose_league_is_being_created_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cup = plan(tmp_path, HEAD + ONE + entry("anna", "one") + entry("bert", "one"))
    path = cup.write("one").folder / "contest.db"

    with closing(begin_creation(path, monkeypatch)):
        done = CliRunner().invoke(app, ["contest", "status", str(tmp_path), "--json"])

    assert 0 == done.exit_code, done.exception
    assert "not begun" == json.loads(done.stdout)["leagues"]["one"]["state"]
