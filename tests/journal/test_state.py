"""The state of a contest after the events of its journal."""

from collections.abc import Iterable, Iterator, Sequence

import pytest

from judge.journal.codec import Event, Line, UnknownLine
from judge.journal.events import (
    Abandoned,
    Accepted,
    AdmissionsFrozen,
    AdmissionsReopened,
    Annulled,
    Created,
    Disqualified,
    Entered,
    Paused,
    Resumed,
    Scheduled,
    SeasonEnded,
    SetAside,
    Started,
    Stopped,
    SubmissionChanged,
    SubmissionState,
    Superseded,
    Voided,
    Withdrawn,
)
from judge.journal.state import ContestState, GameAttempts
from tests.calls import calls_of

ANNA, BERT, CLEO = "anna", "bert", "cleo"


def started(attempt: int, game: str = "g") -> Started:
    return Started(game, attempt, ANNA, BERT)


def accepted(attempt: int, game: str = "g") -> Accepted:
    return Accepted(game, attempt, "five in a row", winner=ANNA)


def state_of(events: Iterable[Event]) -> ContestState:
    state = ContestState()
    for event in events:
        assert [] == state.apply(event)
    return state


def test_a_new_state_is_that_of_a_contest_that_was_not_created() -> None:
    state = ContestState()
    assert (False, False, 0) == (state.is_created, state.has_ended, state.scheduled)
    assert isinstance(state.activity, Resumed)
    assert state.why_frozen is None


def test_agents_are_in_the_order_of_their_events() -> None:
    changes = [Withdrawn(BERT, "ill"), Entered(CLEO, "late"), Disqualified(BERT, "cheated"), Disqualified(ANNA, "left")]
    state = state_of([Created(2), *changes])
    assert changes == state.changes
    assert [(BERT, "cheated"), (ANNA, "left")] == list(state.disqualified.items())
    assert {BERT: "ill"} == state.withdrawn
    assert {CLEO: "late"} == state.entered


def test_the_last_order_decides_whether_games_are_issued() -> None:
    stop = Stopped(ANNA, BERT, 3, "no host")
    assert Paused("lunch") == state_of([Paused("lunch")]).activity
    assert stop == state_of([Resumed(""), stop]).activity
    assert Resumed("back") == state_of([stop, Paused("lunch"), Resumed("back")]).activity


def test_games_set_aside_before_and_after_a_stop_differ() -> None:
    stop = Stopped(ANNA, BERT, 3, "no host")
    state = state_of([SetAside("g", 3, "why"), stop, SetAside("h", 3, "why")])
    assert {"g": 0, "h": 1} == state.set_aside
    assert [stop] == state.stops


def test_the_last_state_of_a_submission_is_kept_with_its_digest() -> None:
    state = ContestState()
    passed = SubmissionChanged(SubmissionState.PASSED, 7, ANNA)
    state.apply(SubmissionChanged(SubmissionState.RECEIVED, 7), "a" * 64)
    state.apply(passed, "b" * 64)
    assert {7: (passed, "b" * 64)} == state.submissions


def test_season_and_admissions_follow_the_orders() -> None:
    state = state_of([AdmissionsFrozen("full"), AdmissionsReopened("room"), AdmissionsFrozen("full again")])
    assert "full again" == state.why_frozen
    assert state_of([SeasonEnded("done")]).has_ended


def test_an_annulled_result_keeps_the_digest_of_its_record_and_a_late_end_is_superseded() -> None:
    state, why = ContestState(), Annulled("g", 1, "wrong host")
    for event, digest in ((started(1), None), (accepted(1), "d" * 64), (why, None), (started(2), None)):
        assert [] == state.apply(event, digest)
    assert {"g": GameAttempts(2, 2, None, {1: (why, "d" * 64)})} == state.games
    events = [started(1), Abandoned("g", 1, "lost"), started(2), accepted(2), Superseded("g", 1, "late")]
    game = state_of(events).games["g"]
    assert (2, None, 2) == (game.last, game.running, game.counted)
    assert [2, 1] == sorted(game.ended, reverse=True)


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([Paused(""), started(1)], "the contest was not open"),
        ([Stopped(ANNA, BERT, 3, ""), started(1)], "the contest was not open"),
        ([started(2)], "attempt 2 does not follow 0"),
        ([started(1), started(2)], "attempt 1 of the game has not ended"),
        ([started(1), accepted(1), started(2)], "the game already has a result, of attempt 1"),
        ([accepted(1)], "attempt 1 was not started"),
        ([started(1), accepted(0)], "attempt 0 was not started"),
        ([started(1), Voided("g", 1, ""), accepted(1)], "attempt 1 was not running"),
        ([started(1), Superseded("g", 1, "")], "attempt 1 was running, so it cannot be superseded"),
        ([started(1), Voided("g", 1, ""), Annulled("g", 1, "")], "attempt 1 was not running and has no counted result"),
        ([SeasonEnded(""), SeasonEnded("")], "the season had ended before"),
        ([SeasonEnded(""), Scheduled(1)], "a game was drawn after the end of the season"),
        ([AdmissionsFrozen(""), AdmissionsFrozen("")], "admissions were frozen before"),
        ([AdmissionsReopened("")], "admissions were open before"),
        ([AdmissionsFrozen(""), Entered(CLEO, "")], "cleo entered while admissions were frozen"),
    ],
)
def test_an_event_that_cannot_follow_is_reported(events: Sequence[Event], problem: str) -> None:
    *before, last = events
    assert [problem] == state_of(before).apply(last)


def test_lines_that_no_judge_writes_change_nothing() -> None:
    state, new = ContestState(), ContestState()
    for name, text, game, attempt in (
        ("promoted", "anna", None, None),
        ("started", "anna", "g", 1),
        ("scheduled", "-3 games", None, None),
        ("scheduled", f"{10**30} games", None, None),
        ("accepted", "anna won: x", "g", None),
        ("disqualified", "anna", None, None),
    ):
        assert [] == state.apply(UnknownLine(Line(name, text, game, attempt)))
    assert vars(new) == vars(state)


def season(results: int) -> Iterator[Event]:
    """A ladder that draws its games one by one, in which each tenth attempt is void."""
    yield Created(2)
    for number in range(results):
        game, attempt = f"game {number}", 1
        yield Scheduled(1)
        if number % 10 == 0:
            yield started(1, game)
            yield Voided(game, 1, "no host")
            attempt = 2
        yield started(attempt, game)
        yield accepted(attempt, game)


def test_the_work_is_linear_in_the_number_of_results() -> None:
    few, many = list(season(500)), list(season(5_000))
    assert calls_of(lambda: state_of(many)) <= 10 * calls_of(lambda: state_of(few))


def test_many_illegal_events_need_no_memory() -> None:
    state = ContestState()
    for event in (AdmissionsReopened(""), started(3), accepted(7), UnknownLine(Line("promoted", "anna"))):
        for _ in range(1000):
            state.apply(event)
    assert [] == state.changes + state.stops
    assert {"g": GameAttempts(3, 3)} == state.games
