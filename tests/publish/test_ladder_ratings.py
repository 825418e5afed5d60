"""Stored ratings of a ladder: a restarted service continues with them, and ignores a wrong or old file."""

import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from judge.contest_view import ladder
from judge.contest_view.ladder import LadderAgent, LadderLog, LadderRatings
from judge.contest_view.view import ContestView
from tests.contests import LADDER, VERSIONS, with_a_new_version
from tests.examples import examples
from tests.publish.cups import Cup
from tests.verify.test_ladder import happens


@pytest.fixture(autouse=True)
def _saves_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "SAVED_RESULTS", 3)


def with_withdrawn_results(cup: Cup) -> None:
    with_a_new_version(cup)
    cup.play(4)
    happens(cup)


LONG = LADDER.replace("total_games = 24", "total_games = 99")
EVENTFUL = replace(VERSIONS, name="versions-and-withdrawn-results", form=LONG, happens=with_withdrawn_results)


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    with EVENTFUL.contest(tmp_path / "cup") as found:
        yield found


def ratings_in(file: Path | None, contest: ContestView) -> Mapping[str, LadderAgent]:
    return replace(contest, ladder_ratings=LadderRatings(file)).ladder


def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    found: list[object] = []
    count = ladder._Pass._count

    def counting(current: Any, line: Any, at: int) -> None:
        found.append(line)
        count(current, line, at)

    monkeypatch.setattr(ladder._Pass, "_count", counting)
    return found


def test_restarted_service_continues_stored_ratings(cup: Cup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / ladder.RATINGS_FILE
    before = cup.contest.read()
    expected = ratings_in(None, before)
    assert expected == ratings_in(file, before)
    read = counted(monkeypatch)
    assert expected == ratings_in(file, before)
    assert len(read) < 3
    cup.play(1)
    cup.store.disqualify(cup.contest.name, "anna", "by the organiser")
    cup.play(2)
    after = cup.contest.read()
    read.clear()
    found = ratings_in(file, after)
    assert 3 <= len(read) < 6
    assert found == ratings_in(None, after)


def test_threads_with_their_own_views_share_ratings(cup: Cup) -> None:
    """The lock of `cached_property` protects one Python version only, and no other caller."""
    contest = cup.contest.read()
    log = LadderLog(contest.snapshot, contest.entered, contest.journal, contest.pairings, contest.games)
    expected = LadderRatings().agents(log)
    threads, before = 8, sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(examples(3)):
            ratings, together = LadderRatings(), Barrier(threads)
            ratings.agents(replace(log, journal=log.journal[:1]))

            def read(_: int, ratings: LadderRatings = ratings, together: Barrier = together) -> object:
                together.wait()
                return ratings.agents(log)

            with ThreadPoolExecutor(threads) as pool:
                found = [*pool.map(read, range(threads))]
            assert [expected] * threads == found
    finally:
        sys.setswitchinterval(before)


def test_state_before_a_withdrawal_of_a_result_is_ignored(cup: Cup, tmp_path: Path) -> None:
    file = tmp_path / ladder.RATINGS_FILE
    ratings_in(file, cup.contest.read())
    done = [game for game in cup.store.games(cup.contest.name) if game.state == "done"]
    cup.store.annul(done[0].id, "a power cut")
    contest = cup.contest.read()
    assert ratings_in(None, contest) == ratings_in(file, contest)


def damaged(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("change", [damaged, lambda data: data[:-1], lambda _: b"", lambda data: data[:40]])
def test_damaged_state_is_ignored_and_replaced(cup: Cup, tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    file = tmp_path / ladder.RATINGS_FILE
    contest = cup.contest.read()
    expected = ratings_in(file, contest)
    data = file.read_bytes()
    file.write_bytes(change(data))
    assert ladder.load_state(file) is None
    assert expected == ratings_in(file, contest)
    assert data == file.read_bytes()


def test_states_of_another_log_another_code_or_other_agents_are_ignored(
    cup: Cup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / ladder.RATINGS_FILE
    contest = cup.contest.read()
    expected = ratings_in(file, contest)
    data, read = file.read_bytes(), counted(monkeypatch)
    changes: list[dict[str, Any]] = [{"digest": "0" * 64}, {"lines": 3}, {"agents": ["anna"]}, {"priors": {}}]
    for changed in (*changes, {"starts": None}):
        file.write_bytes(data)
        state = ladder.load_state(file)
        assert state is not None
        ladder.save_state(file, {**state[0], **changed}, state[1])
        read.clear()
        assert expected == ratings_in(file, contest)
        assert len(read) > 5
    monkeypatch.setattr(ladder, "_code", lambda: "other")
    assert ladder.load_state(file) is None


def test_a_state_that_cannot_be_stored_changes_nothing(cup: Cup, tmp_path: Path) -> None:
    contest = cup.contest.read()
    assert ratings_in(None, contest) == ratings_in(tmp_path / "missing" / ladder.RATINGS_FILE, contest)
