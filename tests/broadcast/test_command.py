"""`judge contest run` writes the log of events beside its games."""

from collections import Counter
from pathlib import Path

import pytest

from judge.broadcast.events import Ended, MoveMade, read_event
from judge.broadcast.log import LOG_FILE
from tests.cli.contests import running, write_contest


@pytest.mark.docker
def test_every_move_of_a_contest_is_in_its_log(tmp_path: Path) -> None:
    """By the command in an interpreter of its own, whose store is open when the recorder is started."""
    folder = write_contest(tmp_path / "cup", ["house-instant", "house-instant"])
    with running(tmp_path, "cup", is_new=True) as contest:
        _, complaints = contest.communicate()

    assert 0 == contest.returncode, complaints
    events = [read_event(line) for line in (folder / LOG_FILE).read_bytes().splitlines()]
    assert ["opened", "entered", "scheduled"] == [event.type for event in events[:3]]
    moves = Counter(event.game for event in events if isinstance(event, MoveMade))
    assert {1: moves[1], 2: moves[2]} == {event.game: event.moves for event in events if isinstance(event, Ended)}
    assert min(moves.values()) > 4
    assert "the recorder of events has ended" not in (folder / "log.jsonl").read_text()
