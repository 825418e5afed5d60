"""A store of an earlier schema is upgraded with all its rows, and one of another schema is refused."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, create_engine, inspect, select

from judge.base.errors import InputError
from judge.store import database
from judge.store.database import MIGRATIONS, connect
from judge.store.tables import metadata
from judge.store.tokens import Tokens
from tests.store.server import execute

SECOND = """
import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    op.add_column("tokens", sa.Column("colour", sa.String(9), nullable=False, server_default="red"))
"""


def rows_of(url: str) -> dict[str, list[dict[str, Any]]]:
    engine, tables = create_engine(url), MetaData()
    with engine.connect() as connection:
        tables.reflect(connection)
        found = {
            table.name: [dict(row._mapping) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in tables.sorted_tables
        }
    engine.dispose()
    return found


@pytest.fixture
def filled(url: str) -> str:
    with closing(Tokens(url, "cup")) as tokens:
        tokens.make("ada", "a test")
    return url


def test_a_new_store_has_the_tables_and_the_last_schema(url: str) -> None:
    connect(url).dispose()
    engine = create_engine(url)

    expected = {*(table.name for table in metadata.sorted_tables), "alembic_version"}
    assert expected == set(inspect(engine).get_table_names())
    assert [{"version_num": "0001"}] == rows_of(url)["alembic_version"]
    engine.dispose()


def test_an_upgraded_store_keeps_every_row(filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a later judge, whose tokens have a colour."""
    before = rows_of(filled)
    later = shutil.copytree(MIGRATIONS, tmp_path / "migrations")
    (later / "versions" / "0002_colours.py").write_text(SECOND)
    monkeypatch.setattr(database, "MIGRATIONS", later)
    connect(filled).dispose()

    for token in before["tokens"]:
        token["colour"] = "red"
    before["alembic_version"][0]["version_num"] = "0002"
    assert before["tokens"]
    assert before == rows_of(filled)


@pytest.mark.parametrize("revision", ["0000", "0019", "9999"])
def test_a_store_of_another_schema_is_refused_unchanged(filled: str, revision: str) -> None:
    execute(filled, f"UPDATE alembic_version SET version_num = '{revision}'")  # noqa: S608 our text
    before = rows_of(filled)

    with pytest.raises(InputError, match=f"its schema is {revision}, .*: open it with the version that wrote it"):
        connect(filled)

    assert before == rows_of(filled)
