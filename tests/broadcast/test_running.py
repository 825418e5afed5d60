"""A running game as events: the same as its record says, however its transcript is cut, and nothing that is hidden."""

import json
from collections.abc import Callable, Iterable, Sequence

import pytest

from judge.broadcast.events import AnyEvent, MoveMade, Playing, SearchUpdate, TurnBegun, write_event
from judge.broadcast.running import RunningGame, events_of_record
from judge.broadcast.state import search_words
from judge.catalog.files import steps_of
from judge.record.spec import RecordFile
from judge.record.transcript import unpack_entries, unseal
from tests.broadcast.logs import shares
from tests.corpus.archive import SOURCE, parts, read
from tests.formats import recorded

FAMILIES = (recorded.gomoku, recorded.chess, recorded.quantum, recorded.stratego_game)


def heard(file: RecordFile, parts: int) -> list[AnyEvent]:
    running = RunningGame(file.record.spec, 1, file.record.attempt)
    events: list[AnyEvent] = []
    for part in shares(file, parts):
        entries = list(unpack_entries(part))
        events += running.add(entries, 1_700_000_000_000 + (entries[-1].ns / 1e6 if entries else 0))
    return events


def moves(events: Sequence[AnyEvent]) -> list[MoveMade]:
    return [event for event in events if isinstance(event, MoveMade)]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
@pytest.mark.parametrize("parts", [1, 7, 100_000])
def test_events_are_those_of_the_record_however_they_come(family: Callable[[], RecordFile], parts: int) -> None:
    file = family()
    events = heard(file, min(parts, len(unseal(file.transcript))))
    move_events = moves(events)

    plies = file.record.plies
    assert [(number, ply.seat, ply.ms) for number, ply in enumerate(plies, 1)] == [
        (move.ply, move.seat, move.charged_ms) for move in move_events
    ]
    assert [step.left_ms for step in steps_of(file).steps[1:]][-1] == move_events[-1].left_ms
    assert plain(events_of_record(file, 1)) == plain(events)


def plain(events: Iterable[AnyEvent]) -> list[dict[str, object]]:
    """Beginnings and moves without what exists only during a game."""
    return [
        {key: value for key, value in json.loads(write_event(event, 1)).items() if key not in ("at", "clock")}
        for event in events
        if isinstance(event, Playing | MoveMade)
    ]


def test_each_answer_of_every_record_is_a_move() -> None:
    """Also the last one, if its opponent lost by it or the game became void."""
    for part in parts():
        for text in read(part, SOURCE).values() if part.startswith("records") else ():
            file = RecordFile.model_validate_json(text)
            move_events = moves(events_of_record(file, 1))
            assert [ply.seat for ply in file.record.plies] == [move.seat for move in move_events], file.record.id


def test_a_board_can_be_followed_by_the_changes_alone() -> None:
    file = recorded.gomoku()
    first, *rest = [event for event in heard(file, 9) if isinstance(event, Playing | MoveMade)]
    assert isinstance(first, Playing)
    assert first.board is not None
    there = {(piece.x, piece.y): piece.number for piece in first.board.pieces}
    for move in moves(rest):
        for square in move.emptied:
            del there[square]
        there |= {(piece.x, piece.y): piece.number for piece in move.pieces}

    last = steps_of(file).steps[-1].view
    assert {square: token.number for square, token in last.tokens.items()} == there
    assert {square: mark.value for square, mark in last.marks.items()} == {
        (mark.x, mark.y): mark.mark for mark in moves(rest)[-1].marks
    }


def test_clocks_run_from_the_moment_of_the_transcript() -> None:
    """Every clock is told once, with its move or alone, as many as there are turns."""
    file = recorded.gomoku()
    events = heard(file, len(unseal(file.transcript)))
    clocks = [event.clock for event in events if isinstance(event, MoveMade | TurnBegun) and event.clock is not None]

    assert len(file.record.plies) == len(clocks)
    assert [ply.seat for ply in file.record.plies] == [clock.seat for clock in clocks]
    assert 119_999.0 == clocks[0].left_ms[0]
    assert all(clock.since_ms >= 1_700_000_000_000 for clock in clocks)


def test_clock_of_an_agent_that_fails_stops_without_an_answer() -> None:
    spec = recorded.gomoku().record.spec
    file = recorded.recorded(recorded.talker("7,7"), recorded.talker(), spec)
    events = heard(file, len(unseal(file.transcript)))

    assert file.record.seats[1].fault is not None
    clocks = [event.clock for event in events if isinstance(event, MoveMade | TurnBegun)]
    assert clocks[-2] is not None
    assert (1, None) == (clocks[-2].seat, clocks[-1])


def test_agent_messages_are_broadcast_while_it_thinks_and_with_its_move() -> None:
    file = recorded.gomoku()
    running = RunningGame(file.record.spec, 1, 1)
    events = []
    # A second passes between two parts, or nothing would be told twice.
    for number, part in enumerate(shares(file, len(unseal(file.transcript)))):
        events += running.add(list(unpack_entries(part)), 1_700_000_000_000 + 1000 * number)

    said = [event for event in events if isinstance(event, SearchUpdate)]
    assert "depth 3 ev 12 pv h8" == said[0].messages[0] == moves(events)[0].messages[0]
    # An escape sequence of a terminal is shown as the letters that it has.
    assert all(text.isprintable() for event in said for text in event.messages)


def test_hidden_pieces_are_not_revealed() -> None:
    """Which pieces stand where, in the set-up and on the board, and what an agent says of it."""
    file = recorded.stratego_game()
    events = heard(file, 50)
    text = b"\n".join(write_event(event, 1) for event in events).decode()
    rows = [ply.said for ply in file.record.plies[:8]]

    assert all(row not in text for row in rows)
    boards = [piece for event in moves(events) for piece in event.pieces]
    assert boards
    assert {("?#",)} == {piece.faces for piece in boards}
    assert not any(event.search or event.messages for event in moves(events))
    # A fight shows both ranks to both agents.
    assert any(event.said for event in moves(events))


def test_unknown_types_are_not_revealed() -> None:
    file = recorded.quantum()
    pieces = [piece for event in heard(file, 20) if isinstance(event, MoveMade) for piece in event.pieces]
    first = next(event for event in heard(file, 20) if isinstance(event, Playing))
    assert first.board is not None

    hidden = {face for piece in [*pieces, *first.board.pieces] for face in piece.faces if face.startswith("?")}
    assert {"?unknown"} == hidden


def test_search_is_shown_in_figures_without_the_words_of_the_agent() -> None:
    words = ("static depth 0 eval 302 nodes 0 pv 11,13 ms 0",)
    update = SearchUpdate(game=1, attempt=1, seat=0, search={}, messages=words)

    assert search_words(update) == "eval 302"
