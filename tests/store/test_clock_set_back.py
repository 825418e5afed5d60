"""A clock that was ahead and is set back locks nobody out: moments in the future limit nothing, and retries are due."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.store.notices import Notices
from judge.store.practice_games import PracticeGames
from judge.store.queue import MAX_WAIT_S
from judge.store.submissions import Register
from judge.store.types import Allowance, ProcessingResult, Upload

NOW = datetime(2027, 3, 1, 12, tzinfo=UTC)
AHEAD = timedelta(days=365)


class Clock:
    def __init__(self) -> None:
        self.now = NOW + AHEAD

    def __call__(self) -> datetime:
        return self.now

    def set_back(self) -> None:
        self.now = NOW


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'cup.db'}"


@pytest.fixture
def register(url: str, clock: Clock) -> Iterator[Register]:
    with closing(Register(url, "cup", clock)) as found:
        yield found


def upload(number: int) -> Upload:
    return Upload("ada", "brain", "brain.zip", f"{number:064x}", 100)


def test_uploads_of_the_future_are_not_of_the_last_hour(register: Register, clock: Clock) -> None:
    allowance = Allowance(uploads_per_hour=2)
    for number in range(2):
        register.receive(upload(number), allowance)
    with pytest.raises(InputError, match="uploads in the last hour"):
        register.receive(upload(2), allowance)
    clock.set_back()
    for number in range(3, 5):
        register.receive(upload(number), allowance)
    with pytest.raises(InputError, match="uploads in the last hour"):
        register.receive(upload(5), allowance)


def test_practice_games_of_the_future_are_not_of_the_last_day(register: Register, url: str, clock: Clock) -> None:
    taken = register.receive(upload(1), worker="w")
    register.finish(taken.id, taken.attempt, ProcessingResult("", "brain", None, "{}", None, None))
    with closing(PracticeGames(url, "cup", clock)) as games:
        for _ in range(2):
            games.ask(taken.id, "ada", 1, 1)
            with pytest.raises(InputError, match="are still to be played"):
                games.ask(taken.id, "ada", 1, 1)
            while (game := games.take("w")) is not None:
                games.fail(game.id, game.attempt, "x", 1)
            with pytest.raises(InputError, match="in 24 hours"):
                games.ask(taken.id, "ada", 1, 1)
            clock.set_back()


def test_retry_of_a_future_moment_is_due(register: Register, clock: Clock) -> None:
    taken = register.receive(upload(1), worker="w")
    register.fail(taken.id, taken.attempt, "the disk was full", 3, 60)
    assert register.take("w") is None
    clock.set_back()
    assert register.take("w") is not None


def test_retry_is_due_after_at_most_a_day(register: Register, clock: Clock) -> None:
    taken = register.receive(upload(1), worker="w")
    register.fail(taken.id, taken.attempt, "the disk was full", 3, 10 * MAX_WAIT_S)
    assert register.take("w") is None
    clock.now += timedelta(seconds=MAX_WAIT_S)
    assert register.take("w") is not None


def test_notice_of_a_future_moment_is_sent(url: str, clock: Clock) -> None:
    with closing(Notices(url, "cup", clock)) as notices:
        notices.set_webhook("ada", "https://example.org/", "whsec_")
        (notice,) = notices.due()
        notices.fail(notice.id, None, "no answer", 8, 60)
        assert [] == notices.due()
        clock.set_back()
        assert [notice.id] == [each.id for each in notices.due()]
