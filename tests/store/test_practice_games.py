"""Practice games: made with the pass of a submission, taken one at a time, bounded by a day, never of a contest."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from judge.contest_games import GameState
from judge.store.files import Files
from judge.store.practice_games import FORGOTTEN, REPLACED, PracticeGame, PracticeGames, PracticeResult
from judge.store.submissions import Register
from judge.store.types import NotFoundError, NotNowError, TooMuchError
from tests.store.conftest import Clock
from tests.store.test_submissions import bad, good, upload

WORKER = "1" * 32
RESULT = PracticeResult("five", "house-instant", 0, "win", 0, "five in a row", "b" * 64, 1.5)


@pytest.fixture
def games(url: str, clock: Clock) -> Iterator[PracticeGames]:
    with closing(PracticeGames(url, "cup")) as opened:
        opened._now = clock
        yield opened


def passed(register: Register, author: str = "ada", name: str = "five", practice: int = 3) -> int:
    taken = register.receive(upload(author, name), worker=WORKER)
    register.finish(taken.id, taken.attempt, good(name), practice)
    return taken.id


def taken(games: PracticeGames, worker: str = WORKER) -> PracticeGame:
    game = games.take(worker)
    assert game is not None
    return game


def test_passed_submission_plays_until_it_is_withdrawn_and_a_refused_one_does_not(
    register: Register, games: PracticeGames
) -> None:
    refused = register.receive(upload("bob", "six"), worker=WORKER)
    register.finish(refused.id, refused.attempt, bad(), 3)
    number = passed(register)

    assert [] == games.of(refused.id, "bob")
    assert [2, 1, 0] == [game.number for game in games.of(number, "ada")]
    assert [] == games.of(number, "bob")
    assert games.is_due()
    register.withdraw(number, "ada", "a mistake", "ada")
    assert games.take(WORKER) is None
    assert {GameState.CANCELLED} == {game.state for game in games.of(number, "ada")}


def test_the_first_games_of_all_come_before_the_second_ones(register: Register, games: PracticeGames) -> None:
    passed(register)
    passed(register, "bob", "six", practice=1)

    assert [("ada", 0), ("bob", 0), ("ada", 1)] == [
        (game.author, game.number) for game in (taken(games) for _ in range(3))
    ]


def test_author_with_many_versions_and_agents_delays_no_other_author(
    register: Register, games: PracticeGames, clock: Clock
) -> None:
    for name in ("five", "six", "seven"):
        passed(register, "mallory", name)
    for _ in range(3):
        game = taken(games)
        games.finish(game.id, game.attempt, RESULT)
    passed(register, "mallory", "eight")
    passed(register, "bob", "nine")
    assert ["bob", "bob", "bob", "mallory"] == [taken(games).author for _ in range(4)]

    clock.passes(24 * 3600 + 1)
    passed(register, "ada", "ten", practice=1)
    assert ["ada", "mallory"] == [taken(games).author for _ in range(2)]


def test_games_that_fail_again_and_again_delay_no_other_author(register: Register, games: PracticeGames) -> None:
    passed(register)
    passed(register, "bob", "six")
    authors = []
    for _ in range(4):
        game = taken(games)
        authors.append(game.author)
        games.fail(game.id, game.attempt, "the host failed", 9, 0)
    assert ["ada", "bob", "ada", "bob"] == authors


def test_newer_version_cancels_the_games_that_followed_the_check_of_the_former(
    register: Register, games: PracticeGames
) -> None:
    former, other = passed(register), passed(register, "ada", "six", practice=1)
    taken(games)
    newer = passed(register, "ada", "FIVE", practice=1)
    assert [GameState.CANCELLED, GameState.CANCELLED, GameState.RUNNING] == [
        game.state for game in games.of(former, "ada")
    ]
    assert REPLACED == games.of(former, "ada")[0].why
    assert [GameState.PENDING] * 2 == [game.state for number in (other, newer) for game in games.of(number, "ada")]


def test_newer_version_leaves_the_games_that_its_author_asked_for(register: Register, games: PracticeGames) -> None:
    former = passed(register, practice=0)
    games.ask(former, "ada", 2, 9)
    passed(register)
    assert [GameState.PENDING] * 2 == [game.state for game in games.of(former, "ada")]


def test_only_the_current_attempt_comes_to_an_end(register: Register, games: PracticeGames) -> None:
    """tests/store/test_queue.py has the rules of all queues."""
    passed(register, practice=1)
    late = taken(games)
    assert games.give_back(late.id, late.attempt, 60)
    again = taken(games, "2" * 32)
    games.finish(late.id, late.attempt, RESULT)

    assert GameState.RUNNING is games.get(late.id, "ada").state
    games.finish(again.id, again.attempt, RESULT)
    found = games.get(again.id, "ada")
    assert (GameState.DONE, 2, "win", "b" * 64) == (found.state, found.attempt, found.verdict, found.record)
    assert not games.is_due()


def test_a_record_is_forgotten_after_its_days_and_the_result_stays(
    register: Register, games: PracticeGames, clock: Clock, tmp_path: Path
) -> None:
    """Also if the judge is killed after the file was removed."""
    files = Files(tmp_path)
    passed(register)
    digests = [files.put(text) for text in (b"first", b"second")]
    for digest in digests:
        game = taken(games)
        games.finish(game.id, game.attempt, replace(RESULT, record=digest))
        clock.passes(20 * 86400)
    old, new = digests

    class Killed(Files):
        def remove(self, digest: str) -> None:
            super().remove(digest)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        games.forget_records(30, Killed(tmp_path))
    assert 1 == games.forget_records(30, files)
    assert 0 == games.forget_records(30, files)

    assert (False, True) == (files.path(old).exists(), files.path(new).exists())
    waiting, second, first = games.of(1, "ada")
    assert (None, "win", FORGOTTEN) == (first.record, first.verdict, first.why)
    assert (new, "win", "") == (second.record, second.verdict, second.why)
    assert GameState.PENDING is waiting.state


def test_author_has_a_daily_limit(register: Register, games: PracticeGames, clock: Clock) -> None:
    number, refused = passed(register, practice=0), register.receive(upload("ada", "six"), worker=WORKER)
    register.finish(refused.id, refused.attempt, bad(), 3)

    assert 3 == len(games.ask(number, "ada", 3, 5))
    with pytest.raises(NotNowError, match="still to be played"):
        games.ask(number, "ada", 3, 5)
    while game := games.take(WORKER):
        games.finish(game.id, game.attempt, RESULT)
    with pytest.raises(TooMuchError, match="5 practice games in 24 hours"):
        games.ask(number, "ada", 3, 5)
    clock.passes(24 * 3600 + 1)
    assert 6 == len(games.ask(number, "ada", 3, 5))
    with pytest.raises(NotNowError, match="only an agent that passed"):
        games.ask(refused.id, "ada", 1, 5)
    for stranger in (number, 99):
        with pytest.raises(NotFoundError):
            games.ask(stranger, "eve", 1, 5)
