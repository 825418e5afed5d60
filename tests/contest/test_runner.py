"""The loop of a contest with real workers and real games: nothing lost, nothing twice, voids played again."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judge.agents.agents import stage_agent
from judge.contest.attempts import EndedAttempt, Job
from judge.contest.contest import Contest
from judge.contest.executor import LocalExecutor
from judge.contest.runner import PAUSE_S, ContestRunner, RunObserver, Scheduler, StopReason, again_at
from judge.contest_games import GameState, ScheduledGame
from judge.host.house_agents import build_house_agents
from judge.journal.codec import Event
from judge.journal.events import Resumed, RoundPlayed, SeasonEnded, SetAside, StandingsFrozen, Stopped
from judge.play.venue import Slot
from judge.record.policy import load_policy
from judge.store.contests import Store
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.ladder import Ladder, Matchmaking
from judge.tournament.formats.round_robin import RoundRobin
from judge.tournament.formats.swiss import Swiss
from judge.tournament.snapshot import FreezeTerms
from tests.contest.real_agents import NO_FOLDERS, begin_with
from tests.examples import evidence

pytestmark = pytest.mark.slow


class Cup(RunObserver):
    """House agents, a store, and a hook for the ends of attempts."""

    contest: Contest
    slots: LocalExecutor

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.store = Store(f"sqlite:///{folder / 'cup.db'}")
        self.slots = LocalExecutor([Slot(), Slot()], log=folder / "judge.log")
        self.hook: Callable[[EndedAttempt], object] = lambda _: None
        """Called with each end."""

    def begin(self, form: AnyFormat, *names: str) -> None:
        """Begin the contest and draw its first games; by default of `one` and `two`."""
        build_house_agents()
        staging = self._folder / "staging"
        staging.mkdir()
        agents = {name: stage_agent("house-instant", staging) for name in names or ("one", "two")}
        policy = load_policy("gomocup-standard", ["clock.turn_ms=2000", "attempts=2", *NO_FOLDERS])
        self.contest = begin_with(agents, policy, form, self.store, self._folder, "process")
        Scheduler(self.contest).schedule_next()

    def runner(
        self,
        is_broken: Callable[[ScheduledGame], bool] = lambda _: False,
        pause_s: float = PAUSE_S,
        alone: frozenset[str] = frozenset(),
    ) -> ContestRunner:
        """`is_broken`: games that are void by the judge's fault, for their programs are gone."""
        job = self.contest.job

        def job_of(game: ScheduledGame, listener: Path | None = None) -> Job:
            found = job(game, listener)
            return replace(found, programs={}) if is_broken(game) else found

        self.contest.job = job_of  # type: ignore[method-assign]
        self.contest.alone = alone
        return ContestRunner(self.contest, self.slots, self, pause_s=pause_s)

    def report(self, ended: EndedAttempt) -> None:
        self.hook(ended)


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    found = Cup(tmp_path)
    yield found
    found.slots.kill()
    found.slots.close()
    found.store.close()


def test_rounds_that_begin_after_the_moment_of_the_freeze_are_withheld(cup: Cup) -> None:
    cup.begin(Swiss(rounds=3, games=1), "one", "two", "three", "four")

    def reach_the_moment(_: EndedAttempt) -> None:
        terms = FreezeTerms(at=datetime(2020, 1, 1, tzinfo=UTC))
        cup.contest.snapshot = cup.contest.snapshot.model_copy(update={"withholding": terms})

    cup.hook = reach_the_moment
    assert StopReason.FINISHED is cup.runner().run()

    lines = cup.store.journal("cup")
    rounds = {game.id: game.round for game in cup.store.games("cup")}
    assert all((line.withheld or 1) == rounds[line.game] for line in lines if line.game)
    assert [StandingsFrozen(2), RoundPlayed(2), RoundPlayed(3)] == [
        line.change for line in lines if isinstance(line.change, StandingsFrozen | RoundPlayed)
    ]


def test_a_run_waits_for_agents_of_a_ladder_until_its_season_ends(cup: Cup) -> None:
    waited: list[None] = []

    class Ending(LocalExecutor):
        def wait(self, timeout_s: float) -> list[EndedAttempt]:
            if not self.running:
                waited.append(None)
            if len(waited) == 2:
                cup.store.remark("cup", SeasonEnded("the term is over"))
            return super().wait(timeout_s)

    cup.slots.close()
    cup.slots = Ending([Slot()])
    cup.begin(Ladder(total_games=50))

    def leave(_: EndedAttempt) -> None:
        if not cup.contest.view().absent:
            cup.store.withdraw("cup", "two", "by its author", is_annulled=False)

    cup.hook = leave
    assert StopReason.FINISHED is cup.runner().run()
    assert len(waited) >= 2
    assert cup.contest.view().is_over
    assert len(cup.store.games("cup")) < 50


def test_a_free_slot_gets_a_new_game_while_another_game_runs(cup: Cup) -> None:
    running: list[int] = []

    class Noting(LocalExecutor):
        def start(self, job: Job) -> None:
            running.append(self.running)
            super().start(job)

    cup.slots.close()
    cup.slots = Noting([Slot(), Slot()])
    cup.begin(Ladder(total_games=4, matchmaking=Matchmaking(open_games=2)), "one", "two", "three", "four")

    assert StopReason.FINISHED is cup.runner().run()
    assert 4 == len(cup.store.results("cup"))
    assert [0, 1] == running[:2]
    assert 0 not in running[1:]


def test_results_are_checked_and_priorities_follow_them(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    cup.begin(RoundRobin(games=4))
    checked: list[tuple[int, int]] = []
    computed: list[int] = []

    def check(game: ScheduledGame) -> None:
        checked.append((game.number, len(cup.store.results("cup"))))

    def priorities() -> dict[str, float]:
        computed.append(len(cup.store.results("cup")))
        return {}

    plan = cup.contest.planned.plan.model_copy(update={"order": "lowest"})
    cup.contest.planned = replace(cup.contest.planned, plan=plan)
    monkeypatch.setattr(cup.contest, "check_failures", check)
    monkeypatch.setattr(cup.contest, "priorities", priorities)
    assert StopReason.FINISHED is cup.runner().run()

    assert [1, 2, 3, 4] == sorted(number for number, _ in checked)
    assert [1, 2, 3, 4] == [results for _, results in checked]
    assert computed == sorted(set(computed))
    assert 4 in computed


@pytest.mark.parametrize("is_fixed", [True, False])
@pytest.mark.parametrize(
    "alone",
    [
        pytest.param(frozenset(), id="in any order", marks=evidence),
        pytest.param(frozenset({"one", "two"}), id="in order"),
    ],
)
def test_game_that_stays_void_is_set_aside_and_tried_last(cup: Cup, is_fixed: bool, alone: frozenset[str]) -> None:
    """Later games of its agents do not wait for it, even where agents' folders go from game to game."""
    cup.begin(RoundRobin(games=4))
    tried: list[int] = []

    def is_broken(issued: ScheduledGame) -> bool:
        tried.append(issued.number)
        return issued.number == 3 and (not is_fixed or issued.attempt <= 2)

    ended = cup.runner(is_broken, alone=alone, pause_s=0.1).run()

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
def test_games_of_others_are_played_while_all_games_of_one_agent_are_held(cup: Cup, alone: frozenset[str]) -> None:
    cup.begin(RoundRobin(games=1, cycles=2), "one", "two", "three")
    loop = cup.runner(lambda issued: "two" in (issued.first, issued.second), alone=alone, pause_s=0.1)

    assert StopReason.PAUSED is loop.run()
    assert [3, 6] == [result.number for result in cup.store.results("cup")]
    aside = [line.game for line in cup.store.journal("cup") if line.event == "set-aside"]
    assert {game.id for game in cup.store.games("cup") if "two" in (game.first, game.second)} == set(aside)


def is_first_twice(issued: ScheduledGame) -> bool:
    return issued.number == 1 and issued.attempt <= 2


def test_late_void_of_a_former_attempt_does_not_stop_the_contest(cup: Cup) -> None:
    """The organiser voids the first attempt while it runs; its own void arrives after the game was set aside."""
    cup.begin(RoundRobin(games=3))
    late: list[EndedAttempt] = []

    class Delaying(LocalExecutor):
        def wait(self, timeout_s: float) -> list[EndedAttempt]:
            ended = super().wait(timeout_s)
            for each in ended:
                if (each.game.number, each.game.attempt) == (1, 1):
                    late.append(each)
                    cup.store.annul(each.game.id, "by the organiser", 1)
            ended = [each for each in ended if each not in late]
            return [*ended, *([late.pop()] if late and cup.store.counts("cup")[GameState.HELD] else ())]

    cup.slots.close()
    cup.slots = Delaying([Slot(), Slot()])
    loop = cup.runner(lambda issued: issued.number == 1 and issued.attempt <= 3, pause_s=0.1)
    assert StopReason.FINISHED is loop.run()
    assert 3 == len(cup.store.results("cup"))
    assert ["annulled", "superseded"] == [
        line.event
        for line in cup.store.journal("cup")
        if line.attempt == 1 and line.event in ("annulled", "superseded", "void")
    ]


class KilledError(Exception):
    """The judge is killed."""


@pytest.mark.parametrize("event", [SetAside, Stopped])
def test_judge_that_is_killed_while_it_holds_a_game_tries_it_again(
    event: type[Event], cup: Cup, monkeypatch: pytest.MonkeyPatch
) -> None:
    cup.begin(RoundRobin(games=1 if event is Stopped else 3))
    tell, killed = Store._tell, []

    def die(store: Store, *given: object, **options: object) -> int:
        if isinstance(given[2], event):
            killed.append(given[2])
            raise KilledError
        return tell(store, *given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "_tell", die)
    with pytest.raises(KilledError):
        cup.runner(is_first_twice).run()
    assert killed
    monkeypatch.undo()
    cup.slots.kill()

    assert StopReason.FINISHED is cup.runner(is_first_twice, pause_s=0.1).run()
    assert not cup.store.counts("cup")[GameState.HELD]
    assert cup.contest.view().is_over


def test_game_released_by_the_organiser_is_not_waited_for(cup: Cup) -> None:
    cup.begin(RoundRobin(games=2))

    class Releasing(LocalExecutor):
        def wait(self, timeout_s: float) -> list[EndedAttempt]:
            counts = cup.store.counts("cup")
            if not timeout_s and counts[GameState.HELD] and counts[GameState.DONE]:
                cup.store.release("cup", "looked at it")
            return super().wait(timeout_s)

    cup.slots.close()
    cup.slots = Releasing([Slot(), Slot()])
    assert StopReason.FINISHED is cup.runner(is_first_twice, pause_s=10**9).run()
    assert 2 == len(cup.store.results("cup"))


def test_game_set_aside_long_ago_is_retried_at_once(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    cup.begin(RoundRobin(games=3))
    now_s = 0.0

    def pass_time(ended: EndedAttempt) -> None:
        nonlocal now_s
        now_s += 300.0 * (ended.game.number == 3)

    def never_wait(seconds: float) -> bool:
        raise AssertionError(f"it waits for {seconds} s")

    monkeypatch.setattr("judge.contest.runner.monotonic", lambda: now_s)
    loop = cup.runner(is_first_twice, pause_s=300)
    monkeypatch.setattr(loop.stop.drain, "wait", never_wait)
    cup.hook = pass_time

    assert StopReason.FINISHED is loop.run()
    assert 3 == len(cup.store.results("cup"))


def test_two_voids_in_a_row_stop_the_contest_with_the_reason_and_name_an_agent_that_did_it_before(cup: Cup) -> None:
    """A program that is no longer there is the judge's fault, twice."""
    cup.begin(RoundRobin(games=1))
    loop = cup.runner(lambda _: True)
    assert StopReason.PAUSED is loop.run()
    assert "stopped" == cup.store.state("cup")
    cup.store.release("cup", "looked at it")
    cup.store.set_state("cup", Resumed("looked at it"))
    assert StopReason.PAUSED is loop.run()

    assert any("void 2 times in a row" in line.text for line in cup.store.journal("cup"))
    first, second = [line.text for line in cup.store.journal("cup") if line.event == "stopped"]
    assert "stopped this contest before" not in first
    assert "games of one have stopped this contest before (1)" in second
