"""A ladder: one pair at a time, chosen from the results so far, also by a judge that continues after a kill."""

import re
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.contest.contest import Contest, why_frozen
from judge.contest.plan import load_plan
from judge.contest.resolved_format import resolved_format
from judge.contest.runner import Scheduler
from judge.journal.events import Rated, SeasonEnded
from judge.store.contests import Store
from judge.store.orders import OrganiserOrder
from judge.tournament.formats.ladder import Ladder
from judge.tournament.formats.round_robin import RoundRobin
from tests.contest.cups import COMMITTED, by_chance, cup, enter, play, reopen, scheduled, snapshot
from tests.contest.giving import give, previewed
from tests.examples import of_evidence

SEASON = Ladder(total_games=60)
ENDS = datetime(2026, 12, 24, 18, tzinfo=UTC)


def begin(store: Store, form: Ladder = SEASON, agents: int = 8) -> Contest:
    return enter(store, snapshot(form, agents, **COMMITTED))


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, *of_evidence(7)])
def test_a_judge_that_is_killed_after_each_game_draws_the_same_pairs(every: int) -> None:
    season = Ladder(total_games=24)
    with cup(season, 8, **COMMITTED) as whole:
        play(whole, by_chance(1))
        expected = scheduled(whole)
    with closing(Store("sqlite:///:memory:")) as store:
        contest = begin(store, season)
        while play(contest, by_chance(1), every):
            contest = reopen(store, contest.snapshot)
        assert expected == scheduled(contest)


LEAVING = {"one agent is left": ("1", "2"), "only anchors are left": ("2", "3")}


@pytest.mark.parametrize("gone", LEAVING.values(), ids=LEAVING)
@pytest.mark.parametrize("end", ["all games", "the moment", "the order"])
def test_a_season_waits_for_agents_and_ends_by_its_rule_alone(gone: tuple[str, str], end: str) -> None:
    clock = [ENDS - timedelta(hours=1)]
    season = Ladder(total_games=10 if end == "all games" else 60, ends=ENDS, anchors={"1": 0, "4": 0})
    with closing(Store("sqlite:///:memory:")) as store:
        store._now = lambda: clock[0]
        contest = begin(store, season, 4 if gone == LEAVING["only anchors are left"] else 3)
        play(contest, by_chance(1), 10)
        for agent in gone:
            store.disqualify(contest.name, agent, "by the organiser")
        contest.refresh()
        left = season.total_games - 10
        assert (not left, left) == (contest.view().is_over, contest.view().to_come.games)
        assert not play(contest, by_chance(1))
        assert contest.view().is_over is not bool(left)
        assert (contest.view().secret is None) is bool(left)
        if end == "the moment":
            clock[0] = ENDS
            assert not Scheduler(contest).schedule_next()
        elif end == "the order":
            give(contest, order("end-season"))
        assert contest.view().is_over
        assert not contest.view().to_come.games
        assert bool(left) == len(store.last_lines(contest.name, 9, SeasonEnded))
        assert not Scheduler(contest).schedule_next()
        assert bool(left) == len(store.last_lines(contest.name, 9, SeasonEnded))


@pytest.mark.parametrize("is_over", [False, True])
def test_line_of_another_process_is_read_before_the_draw(is_over: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with cup(SEASON, 4, **COMMITTED) as contest:
        play(contest, by_chance(1), 5)
        schedule = contest.store.schedule
        waiting = [
            lambda: (
                give(contest, order("end-season"))
                if is_over
                else contest.store.disqualify(contest.name, "2", "by the organiser")
            )
        ]

        def interrupted(*words: object, **options: object) -> bool:
            if waiting:
                waiting.pop()()
            return schedule(*words, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(contest.store, "schedule", interrupted)
        assert Scheduler(contest).schedule_next() is not is_over
        assert is_over or "2" not in (scheduled(contest)[-1].first, scheduled(contest)[-1].second)
        assert is_over == contest.view().is_over


def order(action: str, why: str = "the term is over") -> OrganiserOrder:
    return OrganiserOrder("Olga", action, "", why)


def test_a_season_ends_at_its_moment_and_drawn_games_still_count() -> None:
    clock = [ENDS - timedelta(hours=1)]
    with closing(Store("sqlite:///:memory:")) as store:
        store._now = lambda: clock[0]
        contest = begin(store, Ladder(total_games=60, ends=ENDS))
        play(contest, by_chance(1), 10)
        assert Scheduler(contest).schedule_next()
        clock[0] = ENDS
        assert not Scheduler(contest).schedule_next()
        assert not contest.view().is_over
        contest = reopen(store, contest.snapshot)
        assert contest.view().to_come.games == 0
        assert len(play(contest, by_chance(1))) == 1
        assert contest.view().is_over
        (line,) = store.last_lines(contest.name, 1, SeasonEnded)
        assert (line.at, line.text) == ("2026-12-24T18:00:00.000+00:00", "2026-12-24 18:00:00 UTC")
        assert len(scheduled(contest)) == 11


def test_an_organiser_ends_the_season_of_a_ladder_once() -> None:
    with cup(SEASON, 8, **COMMITTED) as contest:
        play(contest, by_chance(1), 20)
        Scheduler(contest).schedule_next()
        assert "finished and count: 1. Games that are not drawn any more: 39" in previewed(contest, "end-season").words
        done = give(contest, order("end-season"))
        assert "the season of cup has ended; games that are being finished: 1" == done.done
        assert len(play(contest, by_chance(1))) == 1
        assert contest.view().is_over
        with pytest.raises(InputError, match="has ended already"):
            give(contest, order("end-season"))
        with pytest.raises(InputError, match="has ended already"):
            give(contest, order("freeze-admissions"))
    with cup(RoundRobin(), 4) as contest:
        for action in ("end-season", "freeze-admissions", "reopen-admissions"):
            with pytest.raises(InputError, match="round-robin has no season"):
                give(contest, order(action))


def test_admissions_are_frozen_and_reopened_in_turns() -> None:
    with cup(SEASON, 4, **COMMITTED) as contest:
        with pytest.raises(InputError, match="admissions are open already"):
            previewed(contest, "reopen-admissions")
        assert previewed(contest, "freeze-admissions").words
        give(contest, order("freeze-admissions", "the last week"))
        assert why_frozen(contest.store, contest.name) == "the last week"
        with pytest.raises(InputError, match="admissions are frozen: the last week"):
            give(contest, order("freeze-admissions"))
        assert len(play(contest, by_chance(1), 5)) == 5
        give(contest, order("reopen-admissions", "an error"))
        assert why_frozen(contest.store, contest.name) is None
        with pytest.raises(InputError, match="admissions are open already"):
            give(contest, order("reopen-admissions"))


PLAN = 'name = "cup"\npolicy = "gomocup-standard"\n{}\n[format]\nname = "ladder"\nends = {}\n'


@pytest.mark.parametrize(
    ("top", "ends"), [("", "2099-12-24T19:00:00+01:00"), ('zone = "Europe/Prague"', "2099-12-24T19:00:00")]
)
def test_the_terms_have_the_end_in_utc(top: str, ends: str, tmp_path: Path) -> None:
    (tmp_path / "contest.toml").write_text(PLAN.format(top, ends))
    form = resolved_format(load_plan(tmp_path), [])
    assert '"ends":"2099-12-24T18:00:00Z"' in form.model_dump_json()
    assert Ladder.model_validate_json(form.model_dump_json()) == form


@pytest.mark.parametrize(
    ("top", "ends", "problem"),
    [
        ("", "2026-12-24T19:00:00", "format.ends has no offset"),
        ("", '"next week"', "line 6: format.ends: write a date and a time without quotes"),
        ("[contest]\nstarts = 2027-01-01T00:00:00Z", "2026-12-24T19:00:00Z", "format.ends is .* before contest.starts"),
    ],
)
def test_a_wrong_end_is_named(top: str, ends: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "contest.toml").write_text(PLAN.format(top, ends))
    with pytest.raises(InputError, match=problem):
        load_plan(tmp_path)


def test_a_season_cannot_begin_after_its_end(tmp_path: Path) -> None:
    (tmp_path / "contest.toml").write_text(PLAN.format("", "2020-12-24T19:00:00Z"))
    with pytest.raises(InputError, match=r"format.ends, 2020-12-24 19:00:00 UTC, has passed; write a later moment"):
        resolved_format(load_plan(tmp_path), [])


@pytest.mark.slow
def test_each_rating_is_reported_once_when_it_is_certain_enough() -> None:
    season = Ladder(total_games=130, anchors={"1": 0})
    with closing(Store("sqlite:///:memory:")) as store:
        contest = begin(store, season, 5)
        while play(contest, by_chance(1), 37):
            contest = reopen(store, contest.snapshot)
        lines = [line.text for line in store.journal(contest.name) if isinstance(line.change, Rated)]
        pairs = scheduled(contest)
    assert ["2", "3", "4", "5"] == sorted(text.partition(": ")[0] for text in lines)
    assert all(re.fullmatch(r"\d: -?\d+ Elo, standard error (7[0-5]|[1-6]\d)", text) for text in lines)
    with cup(season, 5, **COMMITTED) as whole:
        play(whole, by_chance(1))
        assert pairs == scheduled(whole)
