"""A store on SQLite, and the same on the PostgreSQL of the test run, which listens on a private socket alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from judge.store.contests import Store
from tests.store.server import shared_url


@pytest.fixture(scope="session")
def postgresql() -> str:
    """The URL of a database of this process."""
    return shared_url()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'round.db'}"
    base: str = request.getfixturevalue("postgresql")
    engine = create_engine(base)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return base


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = Store(url)
    yield opened
    opened.close()
