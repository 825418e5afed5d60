"""A ladder: one pair at a time, chosen from the results so far, also by a judge that continues after a kill."""

import random
from collections import Counter
from contextlib import closing

import pytest
from pydantic import ValidationError

from judge.contest.contest import Contest
from judge.contest_games import GameState, ScheduledGame
from judge.store.contests import Store
from judge.tournament.formats.ladder import Ladder, Matchmaking
from tests.contest.cups import COMMITTED, by_chance, cup, enter, play, reopen, scheduled, snapshot, won_by

SEASON = Ladder(total_games=60)


def begin(store: Store, form: Ladder = SEASON, agents: int = 8) -> Contest:
    return enter(store, snapshot(form, agents, **COMMITTED))


def test_a_season_has_its_number_of_games_and_ends() -> None:
    with cup(SEASON, 8, **COMMITTED) as contest:
        assert not contest.is_over()
        assert contest.to_come().games == 59
        assert len(play(contest, by_chance(1))) == 60
        assert contest.is_over()
        assert not contest.schedule_next()
        played = Counter(agent for game in scheduled(contest) for agent in (game.first, game.second))
        assert len(played) == 8
        assert min(played.values()) >= 5


@pytest.mark.parametrize("every", [1, 7])
def test_a_judge_that_is_killed_after_each_game_draws_the_same_pairs(every: int) -> None:
    with cup(SEASON, 8, **COMMITTED) as whole:
        play(whole, by_chance(1))
        expected = scheduled(whole)
    with closing(Store("sqlite:///:memory:")) as store:
        contest = begin(store)
        while play(contest, by_chance(1), every):
            contest = reopen(store, contest.snapshot)
        assert expected == scheduled(contest)


def test_pairs_depend_on_the_order_of_results_and_on_the_secret() -> None:
    schedules = set()
    for seed, changes in ((1, COMMITTED), (2, COMMITTED), (1, {"seed": 7})):
        with cup(SEASON, 8, **changes) as contest:
            play(contest, by_chance(seed))
            schedules.add(tuple((game.first, game.second) for game in scheduled(contest)))
    assert len(schedules) == 3


def test_a_disqualified_agent_is_drawn_no_more() -> None:
    with cup(SEASON, 8, **COMMITTED) as contest:
        play(contest, by_chance(1), 30)
        contest.store.disqualify(contest.name, "3", "by the organiser")
        late = play(contest, by_chance(1))
        assert 29 <= len(late) <= 30
        assert not [game for game in late if "3" in (game.first, game.second)]


def test_several_games_are_open_but_no_agent_has_more_than_allowed() -> None:
    with cup(Ladder(total_games=40, matchmaking=Matchmaking(open_games=1)), 6, **COMMITTED) as contest:
        chance, store = random.Random(3), contest.store
        running: list[ScheduledGame] = []
        while True:
            while len(running) < 5:
                issued = store.issue(contest.name, "here")
                if issued is None and contest.schedule_next():
                    issued = store.issue(contest.name, "here")
                if issued is None:
                    break
                running.append(issued)
            if not running:
                break
            busy = Counter(agent for game in running for agent in (game.first, game.second))
            assert max(busy.values()) == 1
            game = running.pop(chance.randrange(len(running)))
            if chance.random() < 0.1:
                store.void(game.id, game.attempt, "the host", None, 100)
            else:
                store.accept(game.id, game.attempt, won_by(chance.choice([0, 1, None])))
        assert contest.is_over()
        assert contest.store.counts(contest.name)[GameState.DONE] == 40


def test_it_ends_when_one_agent_is_left() -> None:
    with cup(SEASON, 3, **COMMITTED) as contest:
        play(contest, by_chance(1), 10)
        for agent in ("1", "2"):
            contest.store.disqualify(contest.name, agent, "by the organiser")
        assert not play(contest, by_chance(1))
        assert contest.is_over()
        assert not contest.to_come().games


def test_nothing_is_drawn_while_the_contest_is_paused() -> None:
    with cup(SEASON, 4, **COMMITTED) as contest:
        play(contest, by_chance(1), 5)
        contest.store.set_state(contest.name, "paused", "lunch")
        count = len(scheduled(contest))
        assert not contest.schedule_next()
        assert len(scheduled(contest)) == count


def test_a_line_that_another_process_writes_meanwhile_is_taken_before_the_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    with cup(SEASON, 4, **COMMITTED) as contest:
        play(contest, by_chance(1), 5)
        schedule = contest.store.schedule
        reasons = ["by the organiser"]

        def interrupted(*words: object, **options: object) -> bool:
            if reasons:
                contest.store.disqualify(contest.name, "2", reasons.pop())
            return schedule(*words, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(contest.store, "schedule", interrupted)
        assert contest.schedule_next()
        assert "2" not in (scheduled(contest)[-1].first, scheduled(contest)[-1].second)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("games", 2),
        ("total_games", 0),
        ("deviation", 0),
        ("matchmaking", {"open_games": 0}),
        ("matchmaking", {"author_share": 1.5}),
        ("matchmaking", {"neighbors": 3}),
    ],
)
def test_a_wrong_key_is_named(key: str, value: object) -> None:
    with pytest.raises(ValidationError, match=key):
        Ladder.model_validate({"name": "ladder", key: value})
