"""`judge contest run` writes the log while it plays, in containers."""

import json
from pathlib import Path

import pytest

from tests.broadcast.logs import of_games, whole
from tests.cli.contests import running, slow_contest


@pytest.mark.docker
def test_a_contest_that_is_played_has_a_log_with_every_move_as_it_came(tmp_path: Path) -> None:
    slow_contest(tmp_path / "cup", pause=4)
    with running(tmp_path, "cup") as process:
        _, said = process.communicate()
        assert 0 == process.returncode, said
    told = [json.loads(line) for line in (tmp_path / "cup/events.ndjson").read_bytes().splitlines()]

    moves = {(event["game"], event["attempt"]): event["moves"] for event in told if event["type"] == "ended"}
    assert 2 == len(moves)
    assert {key: whole(count) for key, count in moves.items()} == of_games(told)
    # What a record cannot tell came from the workers: which clock runs.
    assert [event for event in told if "clock" in event]
    assert "table" == told[-1]["type"]
