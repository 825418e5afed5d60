"""Which hosts a contest has: from its log and its attempts, and those that stand out by name."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from judge.contest.hosts import contest_hosts
from judge.contest_games import ScheduledGame
from judge.journal.events import WorkerBarred, WorkerJoined, WorkerLost, WorkerNoted
from judge.statistics.fairness import FairnessTest
from judge.statistics.scales import hypergeometric_tail
from judge.store.contests import Store
from judge.store.types import EntryRow
from tests.store.server import execute


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(f"sqlite:///{tmp_path / 'cup.db'}")) as found:
        found.create("cup", "{}", [EntryRow("one", 1, "{}"), EntryRow("two", 2, "{}")])
        found.schedule("cup", [ScheduledGame("m1", 1, 1, 1, 0, "one", "two", "{}")])
        yield found


def add_attempts(path: Path, first: int, host: str, *states: str) -> None:
    values = [f"('m1', {number}, '{state}', '{host}', '', '2026')" for number, state in enumerate(states, first)]
    columns = "game, number, state, host, why, started_at"
    execute(f"sqlite:///{path / 'cup.db'}", f"INSERT INTO attempts ({columns}) VALUES {', '.join(values)}")  # noqa: S608 our text


def test_host_is_shown_with_slots_games_and_time_of_loss(store: Store, tmp_path: Path) -> None:
    for event in (
        WorkerJoined("w1", 3),
        WorkerJoined("w2", 2),
        WorkerLost("w1"),
        WorkerJoined("a worker is lost", 1),  # names are what hosts call themselves
        WorkerBarred("w2", "it has no image"),
        WorkerNoted("game 1, attempt 1: the answer of worker w1 is refused: it lies"),
    ):
        store.remark("cup", event)
    add_attempts(tmp_path, 1, "w1", "accepted", "superseded", "abandoned", "void")
    add_attempts(tmp_path, 11, "", "running")
    add_attempts(tmp_path, 12, "here", "running", "annulled")
    lost_at = [line.at for line in store.journal("cup") if line.text == "worker w1 is lost"]

    named, here, w1, w2 = contest_hosts(store, "cup")

    assert ("a worker is lost", 1, None) == (named.name, named.slots, named.lost_since)
    assert ("here", None, 1, 1) == (here.name, here.slots, here.running, here.played)
    assert (3, lost_at[0], 0, 2, 1) == (w1.slots, w1.lost_since, w1.running, w1.played, w1.voids)
    assert (2, None, "it has no image") == (w2.slots, w2.lost_since, w2.barred)
    for number, name in enumerate(("w1", "w2"), 4):
        store.remark("cup", WorkerJoined(name, number))
    *_, w1, w2 = contest_hosts(store, "cup")
    assert [(4, None, ""), (5, None, "")] == [(each.slots, each.lost_since, each.barred) for each in (w1, w2)]


def test_host_with_outlying_voids_times_or_results_is_named(store: Store, tmp_path: Path) -> None:
    for at, host in enumerate(("w1", "w2", "w3")):
        add_attempts(tmp_path, 100 * at + 1, host, *["accepted"] * 30, *["void"] * (12 if host == "w2" else 1))
    tests = [
        FairnessTest("host", "time a move", 3, 90, 0.001, 0.01, "w3", 0.12, 0.02, 0.23, 0.01),
        FairnessTest("host", "score", 3, 90, 0.5, 1.0, "w1", 0.1, -0.1, 0.3, 0.2),
        FairnessTest("slot", "score", 3, 90, 0.001, 0.01, "w1 2", 0.1, 0.05, 0.15, 0.2),
    ]

    said = {host.name: host.stands_out for host in contest_hosts(store, "cup", tests)}

    assert [] == said["w1"]
    assert ["+12.0 % of time a move (95 %: +2.0 % to +23.0 %), p = 0.01"] == said["w3"]
    assert 1 == len(said["w2"])
    assert said["w2"][0].startswith("12 of its 42 games are void, p = 0.000")


def test_fisher_test_tail_equals_the_tea_tasting_example() -> None:
    assert pytest.approx(1 / 70) == hypergeometric_tail(4, 4, 4, 8)
    assert pytest.approx(17 / 70) == hypergeometric_tail(3, 4, 4, 8)
    assert pytest.approx(1.0) == hypergeometric_tail(0, 4, 4, 8)
