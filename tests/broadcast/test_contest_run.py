"""`judge contest run` writes the log while it plays, in containers."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from judge.broadcast.events import Ended, MoveMade, read_event
from judge.broadcast.log import LOG_FILE
from tests.broadcast.logs import of_games, whole
from tests.cli.contests import running, slow_contest, write_contest


@pytest.mark.docker
def test_a_contest_that_is_played_has_a_log_with_every_move_as_it_came(tmp_path: Path) -> None:
    slow_contest(tmp_path / "cup", games=1)
    with running(tmp_path, "cup") as process:
        _, said = process.communicate()
        assert 0 == process.returncode, said
    events = [json.loads(line) for line in (tmp_path / "cup/events.ndjson").read_bytes().splitlines()]

    moves = {(event["game"], event["attempt"]): event["moves"] for event in events if event["type"] == "ended"}
    assert 1 == len(moves)
    assert {key: whole(count) for key, count in moves.items()} == of_games(events)
    # What a record cannot tell came from the workers: which clock runs.
    assert [event for event in events if "clock" in event]
    assert "table" == events[-1]["type"]


@pytest.mark.docker
def test_a_contest_that_is_over_before_its_recorder_listens_has_a_whole_log(tmp_path: Path) -> None:
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
    # The kernel said what the boxes used after each move, and the store knows on which cores they were played.
    assert all(event.memory_bytes for event in events if isinstance(event, MoveMade))
    with closing(sqlite3.connect(folder / "contest.db")) as database:
        assert [("core",)] * 2 == database.execute("SELECT substr(slot, 1, 4) FROM attempts").fetchall()
    assert "the recorder of events has ended" not in (folder / "log.jsonl").read_text()
