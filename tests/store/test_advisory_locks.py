"""Locks of the store: no two uses share one, and a wait for one ends with an error that names the cause."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, text

from judge.base.errors import StoreBusyError, StoreLostError
from judge.contest.orders.submission_orders import Message, Refuse
from judge.journal.events import ImagesChanged, Resumed
from judge.store import database
from judge.store.contests import Store
from judge.store.database import AdvisoryLock
from judge.store.notices import Notices
from judge.store.orders import OrganiserOrder
from judge.store.practice_games import PracticeGames
from judge.store.submissions import Register
from judge.store.types import EntryRow, ProcessingResult, Upload

NAME = "cup"

FIVE = Upload("ada", "", "five.zip", "a" * 64, 1)


def write_all(url: str) -> None:
    """Make every kind of write that a service and an organiser make."""
    with (
        closing(Register(url, NAME)) as register,
        closing(Notices(url, NAME)) as notices,
        closing(Store(url)) as store,
        closing(PracticeGames(url, NAME)) as practice,
    ):
        number = register.receive(Upload("ada", "five", "five.zip", "a" * 64, 1)).id
        taken = register.take("w")
        assert taken is not None
        assert number == taken.id
        register.finish(number, taken.attempt, ProcessingResult("", "five", "d" * 64, "{}", None, None), practice=1)
        assert practice.take("w") is not None
        notices.set_webhook("ada", "https://example.org/", "secret")
        notices.derive()
        for order in (
            Message(notices, OrganiserOrder("Olga", "message", "", "hello")),
            Refuse(register, OrganiserOrder("Olga", "refuse", str(number), "why")),
        ):
            assert order.preview().done == order.carry_out().done
        store.set_state(NAME, Resumed("why"))
        store.remark(NAME, ImagesChanged("text"))


def take_lease(store: Store) -> None:
    with store.lease(NAME, "judge on one"):
        store.check_lease()
        store.remark(NAME, ImagesChanged("with the lease"))


@contextmanager
def session(url: str) -> Iterator[Connection]:
    engine = create_engine(url)
    with engine.connect() as connected:
        yield connected
    engine.dispose()


@pytest.fixture
def cup(url: str) -> str:
    """A store with a contest that has begun."""
    with closing(Store(url)) as store:
        store.create(NAME, "{}", [EntryRow("listed", 1, "{}")])
    return url


on_postgresql = pytest.mark.parametrize(
    "url", [pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True, ids=["postgresql"]
)


def test_a_contest_that_runs_keeps_no_write_of_the_service_waiting(cup: str) -> None:
    with closing(Store(cup)) as store, store.lease(NAME, "judge on one"):
        write_all(cup)
        store.remark(NAME, ImagesChanged("with the lease"))


@on_postgresql
@pytest.mark.parametrize("lock", [AdvisoryLock.REGISTER, AdvisoryLock.NOTICES])
def test_a_lock_of_the_service_refuses_no_run_of_the_contest(cup: str, lock: AdvisoryLock) -> None:
    with session(cup) as other, closing(Store(cup)) as store:
        other.execute(text("SELECT pg_advisory_xact_lock(:key, hashtext(:name))"), {"key": lock.value, "name": NAME})
        take_lease(store)


def of_service(lock: AdvisoryLock) -> str:
    return f"SELECT pg_advisory_xact_lock({lock.value}, hashtext('{NAME}'))"


def register_of(url: str) -> Register:
    return Register(url, NAME)


ROW = "SELECT * FROM contests FOR UPDATE"

WAITS: dict[str, tuple[str, Callable[[str], Any], Callable[[Any], object]]] = {
    "register": (of_service(AdvisoryLock.REGISTER), register_of, lambda register: register.receive(FIVE)),
    "worker": (of_service(AdvisoryLock.REGISTER), register_of, lambda register: register.take("w")),
    "notices": (of_service(AdvisoryLock.NOTICES), lambda url: Notices(url, NAME), lambda notices: notices.derive()),
    "row": (ROW, Store, lambda store: store.remark(NAME, ImagesChanged("text"))),
    "row in a lease": (ROW, Store, take_lease),
    "table": ("LOCK TABLE submissions IN ACCESS EXCLUSIVE MODE", register_of, lambda register: register.submissions()),
    "migration": (
        f"SELECT pg_advisory_xact_lock({AdvisoryLock.MIGRATION.value})",
        Store,
        lambda store: store.contest_names(),
    ),
}
"""The lock of another process, a part of the store, and what waits for the lock."""


@on_postgresql
@pytest.mark.parametrize("wait", WAITS)
def test_a_wait_for_a_lock_ends_with_an_error(cup: str, wait: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, open_part, use = WAITS[wait]
    monkeypatch.setattr(database, "LOCK_TIMEOUT_S", 0.2)
    monkeypatch.setattr(database, "MIGRATION_TIMEOUT_S", 0.2)
    with session(cup) as other:
        other.execute(text(lock))
        with (
            pytest.raises(StoreBusyError, match="the store is busy: another process keeps it locked"),
            closing(open_part(cup)) as part,
        ):
            use(part)
        other.rollback()
        with closing(open_part(cup)) as part:
            use(part)


def test_a_wait_for_sqlite_ends_with_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SQLITE_LOCK_TIMEOUT_S", 0.1)
    url = f"sqlite:///{tmp_path / 'cup.db'}"
    with closing(Register(url, NAME)) as register, session(url) as other:
        other.exec_driver_sql("BEGIN IMMEDIATE")
        with pytest.raises(StoreLostError, match="the store is busy"):
            register.receive(FIVE)
        other.rollback()
        register.receive(FIVE)


def test_a_query_waits_for_no_writer(cup: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SQLITE_LOCK_TIMEOUT_S", 0.1)
    with session(cup) as other, closing(Store(cup)) as store, closing(Register(cup, NAME)) as register:
        other.execute(text("UPDATE contests SET state = 'paused'"))
        assert "open" == store.state(NAME)
        assert [] == register.submissions()
        other.rollback()
