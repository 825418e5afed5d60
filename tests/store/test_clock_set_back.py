"""A clock that was ahead and is set back locks nobody out: moments in the future limit nothing, and retries are due.

The log's times never go back, and no game begins at a time that contradicts the log.
"""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judge.base.errors import HostError, InputError
from judge.store.contests import Store
from judge.store.queue import MAX_WAIT_S
from judge.store.submissions import Register
from judge.store.types import UploadLimits
from tests.store.conftest import Clock
from tests.store.test_contests import begin, ended, issued
from tests.store.test_submissions import upload

AHEAD = timedelta(days=365)
NOW = Clock().now - AHEAD


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'cup.db'}"


def test_uploads_of_the_future_are_not_of_the_last_hour(register: Register, clock: Clock) -> None:
    limits = UploadLimits(uploads_per_hour=2, waiting_per_author=0)
    for _ in range(2):
        register.receive(upload(), limits)
    with pytest.raises(InputError, match="uploads in the last hour"):
        register.receive(upload(), limits)
    clock.now = NOW
    for _ in range(2):
        register.receive(upload(), limits)
    with pytest.raises(InputError, match="uploads in the last hour"):
        register.receive(upload(), limits)


@pytest.mark.parametrize(
    ("wait_s", "later"), [(60, -AHEAD), (10 * MAX_WAIT_S, timedelta(seconds=MAX_WAIT_S))], ids=["set back", "a day"]
)
def test_retry_is_due_after_the_clock_is_set_back_and_after_at_most_a_day(
    register: Register, clock: Clock, wait_s: float, later: timedelta
) -> None:
    taken = register.receive(upload(), worker="w")
    register.fail(taken.id, taken.attempt, "the disk was full", 3, wait_s)
    assert register.take("w") is None
    clock.now += later
    assert register.take("w") is not None


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[Store]:
    with closing(Store(url)) as found:
        found._now = clock
        yield found


def times(store: Store) -> list[str]:
    return [line.at for line in store.journal("cup")]


def test_times_of_the_log_never_go_back(store: Store, clock: Clock) -> None:
    begin(store)
    clock.now -= timedelta(hours=2)
    store.accept(issued(store).id, 1, ended())
    before = times(store)

    assert 1 == len(set(before))
    clock.now += timedelta(hours=3)
    issued(store)
    assert sorted(times(store)) == times(store)
    assert before[-1] < times(store)[-1]


def test_games_are_played_after_a_clock_was_a_year_ahead(store: Store, clock: Clock) -> None:
    clock.now = NOW
    begin(store)
    clock.now += AHEAD
    store.accept(issued(store).id, 1, ended())
    clock.now = NOW

    store.accept(issued(store).id, 1, ended())
    assert sorted(times(store)) == times(store)


def test_no_game_begins_with_a_clock_that_is_behind(store: Store, clock: Clock) -> None:
    """As at the start of a machine without a clock that runs on."""
    begin(store)
    clock.now += timedelta(hours=1)
    store.accept(issued(store).id, 1, ended())
    clock.now = datetime(1970, 1, 1, tzinfo=UTC)

    with pytest.raises(HostError, match=r"shows 1970-01-01T00:00:00.*: set the clock"):
        store.issue("cup", "here")
    clock.now = NOW + AHEAD + timedelta(hours=2)
    assert store.issue("cup", "here") is not None


def test_a_season_does_not_end_later_after_the_clock_was_set_back(store: Store, clock: Clock) -> None:
    begin(store)
    ends = clock.now - timedelta(seconds=1)
    clock.now -= timedelta(hours=2)

    assert not store.schedule("cup", [], ends=ends)
    assert "season-ended" == store.journal("cup")[-1].event
