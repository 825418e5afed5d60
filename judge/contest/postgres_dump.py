"""Loads a dump that `pg_dump --format=custom` wrote into an SQLite database."""

import hashlib
import re
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sqlalchemy import Boolean, Float, Integer, LargeBinary
from sqlalchemy.schema import Column, Table

from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.text import printable
from judge.store.database import Database
from judge.store.tables import files, metadata
from judge.store.types import FileKind

_COPY = re.compile(r"COPY (?:\w+\.)?\"?(\w+)\"? \((.*)\) FROM stdin;")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)

MAX_ERROR_BYTES = 1000

Value = str | int | float | bytes | None


def load_dump(dump: Path, target: Path) -> None:
    """Load a dump into a new SQLite file, without the data of `files`. Raises InputError if it is damaged."""
    Database(f"sqlite:///{target}").close()
    loaded = set()
    with closing(sqlite3.connect(target)) as database, database:
        for table, columns, rows in _tables(_pg_restore("--data-only", "--file=-", str(dump)), dump):
            loaded.add(table.name)
            names = ", ".join(f'"{column.name}"' for column in columns)
            marks = ", ".join("?" * len(columns))
            command = f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})'  # noqa: S608 our names
            database.executemany(command, rows)
    if missing := sorted(set(metadata.tables) - loaded):
        raise InputError(f"{dump}: not a complete dump of a store: the data of {', '.join(missing)} is missing")


def _pg_restore(*arguments: str) -> Iterator[str]:
    with tempfile.TemporaryFile() as errors:  # a full pipe would stop it
        with os_errors_as(HostError, "pg_restore", "; install the client programs of PostgreSQL"):
            process = subprocess.Popen(
                ["pg_restore", *arguments],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        with process:
            if process.stdout is not None:
                yield from process.stdout
        errors.seek(0)
        said = errors.read(MAX_ERROR_BYTES).decode(errors="replace")
    if process.returncode:
        raise InputError(
            f"{arguments[-1]}: pg_restore cannot read it: {printable(said)}; make a new dump with pg_dump "
            "--format=custom, and look at its exit code"
        )


def _tables(output: Iterator[str], dump: Path) -> Iterator[tuple[Table, list[Column[object]], Iterator[list[Value]]]]:
    for line in output:
        found = _COPY.match(line)
        if found is None or (table := metadata.tables.get(found[1])) is None:
            continue
        names = [name.strip(' "') for name in found[2].split(",")]
        if unknown := sorted(set(names) ^ {column.name for column in table.columns}):
            raise InputError(
                f"{dump}: the columns of {table.name} are of another version of judge: {', '.join(unknown)}"
            )
        columns = [table.c[name] for name in names]
        yield table, columns, _rows(output, columns, dump)


def _rows(output: Iterator[str], columns: list[Column[object]], dump: Path) -> Iterator[list[Value]]:
    for line in output:
        if line == "\\.\n":
            return
        try:
            cells = zip(columns, line.rstrip("\n").split("\t"), strict=True)
            row = [_value(column, cell) for column, cell in cells]
        except ValueError as error:
            raise InputError(f"{dump}: {columns[0].table.name}: a damaged row: {printable(str(error))}") from None
        yield _without_data(row, columns, dump) if columns[0].table is files else row
    raise InputError(f"{dump}: the dump ends inside {columns[0].table.name}: it was cut short")


def _without_data(row: list[Value], columns: list[Column[object]], dump: Path) -> list[Value]:
    by_name = dict(zip((column.name for column in columns), row, strict=True))
    data, digest = by_name["data"], str(by_name["digest"])
    is_whole = isinstance(data, bytes) and hashlib.sha256(data).hexdigest() == digest
    if by_name["kind"] == FileKind.FILE and not is_whole:
        raise InputError(f"{dump}: files: {printable(digest)}: its SHA-256 differs: the dump is damaged")
    return [b"" if column.name == "data" else value for column, value in zip(columns, row, strict=True)]


def _value(column: Column[object], text: str) -> Value:
    if text == r"\N":
        return None
    plain = _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), text)
    if isinstance(column.type, Boolean):
        return {"t": 1, "f": 0}[plain] if plain in ("t", "f") else int(plain)
    if isinstance(column.type, Integer):
        return int(plain)
    if isinstance(column.type, Float):
        return float(plain)
    if isinstance(column.type, LargeBinary):
        return bytes.fromhex(plain.removeprefix(r"\x"))
    return plain
