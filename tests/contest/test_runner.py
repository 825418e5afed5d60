"""The loop of a contest with real workers and real games: nothing lost, nothing twice, voids played again."""

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from judge.agents.agents import Agent, stage_agent
from judge.contest.attempts import EndedAttempt, Job
from judge.contest.executor import LocalExecutor
from judge.contest.runner import PAUSE_S, ContestRunner, StopReason, again_at
from judge.contest_games import AttemptState, GameState, ScheduledGame
from judge.host.house_agents import build_house_agents
from judge.journal.events import Resumed
from judge.play.venue import Slot
from judge.record.policy import load_policy
from judge.record.spec import GameSpec, RecordFile
from judge.referee.verify import verify
from judge.store.contests import Store
from judge.store.files import Files
from judge.store.types import EntryRow
from tests.examples import evidence

pytestmark = pytest.mark.slow


class Cup:
    """House agents, a store, and as many games as one likes."""

    def __init__(self, folder: Path, slots: int) -> None:
        build_house_agents()
        staging = folder / "staging"
        staging.mkdir()
        self.agents: list[Agent] = [stage_agent("house-instant", staging) for _ in range(2)]
        self.policy = load_policy("gomocup-standard", ["clock.turn_ms=2000"])
        self.store = Store(f"sqlite:///{folder / 'cup.db'}")
        self.files = Files(folder / "files")
        self.slots: LocalExecutor = LocalExecutor([Slot() for _ in range(slots)], log=folder / "judge.log")
        names = ("one", "two", "three")
        self.store.create("cup", "{}", [EntryRow(name, number, "{}") for number, name in enumerate(names, 1)])

    def games(self, first: int, last: int) -> list[ScheduledGame]:
        return [self.game(number, ("one", "two")) for number in range(first, last + 1)]

    def game(self, number: int, names: tuple[str, str]) -> ScheduledGame:
        seats = tuple(
            agent.seat(self.policy).model_copy(update={"name": name})
            for agent, name in zip(self.agents, names, strict=True)
        )
        spec = GameSpec(seats=seats, policy=self.policy, number=number, box="process")  # type: ignore[arg-type]
        return ScheduledGame(spec.id, number, 1, 1, number - 1, *names, spec.model_dump_json())

    def job(self, issued: ScheduledGame) -> Job:
        programs = {agent.digest: agent.program for agent in self.agents}
        return Job(issued, programs)

    def runner(self, is_broken: Callable[[ScheduledGame], bool] = lambda _: False, **options: Any) -> ContestRunner:
        """`is_broken`: games that are void by the judge's fault, for their programs are gone."""

        def job_of(issued: ScheduledGame) -> Job:
            return replace(self.job(issued), programs={}) if is_broken(issued) else self.job(issued)

        options = {"schedule_next": lambda: False, **options}
        return ContestRunner(self.store, self.files, "cup", self.slots, job_of=job_of, attempts=2, **options)

    def record(self, digest: str) -> RecordFile:
        return RecordFile.model_validate_json(self.files.get(digest))


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    found = Cup(tmp_path, slots=2)
    yield found
    found.slots.kill()
    found.slots.close()
    found.store.close()


def test_every_game_has_its_result_and_its_record(cup: Cup) -> None:
    cup.store.schedule("cup", cup.games(1, 3))
    follow = [cup.games(4, 4)]
    told: list[EndedAttempt] = []

    def schedule_next() -> bool:
        is_idle = not cup.store.counts("cup")[GameState.RUNNING]
        return is_idle and bool(follow) and cup.store.schedule("cup", follow.pop())

    assert StopReason.FINISHED is cup.runner(schedule_next=schedule_next).run(told.append)

    results = cup.store.results("cup")
    assert [1, 2, 3, 4] == [result.number for result in results]
    assert {AttemptState.ACCEPTED} == {happened.state for happened in told}
    for result in results:
        assert () == tuple(verify(cup.record(result.record)).problems)
        assert result.replies[0] > 4


def test_a_free_slot_asks_for_more_games_while_another_game_runs(cup: Cup) -> None:
    later = [cup.games(number, number) for number in (4, 3, 2)]
    running: list[int] = []

    def schedule_next() -> bool:
        running.append(cup.store.counts("cup")[GameState.RUNNING])
        return bool(later) and cup.store.schedule("cup", later.pop())

    cup.store.schedule("cup", cup.games(1, 1))

    assert StopReason.FINISHED is cup.runner(schedule_next=schedule_next).run(lambda _: None)
    assert 4 == len(cup.store.results("cup"))
    assert [1] == running[:1]
    assert 0 == running[-1]


def test_results_are_checked_and_priorities_follow_them(cup: Cup) -> None:
    cup.store.schedule("cup", cup.games(1, 4))
    checked: list[tuple[int, int]] = []
    computed: list[int] = []

    def check(game: ScheduledGame) -> None:
        checked.append((game.number, len(cup.store.results("cup"))))

    def priorities() -> dict[str, float]:
        computed.append(len(cup.store.results("cup")))
        return {}

    loop = cup.runner(check_failures=check, priorities=priorities)
    assert StopReason.FINISHED is loop.run(lambda _: None)

    assert [1, 2, 3, 4] == sorted(number for number, _ in checked)
    assert [1, 2, 3, 4] == [results for _, results in checked]
    assert computed == sorted(set(computed))
    assert 4 in computed


def test_a_killed_worker_costs_its_attempt_and_nothing_else(cup: Cup) -> None:
    cup.store.schedule("cup", cup.games(1, 4))
    killed: list[int] = []

    class Killing(LocalExecutor):
        def wait(self, timeout_s: float) -> list[EndedAttempt]:
            if not killed:
                pid = next(iter(self._running)).worker.pid
                if pid:
                    killed.append(pid)
                    os.kill(pid, signal.SIGKILL)
            return super().wait(timeout_s)

    cup.slots.close()
    cup.slots = Killing([Slot(), Slot()])
    told: list[EndedAttempt] = []

    assert StopReason.FINISHED is cup.runner().run(told.append)

    assert 4 == len(cup.store.results("cup"))
    (void,) = [happened for happened in told if happened.state is AttemptState.VOID]
    assert "worker of this game was lost" in void.why
    assert [2] == [result.attempt for result in cup.store.results("cup") if result.id == void.game.id]


def test_first_stop_request_finishes_running_games_and_starts_none(cup: Cup) -> None:
    cup.store.schedule("cup", cup.games(1, 6))
    loop = cup.runner()

    assert StopReason.DRAINED is loop.run(lambda _: loop.drain.set())

    counts = cup.store.counts("cup")
    assert 1 <= counts[GameState.DONE] <= 4
    assert 0 == counts[GameState.RUNNING]
    again = cup.runner()
    assert StopReason.FINISHED is again.run(lambda _: None)
    assert 6 == len(cup.store.results("cup"))


def test_second_stop_request_returns_running_games(cup: Cup) -> None:
    cup.store.schedule("cup", cup.games(1, 2))
    loop = cup.runner()
    loop.abandon.set()

    assert StopReason.ABANDONED is loop.run(lambda _: None)

    assert 2 == cup.store.counts("cup")[GameState.PENDING]


@pytest.mark.parametrize("is_fixed", [True, False])
@pytest.mark.parametrize(
    "alone",
    [
        pytest.param(frozenset(), id="in any order", marks=evidence),
        pytest.param(frozenset({"one", "two"}), id="in order"),
    ],
)
def test_game_that_stays_void_is_set_aside_and_retried_after_the_others(
    cup: Cup, is_fixed: bool, alone: frozenset[str]
) -> None:
    """Later games of its agents do not wait for it, even where agents' folders go from game to game."""
    cup.store.schedule("cup", cup.games(1, 4))
    tried: list[int] = []

    def is_broken(issued: ScheduledGame) -> bool:
        tried.append(issued.number)
        return issued.number == 3 and (not is_fixed or issued.attempt <= 2)

    ended = cup.runner(is_broken, alone=lambda: alone, pause_s=0.1).run(lambda _: None)

    journal = cup.store.journal("cup")
    (line,) = [line for line in journal if line.event == "set-aside"]
    assert line.text.startswith("void 2 times in a row: ")
    at = datetime.fromisoformat(line.at).replace(microsecond=0) + timedelta(seconds=PAUSE_S)
    assert (at.isoformat(" ") if is_fixed else None) == again_at(cup.store, "cup")
    assert 3 == tried.count(3)
    assert 3 == tried[-1]
    assert (StopReason.FINISHED if is_fixed else StopReason.PAUSED) is ended
    assert ("open" if is_fixed else "stopped") == cup.store.state("cup")
    assert (4 if is_fixed else 3) == len(cup.store.results("cup"))


@pytest.mark.parametrize(
    "alone",
    [
        pytest.param(frozenset(), id="in any order", marks=evidence),
        pytest.param(frozenset({"one", "two", "three"}), id="in order"),
    ],
)
def test_games_of_other_agents_are_played_while_all_games_of_one_agent_are_held(
    cup: Cup, alone: frozenset[str]
) -> None:
    pairs = [("three", "one"), ("two", "three"), ("one", "two"), ("one", "three"), ("three", "two"), ("two", "one")]
    cup.store.schedule("cup", [cup.game(number, pair) for number, pair in enumerate(pairs, 1)])
    loop = cup.runner(lambda issued: "three" in (issued.first, issued.second), alone=lambda: alone, pause_s=0.1)

    assert StopReason.PAUSED is loop.run(lambda _: None)
    assert [3, 6] == [result.number for result in cup.store.results("cup")]
    aside = [line.game for line in cup.store.journal("cup") if line.event == "set-aside"]
    assert {game.id for game in cup.store.games("cup") if "three" in (game.first, game.second)} == set(aside)


def is_first_twice(issued: ScheduledGame) -> bool:
    return issued.number == 1 and issued.attempt <= 2


def test_game_released_by_the_organiser_is_not_waited_for(cup: Cup) -> None:
    cup.store.schedule("cup", cup.games(1, 2))

    def release_when_all_others_are_over() -> None:
        counts = cup.store.counts("cup")
        if counts[GameState.HELD] and counts[GameState.DONE]:
            cup.store.release("cup", "looked at it")

    loop = cup.runner(is_first_twice, check=release_when_all_others_are_over, pause_s=10**9)

    assert StopReason.FINISHED is loop.run(lambda _: None)
    assert 2 == len(cup.store.results("cup"))


def test_game_set_aside_long_ago_is_retried_at_once(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    cup.store.schedule("cup", cup.games(1, 3))
    now_s = 0.0

    def tell(event: EndedAttempt) -> None:
        nonlocal now_s
        now_s += 300.0 * (event.game.number == 3)

    def never_wait(seconds: float) -> bool:
        raise AssertionError(f"it waits for {seconds} s")

    monkeypatch.setattr("judge.contest.runner.monotonic", lambda: now_s)
    loop = cup.runner(is_first_twice, pause_s=300)
    monkeypatch.setattr(loop.drain, "wait", never_wait)

    assert StopReason.FINISHED is loop.run(tell)
    assert 3 == len(cup.store.results("cup"))


def test_a_host_on_which_two_games_in_a_row_stay_void_stops_the_contest(cup: Cup) -> None:
    cup.store.schedule("cup", cup.games(1, 6))

    assert StopReason.PAUSED is cup.runner(lambda issued: issued.number > 2, pause_s=1).run(lambda _: None)
    assert "stopped" == cup.store.state("cup")
    assert 2 == len(cup.store.results("cup"))
    assert 2 <= cup.store.counts("cup")[GameState.HELD]


def test_two_voids_in_a_row_stop_the_contest_with_the_reason_and_name_an_agent_that_did_it_before(cup: Cup) -> None:
    """A program that is no longer there is the judge's fault, twice."""
    cup.store.schedule("cup", cup.games(1, 1))
    loop = cup.runner(lambda _: True)
    assert StopReason.PAUSED is loop.run(lambda _: None)
    assert "stopped" == cup.store.state("cup")
    cup.store.release("cup", "looked at it")
    cup.store.set_state("cup", Resumed("looked at it"))
    assert StopReason.PAUSED is loop.run(lambda _: None)

    assert any("void 2 times in a row" in line.text for line in cup.store.journal("cup"))
    first, second = [line.text for line in cup.store.journal("cup") if line.event == "stopped"]
    assert "stopped this contest before" not in first
    assert "games of one have stopped this contest before (1)" in second
