"""Several games at the same time: no slot is idle while a game can be played that depends on no result."""

import random
from contextlib import closing

import pytest

from judge.contest.contest import Contest
from judge.contest.runner import Scheduler
from judge.contest_games import GameState, Outcome, ScheduledGame
from judge.journal.events import Paused, Resumed
from judge.statistics.sprt import Sprt, SprtDecision
from judge.store.contests import Store
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.groups import Groups
from judge.tournament.formats.knockout import Knockout
from judge.tournament.formats.ladder import Ladder
from judge.tournament.formats.round_robin import DoubleRoundRobin, Gauntlet, RoundRobin
from judge.tournament.formats.sequential import Sequential
from judge.tournament.formats.swiss import Swiss
from tests.contest.cups import COMMITTED, cup, enter, play, reopen, scheduled, snapshot, won_by
from tests.contest.rounds import decided_after, entries

FORM = Sequential(games=2, test=Sprt(elo0=-100, elo1=100))


def rule(game: ScheduledGame) -> Outcome:
    """The result depends on the number alone."""
    better = int(game.first != "1")
    return won_by(random.Random(game.number).choice([better, better, 1 - better, None]))


def fill(contest: Contest, running: list[ScheduledGame], slots: int) -> None:
    while len(running) < slots:
        issued = contest.store.issue(contest.name, "here")
        if issued is None and Scheduler(contest).schedule_next():
            issued = contest.store.issue(contest.name, "here")
        if issued is None:
            return
        running.append(issued)


@pytest.mark.parametrize("slots", [1, 3, 8])
def test_no_slot_is_idle_before_the_decision_also_after_kills(slots: int) -> None:
    with cup(FORM, 2, **COMMITTED) as one_by_one:
        play(one_by_one, rule)
        expected = [(game.id, game.first) for game in scheduled(one_by_one)]
        decision = FORM.state(one_by_one.tournament.entries(), one_by_one.view().paired)
        assert SprtDecision.GO_ON is not decision.decision
    chance = random.Random(slots)
    with closing(Store("sqlite:///:memory:")) as store:
        contest = enter(store, snapshot(FORM, 2, **COMMITTED))
        running: list[ScheduledGame] = []
        while True:
            if chance.random() < 0.1:
                store.roll_back(contest.name, "the judge was killed")
                contest, running = reopen(store, contest.snapshot), []
            fill(contest, running, slots)
            if not running:
                break
            assert len(running) == slots or decided_after(FORM, entries(2), contest.view().paired) is not None
            game = running.pop(chance.randrange(len(running)))
            store.accept(game.id, game.attempt, rule(game))

        found = [(game.id, game.first) for game in scheduled(contest)]
        assert expected == found[: len(expected)]
        assert len(expected) == FORM.games * (decided_after(FORM, entries(2), contest.view().paired) or 0)
        assert len(found) - len(expected) <= FORM.games * slots
        assert decision == FORM.state(contest.tournament.entries(), contest.view().paired)
        assert contest.view().is_over


def test_nothing_is_drawn_while_a_game_is_held() -> None:
    with cup(FORM, 2, **COMMITTED) as contest:
        running: list[ScheduledGame] = []
        fill(contest, running, 3)
        first = running.pop(0)
        assert GameState.HELD is contest.store.void(first.id, first.attempt, "no disk", None, allowed=1)

        fill(contest, running, 8)
        count = len(scheduled(contest))
        for game in running:
            contest.store.accept(game.id, game.attempt, rule(game))
        assert not Scheduler(contest).schedule_next()
        assert count == len(scheduled(contest))

        contest.store.release(contest.name, "tried once more")
        play(contest, rule)
        assert contest.view().is_over
        assert count < len(scheduled(contest))


@pytest.mark.parametrize(("form", "agents", "running"), [(FORM, 2, 2), (Ladder(total_games=60), 4, 1)])
def test_nothing_is_drawn_while_a_contest_is_paused(form: Sequential | Ladder, agents: int, running: int) -> None:
    with cup(form, agents, **COMMITTED) as contest:
        fill(contest, [], running)
        contest.store.set_state(contest.name, Paused("lunch"))
        assert not Scheduler(contest).schedule_next()
        contest.store.set_state(contest.name, Resumed("back"))
        assert Scheduler(contest).schedule_next()


@pytest.mark.parametrize(
    "form", [RoundRobin(cycles=3), DoubleRoundRobin(), Gauntlet(challengers=2), Groups(), Swiss(rounds=3), Knockout()]
)
def test_a_round_is_no_barrier_for_games_that_depend_on_no_result(form: AnyFormat) -> None:
    """All pairings that follow whatever the results are, are drawn at the start."""
    with cup(form, 8) as contest:
        running: list[ScheduledGame] = []
        fill(contest, running, 1000)
        drawn = contest.store.pairings(contest.name)
        rounds = len({pairing.round for pairing in drawn})
        assert len(running) == form.games * len(drawn)
        if isinstance(form, Swiss | Knockout):
            assert 1 == rounds
        else:
            assert 1 < rounds
            assert isinstance(form, Groups) or not contest.view().to_come.games


def test_a_swiss_round_is_not_drawn_while_games_of_the_last_one_run() -> None:
    with cup(Swiss(rounds=3), 4) as contest:
        running: list[ScheduledGame] = []
        fill(contest, running, 8)
        assert 4 == len(running)
        for game in running:
            assert not Scheduler(contest).schedule_next()
            contest.store.accept(game.id, game.attempt, rule(game))
        assert Scheduler(contest).schedule_next()
