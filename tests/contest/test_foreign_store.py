"""A folder of others names a database: no command connects to it, unless the user names it."""

import os
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from judge.base.errors import InputError, StoreDamagedError, StoreLostError
from judge.contest.backup import back_up
from judge.contest.contest import foreign, open_store
from judge.contest.earlier_contests import read_contest, read_earlier
from judge.contest.entries import intake_directory
from judge.contest.folder_transfer import read_any
from judge.contest.plan import load_plan
from judge.contest.restore import restore
from judge.publish.before_export import read_joined
from tests import forked
from tests.contest.test_backup import change_backup, in_plan
from tests.publish.cups import STRONG_TO_WEAK, Cup


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """A listener that must not be called."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        yield listener


@pytest.fixture
def foreign_folder(tmp_path: Path, server: socket.socket) -> Path:
    """A contest whose file names a database at `server`, with a file of the user's."""
    port = server.getsockname()[1]
    with Cup(tmp_path / "foreign", STRONG_TO_WEAK) as cup:
        cup.play(2)
        path = cup.folder / "contest.toml"
    text = path.read_text()
    url = f"postgresql+psycopg://judge@127.0.0.1:{port}/cup?connect_timeout=2"
    path.write_text(f'store = "{url}"\n{text}')
    return path.parent


def was_called(server: socket.socket) -> bool:
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return False
    return True


READERS: dict[str, Callable[[Path, Path], object]] = {
    "stats": lambda path, _: read_contest(path),
    "ratings from": lambda path, folder: read_earlier(load_plan(folder), path, "ratings.from"),
    "folders from": lambda path, folder: read_any(path, load_plan(folder)),
    "init --from": lambda path, _: foreign(load_plan(path), ()),
}


@pytest.mark.parametrize("reader", READERS)
def test_reader_does_not_connect(reader: str, foreign_folder: Path, server: socket.socket, tmp_path: Path) -> None:
    path = foreign_folder / "contest.toml"
    path.write_text(path.read_text().replace('"spring-cup"', '"other-cup"', 1))
    with Cup(tmp_path / "own", STRONG_TO_WEAK), pytest.raises(InputError, match="only if you name it"):
        READERS[reader](foreign_folder, tmp_path / "own")
    assert not was_called(server)


def test_plan_of_a_foreign_folder_does_not_connect(foreign_folder: Path, server: socket.socket) -> None:
    words = [sys.executable, "-m", "judge.cli", "contest", "plan", "foreign"]
    done = forked.run(words, cwd=foreign_folder.parent, text=True)
    assert not was_called(server)
    assert "unexpected error" not in done.stderr
    assert done.returncode


def test_backup_of_a_database_elsewhere_is_refused(foreign_folder: Path, server: socket.socket, tmp_path: Path) -> None:
    with Cup(tmp_path / "plain", STRONG_TO_WEAK) as cup:
        back_up(cup.planned, tmp_path / "backup", sample=0)
    store, *_ = (foreign_folder / "contest.toml").read_text().splitlines()
    change_backup(tmp_path / "backup", in_plan(store))
    with pytest.raises(InputError, match="this names another one"):
        restore(tmp_path / "backup", tmp_path / "restored")
    assert not was_called(server)
    assert not (tmp_path / "restored").exists()


def test_database_that_the_user_names_or_has_in_the_own_file_is_opened(
    foreign_folder: Path, server: socket.socket
) -> None:
    port = server.getsockname()[1]
    server.close()
    with pytest.raises(StoreLostError, match="cannot be reached"):
        read_contest(foreign_folder, store=f"postgresql+psycopg://judge@127.0.0.1:{port}/cup")
    with pytest.raises(StoreLostError, match="cannot be reached"):
        open_store(load_plan(foreign_folder))


def test_database_of_another_folder_is_not_opened_and_that_of_its_own_is(tmp_path: Path) -> None:
    with Cup(tmp_path / "own", STRONG_TO_WEAK) as cup, Cup(tmp_path / "other", STRONG_TO_WEAK) as other:
        cup.play(2)
        assert 2 == sum(game.result is not None for game in read_contest(cup.folder).games)
        path = other.folder / "contest.toml"
        text = path.read_text()
        for store in (f"sqlite:///{cup.folder}/contest.db", "sqlite:///../own/contest.db"):
            path.write_text(f'store = "{store}"\n{text}')
            with pytest.raises(InputError, match="only if you name it"):
                read_contest(other.folder)
        path.write_text(text)
        (other.folder / "contest.db").rename(tmp_path / "moved.db")
        (other.folder / "contest.db").symlink_to(cup.folder / "contest.db")
        with pytest.raises(InputError, match="only if you name it"):
            read_contest(other.folder)


def test_foreign_database_with_a_view_or_trigger_is_not_read(tmp_path: Path) -> None:
    with Cup(tmp_path / "foreign", STRONG_TO_WEAK) as cup:
        cup.play(1)
        with closing(sqlite3.connect(cup.folder / "contest.db")) as database, database:
            database.execute("CREATE VIEW v AS SELECT 1")
        with pytest.raises(StoreDamagedError, match="view v is not judge's"):
            read_contest(cup.folder)


def test_joined_contest_in_the_own_database_is_read(tmp_path: Path, foreign_folder: Path) -> None:
    """The caller's own contest.toml names the same database."""
    planned = load_plan(foreign_folder)
    assert planned.store_url == foreign(planned, [planned.store_url]).store_url
    assert read_joined(planned, planned) == (None, ())


@pytest.mark.parametrize(
    "query",
    [
        "passfile=/home/olga/.pgpass",
        "service=mine",
        "sslkey=/home/olga/key.pem",
        "hostaddr=10.0.0.1",
        "host=example.org",
        "host=/run/postgresql&host=example.org",
        "password=x",
        "dbname=x",
        "PASSFILE=/home/olga/.pgpass",
        "pass%66ile=/home/olga/.pgpass",
        "connect_timeout=2&passfile=/home/olga/.pgpass",
    ],
)
def test_url_in_a_contest_file_names_no_file_of_the_user_and_no_other_host(query: str, foreign_folder: Path) -> None:
    path = foreign_folder / "contest.toml"
    text = path.read_text()
    path.write_text(text.replace("?connect_timeout=2", f"?{query}"))
    with pytest.raises(InputError, match=r"contest.toml:.*store: remove .*= from the URL"):
        load_plan(path)
    for usual in ("sslmode=require&connect_timeout=2", "host=/run/postgresql&port=5433"):
        path.write_text(text.replace("?connect_timeout=2", f"?{usual}"))
        assert load_plan(path).store_url.endswith(usual)


def owned_by_another_user(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not os.geteuid():
        os.chown(path, 65534, 65534)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)


def test_server_in_the_file_of_another_user_is_not_called(
    foreign_folder: Path, server: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = load_plan(foreign_folder)
    owned_by_another_user(planned.path, monkeypatch)
    for open_ in (open_store, intake_directory):
        with pytest.raises(InputError, match="another user's file"):
            open_(planned)
    assert planned.written_store_url == foreign(planned, [planned.written_store_url]).store_url
    assert not was_called(server)


def test_file_of_another_user_with_its_own_database_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Cup(tmp_path / "cup", STRONG_TO_WEAK) as cup:
        owned_by_another_user(cup.planned.path, monkeypatch)
        assert load_plan(cup.folder).store_url == cup.planned.store_url
