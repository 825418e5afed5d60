"""A store on SQLite, and the same on the PostgreSQL of the test run, which listens on a private socket alone."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judge.store.contests import Store
from judge.store.submissions import Register
from tests.store.server import execute, shared_url


class Clock:
    """A time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture(scope="session")
def postgresql() -> str:
    """The URL of a database of this process."""
    return shared_url()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'round.db'}"
    base: str = request.getfixturevalue("postgresql")
    execute(base, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return base


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with closing(Store(url)) as opened:
        yield opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def register(url: str, clock: Clock) -> Iterator[Register]:
    with closing(Register(url, "cup")) as opened:
        opened._now = clock
        yield opened
