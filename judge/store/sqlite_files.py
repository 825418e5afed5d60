"""SQLite's files: opening them without write access, and finding damage.

Files on read-only media, and those of another user, are only read. In WAL mode SQLite creates two more files next to
the database.

    existing files          how it is opened
    neither                 `immutable=1`: it has no writer, and no file is created
    `-wal` and `-shm`       `mode=ro`: another process may be writing
    `-wal` alone            a private copy of both: the `-wal` has data, and a `-shm` cannot be created
"""

import shutil
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock
from urllib.parse import quote

from sqlalchemy import Boolean, Float, Integer, LargeBinary
from sqlalchemy.schema import Column

from judge.base.durable_files import is_only_readable
from judge.base.errors import HostError, StoreDamagedError, os_errors_as
from judge.base.owner import make_directory, remove_directory
from judge.base.text import printable
from judge.store.tables import metadata


class ReadOnlyFile:
    """A database file that is only read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wal = path.with_name(f"{path.name}-wal")
        self._lock = Lock()
        self._taken: tuple[int, int, int] | None = None
        self._folder: Path | None = None

    def connect(self) -> sqlite3.Connection:
        # Writers create and remove files at any time.
        if not _size(self._wal):
            return _opened(self._path, "immutable=1")
        if self._path.with_name(f"{self._path.name}-shm").exists():
            with suppress(sqlite3.OperationalError):
                return _opened(self._path, "mode=ro")
        return _opened(self._newest_copy(), "mode=ro")

    def _newest_copy(self) -> Path:
        with self._lock:
            found = _size(self._path), _size(self._wal), self._path.stat().st_mtime_ns
            if self._folder is None or found != self._taken:
                with os_errors_as(HostError, f"{self._path} cannot be copied for reading"):
                    folder = make_directory()
                    # Open connections keep an older copy.
                    weakref.finalize(self, remove_directory, folder)
                    for file in (self._path, self._wal):
                        shutil.copyfile(file, folder / file.name)
                self._folder, self._taken = folder, found
            return self._folder / self._path.name


def _opened(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(str(path))}?{how}", uri=True, check_same_thread=False)
    try:
        connection.execute("select count(*) from sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


# --- damage ----------------------------------------------------------------------------------------------------------


def refuse_damage(path: Path) -> None:
    """Read everything. Raises StoreDamagedError."""
    if (damage := damage_of(path)) is not None:
        raise damaged(path, damage)


def refuse_other_tables(path: Path) -> None:
    """Raises StoreDamagedError for views and triggers."""
    try:
        with closing(connected(path)) as database:
            damage = next(_other_tables(database), None)
    except sqlite3.DatabaseError as error:
        damage = str(error)
    if damage is not None:
        raise damaged(path, damage)


def damaged(path: Path | str, damage: str) -> StoreDamagedError:
    """The error for a database with this damage."""
    return StoreDamagedError(
        f"the database {path} is damaged: {printable(damage)}; end what uses it, and restore the last backup into a "
        "new folder: judge contest restore BACKUP FOLDER"
    )


def damage_of(path: Path) -> str | None:
    """The first damage."""
    try:
        with closing(connected(path)) as database:
            return next(_damages(database), None)
    except sqlite3.DatabaseError as error:
        is_operational = isinstance(error, sqlite3.OperationalError)
        if is_operational and error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        return str(error)


def connected(path: Path) -> sqlite3.Connection:
    """Connect for reading. Raises sqlite3.Error."""
    if is_only_readable(path):
        return ReadOnlyFile(path).connect()
    return sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True)


def _damages(database: sqlite3.Connection) -> Iterator[str]:
    # One snapshot, while others write.
    database.execute("BEGIN")
    yield from _other_tables(database)
    (found,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        yield found
    for row in database.execute("PRAGMA foreign_key_check"):
        yield f"a row of {row[0]} refers to a missing row of {row[2]}"
    for table in metadata.sorted_tables:
        wrong = " OR ".join(map(_wrong_value, table.columns))
        if database.execute(f'SELECT 1 FROM "{table.name}" WHERE {wrong} LIMIT 1').fetchone():  # noqa: S608 our names
            yield f"{table.name} has a value of a wrong kind"


def _other_tables(database: sqlite3.Connection) -> Iterator[str]:
    found = set(database.execute("SELECT type, name FROM sqlite_master WHERE type != 'index'"))
    yield from (f"the {kind} {name} is not judge's" for kind, name in sorted(found) if kind != "table")
    yield from (f"the table {name} is missing" for name in sorted(metadata.tables) if ("table", name) not in found)


def _wrong_value(column: Column[object]) -> str:
    """The condition. SQLite accepts a cleared page in a long text: NULs."""
    name = f'"{column.name}"'
    if isinstance(column.type, Integer | Boolean):
        return f"typeof({name}) NOT IN ('integer', 'null')"
    if isinstance(column.type, Float):
        return f"typeof({name}) NOT IN ('real', 'integer', 'null')"
    if isinstance(column.type, LargeBinary):
        return f"typeof({name}) NOT IN ('blob', 'null')"
    return f"typeof({name}) NOT IN ('text', 'null') OR instr({name}, char(0))"
