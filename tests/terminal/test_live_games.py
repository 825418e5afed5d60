"""The views: a feed of frames goes in, as a judge would write them, and the game is on the screen."""

import json
import os

from judge.broadcast import pipe
from judge.catalog.files import steps_of
from judge.record.spec import RecordFile
from judge.record.transcript import Entry, Transcript, unseal
from judge.terminal.live import Follower, GameViews
from judge.terminal.screen import Screen
from tests.formats import recorded


def packed(entries: list[Entry]) -> bytes:
    parts: list[bytes] = []
    transcript = Transcript(parts.append)
    for entry in entries:
        transcript.add(entry.ns + 1, entry.seat, entry.kind, entry.data)
    transcript.spill()
    return b"".join(parts)


def shown(file: RecordFile, share: float = 1.0, games: int = 1) -> tuple[GameViews[Follower], Screen]:
    """The screen when this share of the transcript was heard; the whole game is ended."""
    views = GameViews(Follower, os.getpid())
    names = [seat.name for seat in file.record.seats]
    views.hear(pipe.SERIES, json.dumps({"names": names, "games": games}).encode())
    views.hear(pipe.BEGIN, file.record.spec.model_dump_json().encode())
    entries = unseal(file.transcript)
    views.hear(pipe.TRANSCRIPT, packed(entries[: round(len(entries) * share)]))
    views.hear(pipe.END, b'{"result": "over", "points": 1.0, "is_last_attempt": true}')
    screen = views.screen()
    assert screen is not None
    return views, screen


def test_the_end_of_a_game_is_that_of_its_record() -> None:
    for family in (recorded.gomoku, recorded.stratego_game, recorded.chess, recorded.quantum):
        file = family()
        _, screen = shown(file)

        assert steps_of(file).steps[-1].view == screen.view
        assert "over" == screen.status
        assert [(p.seat, p.said) for p in file.record.plies] == [(move.seat, move.said) for move in screen.moves]


def test_a_game_that_breaks_off_is_shown_as_far_as_it_came() -> None:
    _, screen = shown(recorded.gomoku(), share=0.6)

    assert 1 < len(screen.view.tokens) < 9


def test_output_of_agents_and_their_clocks() -> None:
    _, screen = shown(recorded.gomoku())
    first = screen.seats[0]

    assert "\x1b[2J[red]boo[/]" == first.messages[-1]
    assert ("4,0", 3.0, 5000, 120_000) == (first.said, first.turn_ms, first.turn_limit_ms, first.match_ms)
    assert 119_984.0 == first.left_ms
    assert [False, False] == [seat.is_asked for seat in screen.seats]


def test_a_series_is_counted_for_the_first_agent_without_attempts_that_are_repeated() -> None:
    views, _ = shown(recorded.gomoku(), games=4)
    views.hear(pipe.BEGIN, recorded.gomoku().record.spec.model_dump_json().encode())
    views.hear(pipe.END, b'{"result": "void", "points": null, "is_last_attempt": false}')

    screen = views.screen()

    assert screen is not None
    assert screen.series is not None
    assert ((1.0,), 4, "game 1 of 4") == (screen.series.results, screen.series.games, screen.title[:11])


def test_one_game_has_no_score_and_none_has_no_screen() -> None:
    assert None is shown(recorded.gomoku())[1].series
    assert None is GameViews(Follower, os.getpid()).screen()


def test_a_transcript_that_makes_no_sense_is_shown_as_far_as_it_does() -> None:
    file = recorded.gomoku()
    entries = unseal(file.transcript)
    views = GameViews(Follower, os.getpid())
    views.hear(pipe.BEGIN, file.record.spec.model_dump_json().encode())
    views.hear(pipe.TRANSCRIPT, packed(entries[:20] + entries[:20] + entries))
    views.hear(pipe.END, b'{"result": "void", "points": null, "is_last_attempt": true}')

    screen = views.screen()

    assert screen is not None
    assert "void" == screen.status
