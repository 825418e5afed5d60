"""A damaged database: a backup of it is refused, the former backup stays, and each command names the damage."""

import random
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from judge.base.errors import HostError, InputError, StoreDamagedError
from judge.contest.backup import back_up
from judge.contest.backup_check import MANIFEST
from judge.contest.contest import open_store
from judge.contest.plan import Planned, load_plan
from judge.contest.restore import restore
from judge.store.sqlite_files import damage_of
from judge.transparency.keys import make_key
from tests import forked
from tests.examples import of_lanes, sized
from tests.publish.cups import STRONG_TO_WEAK, Cup

PAGES = sized(8, 40)
"""Pages of the database that are damaged one by one."""

PAGE_BYTES = 4096

LEFT = "removed what an earlier judge left"
"""Said before the sentence if tests at the same time leave boxes."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contest with results, closed, and with a backup in the folder next to it."""
    outer = tmp_path_factory.mktemp("damaged")
    with Cup(outer / "cup", STRONG_TO_WEAK, more="[failures]\nafter = 1000") as cup:
        make_key(cup.folder / "organiser.key")
        cup.play(4, void=[2])
        back_up(cup.planned, outer / "backup", sample=0)
        cup.play(2)
    with closing(sqlite3.connect(outer / "cup/contest.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return outer


@pytest.fixture
def cup(folder: Path, tmp_path: Path) -> Planned:
    """A copy of the contest that may be damaged, with a copy of its backup."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return load_plan(tmp_path / "cup")


def pages(database: Path) -> Iterator[int]:
    count = database.stat().st_size // PAGE_BYTES
    yield from sorted(random.Random(54).sample(range(count), min(PAGES, count)))


def clear(database: Path, page: int) -> None:
    with database.open("r+b") as file:
        file.seek(page * PAGE_BYTES)
        file.write(bytes(PAGE_BYTES))


def test_backup_with_a_damaged_page_is_refused_or_can_be_restored(folder: Path, cup: Planned, tmp_path: Path) -> None:
    database, backup = tmp_path / "cup/contest.db", tmp_path / "backup"
    former, refused = (backup / MANIFEST).read_bytes(), 0
    for page in pages(folder / "cup/contest.db"):
        shutil.copyfile(folder / "cup/contest.db", database)
        clear(database, page)
        try:
            back_up(cup, backup, sample=0)
        except (InputError, HostError):
            refused += 1
            assert former == (backup / MANIFEST).read_bytes(), page
        else:
            former = (backup / MANIFEST).read_bytes()
        restore(backup, tmp_path / f"restored-{page}", sample=0)
    assert refused


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("UPDATE games SET spec = CAST(zeroblob(9000) AS TEXT) WHERE number = 1", "games has a value of a wrong kind"),
        ("UPDATE games SET spec = replace(spec, 'turn_ms', 'turn_mr') WHERE number = 9", "damaged"),
        ("UPDATE games SET spec = replace(spec, '\"turn_ms\":30000', '\"turn_ms\":20000') WHERE number = 9", "game 9"),
        ('UPDATE games SET spec = replace(spec, \'"name":"bert"\', \'"name":"bort"\')', "the terms of game"),
        ("UPDATE games SET first = second, second = first WHERE number = 9", "the games differ from the log"),
        ("UPDATE games SET leg = leg + 1 WHERE number = 9", "the games differ from the log"),
        ("UPDATE entries SET entry = replace(entry, 'A script', 'A skript') WHERE name = 'anna'", "the entry anna"),
        ("UPDATE journal SET at = replace(at, '20', '2q')", "damaged"),
    ],
)
def test_backup_of_a_changed_database_is_refused(change: str, problem: str, cup: Planned, tmp_path: Path) -> None:
    """SQLite takes it for valid."""
    former = (tmp_path / "backup" / MANIFEST).read_bytes()
    assert cup.database_file is not None
    with closing(sqlite3.connect(cup.database_file)) as database, database:
        assert database.execute(change).rowcount
        assert [("ok",)] == database.execute("PRAGMA integrity_check").fetchall()

    with pytest.raises((InputError, HostError), match=problem):
        back_up(cup, tmp_path / "backup", sample=0)
    assert former == (tmp_path / "backup" / MANIFEST).read_bytes()


def test_undamaged_database_has_no_damage_while_another_process_writes(cup: Planned) -> None:
    assert cup.database_file is not None
    with closing(sqlite3.connect(cup.database_file)) as writer, writer:
        writer.execute("BEGIN IMMEDIATE")
        assert damage_of(cup.database_file) is None


def page_of(table: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as database:
            [(page,)] = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,))
        clear(path, page - 1)

    return damage


DAMAGES: dict[str, Callable[[Path], object]] = {
    "first page": lambda path: clear(path, 0),
    "results": page_of("results"),
    "journal": page_of("journal"),
    "contests": page_of("contests"),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 - 100]),
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("not a database\n" * 1000),
}

COMMANDS: Sequence[Sequence[str]] = (
    ("contest", "standings", "cup"),
    ("contest", "status", "cup"),
    ("contest", "status", "cup", "--games"),
    ("contest", "journal", "cup"),
    ("contest", "plan", "cup"),
    ("show", "cup", "--game", "1"),
    ("contest", "pause", "cup", "--why", "x"),
    ("contest", "void", "1", "cup", "--why", "x"),
    ("contest", "disqualify", "anna", "cup", "--why", "x"),
    ("contest", "export", "public", "cup"),
    ("contest", "export", "pages", "cup", "--unsigned"),
    ("contest", "backup", "cup", "backup"),
    ("contest", "folders", "cup"),
    ("contest", "run", "cup"),
    ("stats", "cup"),
    ("submissions", "list", "cup"),
    ("tokens", "make", "ada", "cup"),
    ("tokens", "list", "cup"),
)


@pytest.mark.slow
@pytest.mark.parametrize("damage", of_lanes(DAMAGES, ["results"]))
def test_commands_on_a_damaged_database_print_one_sentence(damage: str, cup: Planned, tmp_path: Path) -> None:
    assert cup.database_file is not None
    DAMAGES[damage](cup.database_file)
    damaged = cup.database_file.read_bytes()
    named = 0
    for command in COMMANDS:
        words = [sys.executable, "-m", "judge.cli", *command]
        done = forked.run(words, cwd=tmp_path, text=True)
        cup.database_file.write_bytes(damaged)
        assert "unexpected error" not in done.stderr, (command, done.stderr)
        assert "Traceback" not in done.stderr, (command, done.stderr)
        said = [line for line in done.stderr.splitlines() if LEFT not in line]
        assert not done.returncode or len(said) <= 1, (command, done.stderr)  # contest plan prints what is missing
        named += "judge contest restore BACKUP" in done.stderr
    assert named > len(COMMANDS) // 3


def test_empty_database_of_a_contest_with_records_is_a_damaged_one(cup: Planned) -> None:
    assert cup.database_file is not None
    cup.database_file.write_bytes(b"")
    with pytest.raises(StoreDamagedError, match="is empty"):
        open_store(cup)
