"""Rules of every queue that workers take from: only the current attempt counts, and a lost attempt is given back."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from judge.store.practice_games import PracticeGames
from judge.store.queue import MAX_LOSSES
from judge.store.submissions import Register
from tests.store.test_submissions import good, upload

WORKER = "1" * 32


@pytest.fixture(params=["submissions", "practice games"])
def queue(url: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    with closing(Register(url, "cup")) as register, closing(PracticeGames(url, "cup")) as games:
        received = register.receive(upload(), worker=WORKER if request.param == "practice games" else "")
        if request.param == "practice games":
            register.finish(received.id, received.attempt, good(), practice=1)
        yield register if request.param == "submissions" else games


def test_a_lost_attempt_is_given_back_at_once_and_after_a_pause_if_it_is_lost_again(queue: Any) -> None:
    """The database was lost when it was taken, so the worker has no answer."""
    taken = queue.take(WORKER)
    assert [(taken.id, taken.attempt, WORKER)] == queue.running_attempts()
    assert queue.take(WORKER) is None

    assert queue.give_back(taken.id, taken.attempt, 60)
    assert not queue.give_back(taken.id, taken.attempt, 60)
    assert (taken.id, 2) == ((again := queue.take(WORKER)).id, again.attempt)
    assert queue.give_back(again.id, again.attempt, 60)
    assert queue.take(WORKER) is None


def test_lost_judges_cost_no_try_and_end_only_a_row_that_loses_each(queue: Any) -> None:
    for _ in range(MAX_LOSSES):
        taken = queue.take(WORKER)
        assert queue.give_back(taken.id, taken.attempt, 0)
    taken = queue.take(WORKER)
    assert queue.retried == queue.fail(taken.id, taken.attempt, "no Engine", allowed=2).state

    taken = queue.take(WORKER)
    assert queue.give_back(taken.id, taken.attempt, 0)

    row = queue.release(taken.id, taken.attempt, "late")
    assert (queue.given_up, f"{queue.lost} in each of {MAX_LOSSES + 1} attempts") == (row.state, row.why)
    assert queue.take(WORKER) is None


def test_only_the_current_attempt_fails_or_is_released(queue: Any) -> None:
    taken = queue.take(WORKER)
    queue.release(taken.id, taken.attempt, "not now")
    again = queue.take(WORKER)

    assert again == queue.fail(taken.id, taken.attempt, "late", allowed=1)
    assert again == queue.release(taken.id, taken.attempt, "late")
    assert again.state == queue.running


def test_a_released_attempt_is_no_failure_and_is_due_when_it_says(queue: Any) -> None:
    for _ in range(3):
        taken = queue.take(WORKER)
        assert queue.waiting == queue.release(taken.id, taken.attempt, "not now").state
    taken = queue.take(WORKER)
    assert queue.retried == queue.fail(taken.id, taken.attempt, "no Engine", allowed=2).state

    taken = queue.take(WORKER)
    queue.release(taken.id, taken.attempt, "no image", again_s=60)
    assert queue.take(WORKER) is None


def test_a_row_is_given_up_after_the_allowed_failures(queue: Any) -> None:
    for _ in range(2):
        taken = queue.take(WORKER)
        failed = queue.fail(taken.id, taken.attempt, "no Engine", allowed=2)

    assert (queue.given_up, "no Engine") == (failed.state, failed.why)
    assert queue.take(WORKER) is None
