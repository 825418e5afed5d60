"""A backup of a contest in PostgreSQL: the dump of pg_dump is checked before it is part of a backup."""

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.contest.backup import back_up
from judge.contest.backup_check import MANIFEST, check_backup, load_dump, read_manifest
from judge.contest.plan import load_plan
from judge.contest.restore import restore
from tests.examples import evidence
from tests.faults.test_backup_killed import KILLS, SEED, calls_of, in_a_fork, left_in, temporary
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.store.server import execute, running

__all__ = ["temporary"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running() as found:
        yield found.url


@pytest.fixture
def database(server: str) -> str:
    anew = "DROP DATABASE IF EXISTS cup WITH (FORCE)", "CREATE DATABASE cup"
    execute(server, *anew, isolation_level="AUTOCOMMIT")
    return server.replace("/postgres?", "/cup?")


@pytest.fixture
def cup(database: str, tmp_path: Path) -> Iterator[Cup]:
    with Cup(tmp_path / "cup", STRONG_TO_WEAK, more=f'store = "{database}"\n[failures]\nafter = 1000') as cup:
        cup.play(4)
        yield cup


def client(program: str, database: str, *arguments: str) -> None:
    subprocess.run([program, *arguments, f"--dbname={database.replace('+psycopg', '')}"], check=True, text=True)


def dump(database: str, path: Path, *more: str) -> Path:
    client("pg_dump", database, "--format=custom", f"--file={path}", *more)
    return path


def test_contest_is_restored_from_its_dump(cup: Cup, database: str, tmp_path: Path) -> None:
    path = dump(database, tmp_path / "cup.dump")
    games = len(cup.contest.view().results)
    cup.play(1)
    manifest = back_up(cup.planned, tmp_path / "backup", dump=path).manifest
    assert games == manifest.games

    with pytest.raises(InputError, match="this database is not that of the backup"):
        restore(tmp_path / "backup", tmp_path / "restored", store=database)
    with pytest.raises(InputError, match="then name that database: --store"):
        restore(tmp_path / "backup", tmp_path / "restored")
    cup.store.close()
    kept = tmp_path / "backup/database" / manifest.database
    client("pg_restore", database, "--clean", "--if-exists", "--no-owner", str(kept))
    assert manifest == restore(tmp_path / "backup", tmp_path / "restored", store=database).manifest
    other = f"{database}&application_name=restored"
    restore(tmp_path / "backup", tmp_path / "elsewhere", store=other)
    assert other == load_plan(tmp_path / "elsewhere").plan.store


def test_dump_of_another_contest_or_without_tables_is_refused(cup: Cup, database: str, tmp_path: Path) -> None:
    path = dump(database, tmp_path / "part.dump", "--exclude-table-data=journal")
    with pytest.raises(InputError, match="the data of journal is missing"):
        back_up(cup.planned, tmp_path / "backup", dump=path)
    (tmp_path / "text.dump").write_text("no dump")
    with pytest.raises(InputError, match="new dump with pg_dump --format=custom"):
        back_up(cup.planned, tmp_path / "backup", dump=tmp_path / "text.dump")
    with pytest.raises(InputError, match="first run pg_dump"):
        back_up(cup.planned, tmp_path / "backup")


@pytest.mark.parametrize("compression", ["0", pytest.param("6", marks=evidence)])
def test_damaged_dump_leaves_the_former_backup(compression: str, cup: Cup, database: str, tmp_path: Path) -> None:
    whole = dump(database, tmp_path / "cup.dump", f"--compress={compression}").read_bytes()
    former = back_up(cup.planned, tmp_path / "backup", dump=tmp_path / "cup.dump", sample=0).manifest
    damaged = tmp_path / "damaged.dump"
    chance = random.Random(54)
    for length in sorted({len(whole) - 1, len(whole) - 100, *(chance.randrange(len(whole)) for _ in range(12))}):
        damaged.write_bytes(whole[:length])
        try:
            back_up(cup.planned, tmp_path / "backup", dump=damaged, sample=0)
        except InputError:
            assert former == read_manifest(tmp_path / "backup"), length
        else:
            former = read_manifest(tmp_path / "backup")
            check_backup(tmp_path / "backup", former, 0, {})
            assert former.games == len(cup.contest.view().results)
    damaged.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError):
        back_up(cup.planned, tmp_path / "backup", dump=damaged, sample=0)


DAMAGES = {
    "a row twice": ("contests", "{row}{row}"),
    "a NULL": ("contests", "\\N\t{rest}"),
    "a number beyond SQLite": ("journal", "99999999999999999999\t{rest}"),
    "a game of no contest": ("attempts", "nothing\t{rest}"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_dump_with_impossible_rows_is_refused(
    kind: str, cup: Cup, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = dump(database, tmp_path / "cup.dump")
    table, changed = DAMAGES[kind]
    whole = subprocess.run(["pg_restore", "--data-only", "--file=-", path], capture_output=True, check=True).stdout
    lines, row = [], -1
    for line in whole.decode().splitlines(keepends=True):
        row = 0 if line.startswith(f"COPY public.{table} ") else row + 1 if row >= 0 else -1
        lines.append(changed.format(row=line, rest=line.partition("\t")[2]) if row == 1 else line)
    (tmp_path / "text").write_text("".join(lines))
    program = tmp_path / "pg_restore"
    program.write_text(f"#!/bin/sh\ncat {tmp_path / 'text'}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(InputError, match="the copy of the database is damaged: "):
        back_up(cup.planned, tmp_path / "backup", dump=path)


def test_dump_of_a_changed_history_is_refused(cup: Cup, database: str, tmp_path: Path) -> None:
    path = dump(database, tmp_path / "cup.dump")
    execute(database, "UPDATE journal SET at = '2013-03-02T18:00:00.000+00:00' WHERE number = 1")
    with pytest.raises(InputError, match="was forked"):
        back_up(cup.planned, tmp_path / "backup", dump=path)


def test_many_warnings_of_pg_restore_do_not_stop_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "pg_restore"
    program.write_text("#!/bin/sh\nhead -c 1000000 /dev/zero | tr '\\0' x >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(InputError, match="cannot read it: xxx"):
        load_dump(tmp_path / "cup.dump", tmp_path / "cup.db")


@evidence
def test_killed_backups_and_restores_are_repeated(cup: Cup, database: str, tmp_path: Path, temporary: Path) -> None:
    path, target = dump(database, tmp_path / "cup.dump"), tmp_path / "backup"
    calls = calls_of(lambda: back_up(cup.planned, tmp_path / "measured", dump=path))
    moments, codes = random.Random(SEED), []
    for _ in range(KILLS):
        codes.append(in_a_fork(lambda: back_up(cup.planned, target, dump=path), moments.randint(1, calls)))
        assert not (target / MANIFEST).exists() or read_manifest(target).games == 4
    manifest = back_up(cup.planned, target, dump=path).manifest

    folder = tmp_path / "restored"
    calls = calls_of(lambda: restore(target, tmp_path / "once", sample=1, store=database))
    for number in range(KILLS):
        last = moments.randint(1, calls)
        codes.append(in_a_fork(lambda: restore(target, folder, sample=1, store=database), last))
        if folder.exists():
            assert load_plan(folder).plan.store == database
            folder.rename(tmp_path / f"complete-{number}")
    assert {0, -signal.SIGKILL} >= {*codes}
    assert codes.count(-signal.SIGKILL) > KILLS
    assert manifest == restore(target, folder, store=database).manifest
    assert [] == list(tmp_path.glob(".*.partial"))
    assert [] == left_in(temporary)
