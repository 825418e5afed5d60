"""The state of a contest from its events: an event changes it completely or not at all."""

import json
from copy import deepcopy
from typing import Any

import pytest

from judge.broadcast import events
from judge.broadcast.running import events_of_record
from judge.broadcast.state import Live
from tests.formats import recorded

AT = "2026-01-01T00:00:00+00:00"
NAMES = ("anna", "bert")
COMING = events.NextGame(game=2, round=1, table=1, first="anna", second="bert", stage="A")
PIECE = events.PieceShown(x=0, y=0, side=0)
INVALID: Any = None
"""A value that no line of a log has."""


def started(game: int, at: str = AT) -> events.GameStarted:
    return events.GameStarted(game=game, attempt=1, at=at, first=NAMES[0], second=NAMES[1])


def ended(game: int, **changed: Any) -> events.Ended:
    given = {"game": game, "attempt": 1, "at": AT, "verdict": "win", "winner": 0, "score": "1 : 0", "outcome": ""}
    return events.Ended.model_construct(**{**given, "moves": 9, "record": "", **changed})


def state() -> Live:
    """One game has ended, and one with moves is played."""
    agents = tuple(
        events.EnteredAgent(agent=place, name=name, author="", rank=0) for place, name in enumerate(NAMES, 1)
    )
    live = Live()
    past: list[events.AnyEvent] = [
        events.Entered(at=AT, agents=agents),
        events.Scheduled(at=AT, games=(COMING,)),
        started(1),
        ended(1),
        started(2),
        *events_of_record(recorded.gomoku(), 2),
    ]
    for seq, event in enumerate(past, 1):
        live.apply(event.model_copy(update={"seq": seq}))
    assert live.games[2].moves
    return live


def move(**changed: Any) -> events.MoveMade:
    found = next(each for each in state().games[2].moves if each.pieces)
    return found.model_copy(update={"emptied": tuple((piece.x, piece.y) for piece in found.pieces), **changed})


INVALID_EVENTS: dict[str, events.AnyEvent] = {
    "an end at no time": ended(2, at=""),
    "agents, of which the second is invalid": events.Entered.model_construct(
        at=AT, agents=(events.EnteredAgent(agent=1, name="carl", author="", rank=0), INVALID)
    ),
    "games, of which the second is invalid": events.Scheduled.model_construct(
        at=AT, games=(COMING.model_copy(update={"game": 3}), INVALID)
    ),
    "a board with an invalid piece": events.Playing.model_construct(
        game=2,
        attempt=1,
        at=AT,
        play=2,
        set_moves=0,
        left_ms=(None, None),
        board=events.Board.model_construct(
            surface="", columns=(), rows=(), sides=("", ""), seats=(1, 0), pieces=(PIECE, INVALID)
        ),
    ),
    "a move with an invalid piece": move(pieces=(PIECE, INVALID)),
    "a withdrawal without a reason": events.Withdrawn.model_construct(
        at=AT, agent="anna", is_annulled=True, reason=INVALID
    ),
    "an annulled game without a number": events.Unscored.model_construct(
        game=INVALID, attempt=1, at=AT, state="annulled", reason=""
    ),
}


@pytest.mark.parametrize("name", INVALID_EVENTS)
def test_invalid_event_changes_nothing(name: str) -> None:
    live = state()
    if name == "an annulled game without a number":
        live.games[INVALID_EVENTS[name].game] = live.games[2]  # type: ignore[union-attr]
    before = deepcopy(live)
    with pytest.raises((ValueError, AttributeError, TypeError)):
        live.apply(INVALID_EVENTS[name].model_copy(update={"seq": 999}))
    assert before == live


def test_end_of_an_unknown_game_only_lets_the_standings_change() -> None:
    live, expected = state(), state()
    live.apply(ended(7).model_copy(update={"seq": 999}))
    expected.is_table_due, expected.version, expected.seq = True, expected.version + 1, 999
    assert expected == live


@pytest.mark.parametrize("state", ["void", "annulled"])
def test_game_that_does_not_count_waits_again_and_has_no_result(state: Any) -> None:
    live = Live()
    live.apply(started(1))
    if state == "annulled":
        live.apply(ended(1))
    live.apply(events.Unscored(game=1, attempt=1, at=AT, state=state, reason=""))
    assert ([], [], {}, {}) == (live.ended, live.last_games, live.games, live.evaluated)
    assert [(1, *NAMES)] == [(game.game, game.first, game.second) for game, _ in live.next_games()]


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("move", {"seat": 2}),
        ("move", {"seat": -1}),
        ("move", {"seats": [0, 0]}),
        ("move", {"clock": {"seat": 7, "since_ms": 0, "turn_ms": 1, "left_ms": [None, None]}}),
        ("playing", {"board": {"surface": "", "columns": [], "rows": [], "sides": ["", ""], "seats": [1, 2]}}),
        ("search", {"seat": 2}),
        ("ended", {"winner": 2}),
        ("ended", {"at": ""}),
        ("started", {"at": "yesterday"}),
    ],
)
def test_line_with_an_unknown_seat_or_an_invalid_time_is_damaged(kind: str, changed: dict[str, Any]) -> None:
    search = events.SearchUpdate(game=2, attempt=1, seat=0, search={})
    playing = next(each for each in events_of_record(recorded.gomoku(), 2) if isinstance(each, events.Playing))
    event = next(each for each in (started(1), playing, search, move(), ended(2)) if each.type == kind)
    line = events.write_event(event, 1)
    assert event.model_copy(update={"seq": 1}) == events.read_event(line)
    with pytest.raises(ValueError, match=next(iter(changed))):
        events.read_event(json.dumps({**json.loads(line), **changed}).encode())
