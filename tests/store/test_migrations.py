"""A store of the baseline schema is upgraded with all its rows, and one of an older or later schema is refused.

`stores/0013.db.xz` is a store that a judge of schema 0013 made, with rows in every table. `stores/0013.postgresql.sql`
creates the same tables on PostgreSQL.
"""

import json
import lzma
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, MetaData, create_engine, func, insert, inspect, select, text

from judge.base.errors import InputError
from judge.contest_games import AttemptState, GameState
from judge.store.contests import Store
from judge.store.database import connect
from judge.store.notices import WAITING, Notices
from judge.store.orders import Orders
from judge.store.practice_games import PracticeGames
from judge.store.submissions import Register
from judge.store.tables import metadata
from judge.store.tokens import Tokens
from judge.store.types import State

STORES = Path(__file__).parent / "stores"


def later() -> datetime:
    """A time after those in the stored database."""
    return datetime(2031, 1, 1, tzinfo=UTC)


@pytest.fixture
def baseline(url: str, tmp_path: Path) -> str:
    """The URL of a store of schema 0013."""
    stored = tmp_path / "round.db"
    stored.write_bytes(lzma.decompress((STORES / "0013.db.xz").read_bytes()))
    if url.startswith("postgresql"):
        source, target = create_engine(f"sqlite:///{stored}"), create_engine(url)
        tables = MetaData()
        with source.connect() as before, target.begin() as after:
            after.execute(text((STORES / "0013.postgresql.sql").read_text()))
            tables.reflect(after)
            for table in tables.sorted_tables:
                rows = [row._asdict() for row in before.execute(select(table))]
                after.execute(insert(table), rows)
                if "id" in table.c and table.c.id.type.python_type is int:
                    name = select(func.pg_get_serial_sequence(table.name, "id")).scalar_subquery()
                    after.execute(select(func.setval(name, len(rows))))
        source.dispose()
        target.dispose()
    return url


def rows_of(url: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table."""
    engine, tables = create_engine(url), MetaData()
    with engine.connect() as connection:
        tables.reflect(connection)
        found = {
            table.name: [dict(row._mapping) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in tables.sorted_tables
        }
    engine.dispose()
    return found


def test_a_baseline_store_keeps_every_row(baseline: str) -> None:
    before = rows_of(baseline)
    connect(baseline).dispose()
    after = rows_of(baseline)

    for notice in before["notices"]:
        notice["failures"] = notice.pop("tries")
    for practice_game in before["practice_games"]:
        practice_game |= {"due_at": None, "challenged": ""}
    before["games"] = before.pop("matches")
    for game in before["games"]:
        game["leg"] = game.pop("game")
    for of_a_game in (*before["attempts"], *before["results"], *before["journal"]):
        of_a_game["game"] = of_a_game.pop("match")
    for entry in before["entries"]:
        entry |= {"withdrawn": None, "is_annulled": False}
    for submission in before["submissions"]:
        submission["title"] = ""
    for result in before["results"]:
        result["moves"] = ""
    before["alembic_version"][0]["version_num"] = "0019"
    assert all(before.values())
    assert before == after


def test_display_names_move_from_agents_into_a_column(baseline: str) -> None:
    engine = create_engine(baseline)
    with engine.begin() as connection:
        agent = json.dumps({"manifest": {}, "title": "Žofinka 五"})
        connection.execute(text("UPDATE submissions SET agent = :agent WHERE id = 2"), {"agent": agent})
    engine.dispose()

    with closing(Register(baseline, "cup", later)) as register:
        found = {each.id: each for each in register.submissions()}

    assert ["", "Žofinka 五", ""] == [found[number].title for number in (1, 2, 3)]
    assert '{"manifest": {}}' == found[1].agent == found[2].agent


def test_an_upgraded_store_has_the_schema_of_a_new_one(baseline: str) -> None:
    connect(baseline).dispose()
    engine = create_engine(baseline)
    upgraded = schema(engine)
    with engine.begin() as connection:
        metadata.drop_all(connection)
        connection.execute(text("DROP TABLE alembic_version"))
    connect(baseline).dispose()

    assert {*(table.name for table in metadata.sorted_tables), "alembic_version"} == set(upgraded)
    assert upgraded == schema(engine)
    engine.dispose()


def test_an_upgraded_store_is_used(baseline: str) -> None:
    with (
        closing(Store(baseline)) as store,
        closing(Register(baseline, "cup", later)) as register,
        closing(PracticeGames(baseline, "cup", later)) as games,
        closing(Notices(baseline, "cup", later)) as notices,
        closing(Tokens(baseline, "cup")) as tokens,
        closing(Orders(baseline, "cup")) as orders,
    ):
        assert [AttemptState.ACCEPTED, AttemptState.VOID, AttemptState.RUNNING] == [
            attempt.state for attempt in store.attempts("cup")
        ]
        assert ["five"] == [result.winner for result in store.results("cup")]
        assert ["five", "six"] == [entry.name for entry in register.entries()]
        assert ["Olga"] == [holder.name for holder in tokens.organisers()]
        assert ["done"] == [order.done for order in orders.latest(9)]
        assert {"test": 0, "result": 1} == {each.kind: each.failures for each in notices.of("ada", 9)}

        failed_once = register.take("3" * 32)
        assert failed_once is not None
        assert ("kim", State.PROCESSING, 2) == (failed_once.author, failed_once.state, failed_once.attempt)
        (result,) = (each for each in notices.of("ada", 9) if each.kind == "result")
        failed = notices.fail(result.id, None, "the receiver answered 500", 3, 60)
        assert (WAITING, 2) == (failed.state, failed.failures)
        (running,) = games.give_back(lambda *_: True, allowed=3)
        played = [game.id for game in iter(lambda: games.take("3" * 32), None)]
        assert running in played
        assert GameState.RUNNING is games.get(running, "bob").state


@pytest.mark.parametrize("revision", ["0004", "0012", "9999"])
def test_a_store_of_another_schema_is_refused_unchanged(baseline: str, revision: str) -> None:
    engine = create_engine(baseline)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    before = rows_of(baseline)

    with pytest.raises(InputError, match=f"its schema is {revision}, .*: open an older store once with the judge of"):
        connect(baseline)

    assert before == rows_of(baseline)
    engine.dispose()


def schema(engine: Engine | Connection) -> dict[str, Any]:
    """Of every table the columns, keys, indexes and unique constraints, as the database knows them.

    Their names and the width of whole numbers in SQLite, which stores all alike, are left out.
    """
    found = inspect(engine)
    tables: dict[str, Any] = {}
    for table in found.get_table_names():
        tables[table] = (
            {
                column["name"]: (
                    str(column["type"]).replace("BIGINT", "INTEGER" if is_sqlite(engine) else "BIGINT"),
                    column["nullable"],
                )
                for column in found.get_columns(table)
            },
            found.get_pk_constraint(table)["constrained_columns"],
            sorted(
                (key["constrained_columns"], key["referred_table"], key["referred_columns"])
                for key in found.get_foreign_keys(table)
            ),
            sorted((index["name"] or "", index["column_names"], index["unique"]) for index in found.get_indexes(table)),
            sorted(unique["column_names"] for unique in found.get_unique_constraints(table)),
        )
    return tables


def is_sqlite(engine: Engine | Connection) -> bool:
    return engine.dialect.name == "sqlite"
