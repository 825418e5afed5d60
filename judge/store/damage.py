"""Finds damage of an SQLite database."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Boolean, Float, Integer, LargeBinary
from sqlalchemy.schema import Column, Table

from judge.base.errors import StoreDamagedError
from judge.base.text import printable
from judge.store.read_only import ReadOnlyFile, only_reads
from judge.store.tables import metadata


def refuse_damage(path: Path) -> None:
    """Read everything. Raises StoreDamagedError."""
    if (said := damage_of(path)) is not None:
        raise damaged(path, said)


def refuse_other_tables(path: Path) -> None:
    """Raises StoreDamagedError for views and triggers."""
    try:
        with closing(connected(path)) as database:
            said = next(_other_tables(database), None)
    except sqlite3.DatabaseError as error:
        said = str(error)
    if said is not None:
        raise damaged(path, said)


def damaged(path: Path | str, said: str) -> StoreDamagedError:
    """The error."""
    return StoreDamagedError(
        f"the database {path} is damaged: {printable(said)}; end what uses it, and restore the last backup into a new "
        "folder: judge contest restore BACKUP FOLDER"
    )


def damage_of(path: Path) -> str | None:
    """The first damage."""
    try:
        with closing(connected(path)) as database:
            return next(_damages(database), None)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT:
            return str(error)
        raise
    except sqlite3.DatabaseError as error:
        return str(error)


def connected(path: Path) -> sqlite3.Connection:
    """Connect for reading. Raises sqlite3.Error."""
    return (
        ReadOnlyFile(path).connect()
        if only_reads(path)
        else sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True)
    )


def _damages(database: sqlite3.Connection) -> Iterator[str]:
    # One snapshot, while others write.
    database.execute("BEGIN")
    yield from _other_tables(database)
    (said,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    if said != "ok":
        yield said
    for row in database.execute("PRAGMA foreign_key_check"):
        yield f"a row of {row[0]} refers to a missing row of {row[2]}"
    for table in metadata.sorted_tables:
        yield from _wrong_values(database, table)


def _other_tables(database: sqlite3.Connection) -> Iterator[str]:
    found = set(database.execute("SELECT type, name FROM sqlite_master WHERE type != 'index'"))
    yield from (f"the {kind} {name} is not judge's" for kind, name in sorted(found) if kind != "table")
    yield from (f"the table {name} is missing" for name in sorted(metadata.tables) if ("table", name) not in found)


def _wrong_values(database: sqlite3.Connection, table: Table) -> Iterator[str]:
    """SQLite accepts a cleared page in a long text: NULs."""
    wrong = " OR ".join(_is_wrong(column) for column in table.columns)
    if database.execute(f'SELECT 1 FROM "{table.name}" WHERE {wrong} LIMIT 1').fetchone():  # noqa: S608 our names
        yield f"{table.name} has a value of a wrong kind"


def _is_wrong(column: Column[object]) -> str:
    name = f'"{column.name}"'
    if isinstance(column.type, Integer | Boolean):
        return f"typeof({name}) NOT IN ('integer', 'null')"
    if isinstance(column.type, Float):
        return f"typeof({name}) NOT IN ('real', 'integer', 'null')"
    if isinstance(column.type, LargeBinary):
        return f"typeof({name}) NOT IN ('blob', 'null')"
    return f"typeof({name}) NOT IN ('text', 'null') OR instr({name}, char(0))"
