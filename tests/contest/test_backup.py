"""A backup of a running contest can be restored elsewhere, continues, and shows a fork of its history."""

import hashlib
import json
import os
import shutil
import sqlite3
import stat
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.agents.program_files import program_digest
from judge.base.errors import HostError, InputError
from judge.base.locks import try_lock
from judge.contest.backup import back_up
from judge.contest.backup_check import MANIFEST, read_manifest
from judge.contest.contest import Contest, open_store
from judge.contest.plan import load_plan
from judge.contest.restore import restore
from judge.publish.export.export import publish
from judge.publish.verify.export import verify_export
from judge.store.files import Files
from judge.transparency.keys import make_key
from judge.transparency.log import ContestLog
from tests.contests import ROUND_ROBIN
from tests.publish.cups import ENGLISH, STRONG_TO_WEAK, Cup, play
from tests.store.test_read_only import mounted

SIX_GAMES = replace(ROUND_ROBIN, name="six-games", happens=lambda cup: cup.play(6, void=[3]))


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Cup]:
    """A contest whose store is open, as while it runs."""
    with SIX_GAMES.contest(tmp_path / "cup") as cup:
        make_key(cup.folder / "organiser.key")
        yield cup


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of the contest, of which a test changes a copy."""
    folder = tmp_path_factory.mktemp("kept")
    with SIX_GAMES.contest(folder / "cup") as cup:
        back_up(cup.planned, folder / "backup")
    return folder / "backup"


def results(folder: Path) -> list[str]:
    with closing(open_store(load_plan(folder / "contest.toml"))) as store:
        return [result.record for result in store.results("spring-cup")]


@pytest.mark.slow
def test_restored_contest_has_the_results_and_continues_to_a_valid_export(running: Cup, tmp_path: Path) -> None:
    report = back_up(running.planned, tmp_path / "backup")
    before = results(running.folder)
    running.play()

    restored = restore(tmp_path / "backup", tmp_path / "restored")
    assert before == results(tmp_path / "restored")
    assert report.manifest.games == len(before) == 5
    assert restored.replayed == 6

    planned = load_plan(tmp_path / "restored/contest.toml")
    with closing(open_store(planned)) as store:
        contest = Contest(store, planned)
        play(contest, running.cast)
        key = make_key(tmp_path / "new.key")
        publish(contest, tmp_path / "public", tmp_path / "private", key, ENGLISH)
    assert [] == verify_export(tmp_path / "public", None).problems


def test_second_backup_copies_new_files_only_and_keeps_the_former_one(running: Cup, tmp_path: Path) -> None:
    first = back_up(running.planned, tmp_path / "backup")
    assert 0 == back_up(running.planned, tmp_path / "backup").new_files
    running.play(2)
    second = back_up(running.planned, tmp_path / "backup")

    assert 2 == second.new_files
    assert set(first.manifest.stored) < set(second.manifest.stored)
    expected = {first.manifest.database, second.manifest.database}
    assert expected == {path.name for path in (tmp_path / "backup/database").iterdir()}
    restore(tmp_path / "backup", tmp_path / "restored")
    assert results(running.folder) == results(tmp_path / "restored")
    assert first.manifest.stored == restore(tmp_path / "backup", tmp_path / "older", former=True).manifest.stored

    running.play(1)
    third = back_up(running.planned, tmp_path / "backup")
    expected = {second.manifest.database, third.manifest.database}
    assert expected == {path.name for path in (tmp_path / "backup/database").iterdir()}


def test_keys_are_copied_on_request_only_and_elsewhere(running: Cup, tmp_path: Path) -> None:
    key = (running.folder / "organiser.key").read_bytes()
    report = back_up(running.planned, tmp_path / "backup")
    assert ("organiser.key",) == report.manifest.keys
    assert 0o700 == stat.S_IMODE((tmp_path / "backup").stat().st_mode)
    assert not any(path.is_file() and key in path.read_bytes() for path in (tmp_path / "backup").rglob("*"))

    back_up(running.planned, tmp_path / "backup", keys=tmp_path / "keys")
    assert key == (tmp_path / "keys/organiser.key").read_bytes()
    assert 0o600 == stat.S_IMODE((tmp_path / "keys/organiser.key").stat().st_mode)
    assert not any(path.is_file() and key in path.read_bytes() for path in (tmp_path / "backup").rglob("*"))


def test_contest_that_was_set_back_is_not_added_to_its_later_backup(running: Cup, tmp_path: Path) -> None:
    back_up(running.planned, tmp_path / "early")
    running.play(3)
    back_up(running.planned, tmp_path / "late")
    restore(tmp_path / "early", tmp_path / "restored")
    planned = load_plan(tmp_path / "restored/contest.toml")

    with pytest.raises(InputError, match="would fork its history"):
        back_up(planned, tmp_path / "late")
    with closing(open_store(planned)) as store:
        play(Contest(store, planned), STRONG_TO_WEAK)
    with pytest.raises(InputError, match="was forked"):
        back_up(planned, tmp_path / "late")
    running.play(1)
    back_up(running.planned, tmp_path / "late")


def test_backup_older_than_a_published_checkpoint_is_not_restored(running: Cup, tmp_path: Path) -> None:
    back_up(running.planned, tmp_path / "backup")
    key = make_key(tmp_path / "other.key")
    log = ContestLog.of("spring-cup", running.store.journal("spring-cup"))
    same, later = tmp_path / "same", tmp_path / "later"
    same.write_bytes(log.checkpoint().signed(key).note)
    running.play(1)
    log = ContestLog.of("spring-cup", running.store.journal("spring-cup"))
    later.write_bytes(log.checkpoint().signed(key).note)

    with pytest.raises(InputError, match="would fork its history"):
        restore(tmp_path / "backup", tmp_path / "restored", since=later)
    assert not (tmp_path / "restored").exists()
    restore(tmp_path / "backup", tmp_path / "restored", since=same)


def test_large_files_are_restored_in_pieces(running: Cup, tmp_path: Path) -> None:
    """A backup of others may name files larger than memory."""
    data = os.urandom(64 << 20)
    (running.folder / "weights.bin").write_bytes(data)
    back_up(running.planned, tmp_path / "backup", sample=0)
    tracemalloc.start()
    try:
        restore(tmp_path / "backup", tmp_path / "restored", sample=0)
        assert tracemalloc.get_traced_memory()[1] < len(data) // 2
    finally:
        tracemalloc.stop()
    assert data == (tmp_path / "restored/weights.bin").read_bytes()


def test_wrong_record_is_found_by_the_replay(running: Cup, tmp_path: Path) -> None:
    files = running.contest.files
    digest = next(name for name in results(running.folder) if b'"winner":0' in files.get(name))
    forged = files.put(files.get(digest).replace(b'"winner":0', b'"winner":1', 1))
    with closing(sqlite3.connect(running.folder / "contest.db")) as database, database:
        for table in ("attempts", "results"):
            database.execute(f"UPDATE {table} SET record = ? WHERE record = ?", (forged, digest))  # noqa: S608 our names
    with pytest.raises(InputError, match="a replay of the records failed"):
        back_up(running.planned, tmp_path / "backup")
    back_up(running.planned, tmp_path / "unsampled", sample=0)
    with pytest.raises(InputError, match="a replay of the records failed"):
        restore(tmp_path / "unsampled", tmp_path / "restored")


def test_backup_and_restore_have_directories_of_their_own(running: Cup, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="outside the contest's folder"):
        back_up(running.planned, running.folder / "backup")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/other.txt").write_text("x")
    with pytest.raises(InputError, match="neither empty nor a backup"):
        back_up(running.planned, tmp_path / "full")
    with pytest.raises(InputError, match="a directory that judge contest backup completed"):
        restore(tmp_path / "full", tmp_path / "restored")

    back_up(running.planned, tmp_path / "backup")
    (tmp_path / "restored").mkdir()
    restore(tmp_path / "backup", tmp_path / "restored")
    with pytest.raises(InputError, match="not empty"):
        restore(tmp_path / "backup", tmp_path / "restored")


def test_missing_record_ends_the_backup_and_keeps_the_former_one(running: Cup, tmp_path: Path) -> None:
    former = back_up(running.planned, tmp_path / "backup").manifest
    running.play(1)
    running.contest.files.path(results(running.folder)[-1]).unlink()

    with pytest.raises(HostError, match="records are missing"):
        back_up(running.planned, tmp_path / "backup")
    assert former == read_manifest(tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored")


AGENT_FILES = {
    "agent.toml": "x", "Cargo.lock": "x", "poetry.lock": "x", "lock": "x", ".lock": "x", "events.ndjson": "x",
    "log.partial": "x", "test.pem": "-----BEGIN PRIVATE KEY-----", "contest.db-wal": "x",
    "cert/manifest.sig": "x", "cert/ca.pem": "x", "exports/a": "x", "files/ab/c": "x", "agents/d": "x",
    "submissions/schedule/lock": "x",
}  # fmt: skip
"""Names that a contest's folder uses for other things."""


def test_files_of_a_listed_agent_are_restored_with_the_same_digest(running: Cup, tmp_path: Path) -> None:
    program = running.folder / next(iter(STRONG_TO_WEAK))
    for name, text in AGENT_FILES.items():
        (program / name).parent.mkdir(parents=True, exist_ok=True)
        (program / name).write_text(text)
    (program / "run").symlink_to("agent.toml")
    (tmp_path / "shared.txt").write_text("shared")
    (program / "shared").symlink_to(tmp_path / "shared.txt")
    (program / "agent.toml").chmod(0o755)

    back_up(running.planned, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored")

    restored = tmp_path / "restored" / program.name
    assert program_digest(program) == program_digest(restored)
    expected = {*AGENT_FILES, "run", "shared"}
    assert expected == {path.relative_to(restored).as_posix() for path in restored.rglob("*") if path.is_file()}


def test_files_that_the_judge_makes_again_are_left_out(running: Cup, tmp_path: Path) -> None:
    derived = {"lock", "events.ndjson", "exports/1/public/index.html", "published/index.html"}
    organiser_files = {"openings.lock", "notes/lock", "notes/manifest.sig", "notes/events.ndjson"}
    for name in derived | organiser_files:
        (running.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (running.folder / name).write_text("x")
    found = back_up(running.planned, tmp_path / "backup").manifest.files.keys()
    assert organiser_files <= found
    assert not derived & found


def test_links_to_directories_are_followed_inside_the_folder_and_reported_outside(running: Cup, tmp_path: Path) -> None:
    (running.folder / "books").mkdir()
    (running.folder / "books/one.txt").write_text("1")
    (running.folder / "library").symlink_to("books")
    (running.folder / "books/loop").symlink_to("..")
    (running.folder / "outside").symlink_to("/usr")
    report = back_up(running.planned, tmp_path / "backup")
    assert {"books/one.txt", "library/one.txt"} <= report.manifest.files.keys()
    assert {"books/loop", "library/loop", "outside"} == set(report.links)
    (running.folder / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    with pytest.raises(InputError, match="not UTF-8"):
        back_up(running.planned, tmp_path / "backup")


def test_damaged_copy_is_written_again(running: Cup, tmp_path: Path) -> None:
    back_up(running.planned, tmp_path / "backup")
    change_backup(tmp_path / "backup", CHANGES["a damaged record"])
    with pytest.raises(InputError, match="changed or damaged"):
        restore(tmp_path / "backup", tmp_path / "restored")
    back_up(running.planned, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_contest_on_a_read_only_file_system_is_backed_up(running: Cup, tmp_path: Path) -> None:
    running.store.close()
    with ExitStack() as mounts:
        report = back_up(load_plan(mounted(running.folder, mounts)), tmp_path / "backup")
    assert 5 == report.manifest.games
    restore(tmp_path / "backup", tmp_path / "restored")


def in_plan(line: str) -> Callable[[Path, Any], None]:
    """Another line at the top of contest.toml."""

    def forge(backup: Path, manifest: Any) -> None:
        entry, copies = manifest["files"]["contest.toml"], Files(backup / "files")
        text = f"{line.format(outside=backup.parent / 'outside.db')}\n"
        entry["sha256"] = copies.put(text.encode() + copies.get(entry["sha256"]))

    return forge


def as_postgresql(line: str) -> Callable[[Path, Any], None]:
    def forge(backup: Path, manifest: Any) -> None:
        in_plan(line)(backup, manifest)
        manifest.update(store="postgresql", log_size=0, log_root=hashlib.sha256(b"").hexdigest(), stored=[], games=0)

    return forge


def in_database(command: str) -> Callable[[Path, Any], None]:
    def forge(backup: Path, manifest: Any) -> None:
        path = backup / "database" / manifest["database"]
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(command)
        manifest["database"] = hashlib.sha256(path.read_bytes()).hexdigest()
        path.rename(path.with_name(manifest["database"]))

    return forge


def with_files(*names: str) -> Callable[[Path, Any], None]:
    return lambda _, manifest: manifest["files"].update(dict.fromkeys(names, manifest["files"]["contest.toml"]))


def in_manifest(key: str, value: Any) -> Callable[[Path, Any], None]:
    return lambda _, manifest: manifest.update({key: value})


def damage(digest_of: Callable[[Any], str], folder: str = "files") -> Callable[[Path, Any], None]:
    def forge(backup: Path, manifest: Any) -> None:
        digest = digest_of(manifest)
        path = backup / folder / digest if folder == "database" else Files(backup / folder).path(digest)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)

    return forge


def change_backup(backup: Path, forge: Callable[[Path, Any], object]) -> None:
    path = backup / MANIFEST
    manifest = json.loads(path.read_bytes())
    forge(backup, manifest)
    path.write_text(json.dumps(manifest))


CHANGES: dict[str, Callable[[Path, Any], object]] = {
    "another folder's database": in_plan('store = "sqlite:///{outside}"'),
    "the same, called PostgreSQL": as_postgresql('store = "sqlite:///{outside}"'),
    "the same with a driver": as_postgresql('store = "sqlite+pysqlite:///{outside}"'),
    "a driver": in_plan('store = "sqlite+pysqlite:///{outside}"'),
    "an address": in_plan('store = "sqlite:///file:{outside}?uri=true"'),
    "a damaged record": damage(lambda manifest: manifest["stored"][0]),
    "a damaged database": damage(lambda manifest: manifest["database"], "database"),
    "a damaged file": damage(lambda manifest: manifest["files"]["contest.toml"]["sha256"]),
    "a missing record": lambda backup, manifest: Files(backup / "files").path(manifest["stored"][0]).unlink(),
    "a path outside": with_files("../contest.toml"),
    "a name with NUL": with_files("a\0b"),
    "the plan's own partial name": with_files("contest.toml.partial"),
    "a file in a file": with_files("a", "a/b"),
    "a log of the database": with_files("contest.db-wal"),
    "a journal of the database": with_files("contest.db-journal"),
    "a record that is no digest": in_manifest("stored", ["../../x"]),
    "an agent with other files": in_manifest("programs", {"anna": "0" * 64}),
    "an agent that is no digest": in_manifest("agents", {"../x": "../y"}),
    "a missing table": in_database("DROP TABLE results"),
    "an unread missing table": in_database("DROP TABLE tokens"),
    "a trigger": in_database("CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM results; END"),
    "a view": in_database("CREATE VIEW v AS SELECT 1"),
    "no results": in_database("DELETE FROM results"),
    "no attempts": in_database("DELETE FROM attempts"),
    "no contest": in_database("DELETE FROM contests"),
    "another document": in_database("UPDATE contests SET document = '{}'"),
    "another winner": in_database("UPDATE results SET winner = 1 - winner WHERE winner IS NOT NULL"),
    "an event of bytes": in_database("UPDATE journal SET event = x'ff' WHERE number = 1"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_backup_is_refused_and_nothing_is_written(change: str, backup: Path, tmp_path: Path) -> None:
    shutil.copytree(backup, tmp_path / "backup")
    change_backup(tmp_path / "backup", CHANGES[change])
    before = set(tmp_path.iterdir())

    with pytest.raises((InputError, HostError)) as refused:
        restore(tmp_path / "backup", tmp_path / "restored")
    assert str(refused.value).isprintable()
    assert before == set(tmp_path.iterdir())


def test_a_restore_removes_what_a_killed_one_left_and_nothing_else(running: Cup, tmp_path: Path) -> None:
    back_up(running.planned, tmp_path / "backup")
    killed, used = tmp_path / ".restored.00000000.partial", tmp_path / ".restored.11111111.partial"
    other = tmp_path / ".restored.partial"
    for place in (killed, used, other):
        place.mkdir()
        (place / "precious").write_text("x")
    folder = os.open(used, os.O_RDONLY)
    assert try_lock(folder)

    restore(tmp_path / "backup", tmp_path / "restored")
    os.close(folder)
    assert {used, other} == set(tmp_path.glob(".*.partial"))
    assert "x" == (other / "precious").read_text()
