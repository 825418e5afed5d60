"""The database schema of a new store; an upgraded store has the same columns."""

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from judge.store.database import connect
from judge.store.tables import metadata


def schema_text(folder: Path) -> str:
    """The schema of SQLite as the database reports it, then the statements that make PostgreSQL's."""
    path = folder / "schema.db"
    connect(f"sqlite:///{path}").dispose()
    query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name"
    with closing(sqlite3.connect(path)) as database:
        sqlite = [sql for (sql,) in database.execute(query)]
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    made: list[CreateTable | CreateIndex] = []
    for _, table in sorted(metadata.tables.items()):
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        made += [CreateTable(table), *map(CreateIndex, indexes)]
    others = [str(each.compile(dialect=dialect)) for each in made]
    return f"-- SQLite\n\n{_statements(sqlite)}\n-- PostgreSQL\n\n{_statements(others)}"


def _statements(found: list[str]) -> str:
    lines = [line.rstrip() for sql in found for line in f"{sql.strip()};\n".split("\n")]
    return "\n".join(lines)
