"""What a worker keeps: agents whose files are what their digest says, and played games until somebody has them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from judge.agents.agents import program_digest
from judge.agents.store import pack_agent
from judge.cluster.host import WorkerHost, refuse_other_images
from judge.cluster.messages import Key, RemoteJob
from judge.cluster.unacknowledged import Outbox
from judge.contest.worker import Job, JobResult
from judge.errors import HostError, InputError
from judge.matches import Match, Outcome, SeatOutcome
from judge.referee.play import Slot

KEY = Key("cup, created then", "0123456789abcdef0123", 2)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "program"
    (folder / "data").mkdir(parents=True)
    (folder / "run").write_bytes(b"#!/bin/sh\n")
    (folder / "run").chmod(0o755)
    (folder / "data" / "book").write_bytes(bytes(100_000))
    return folder


def test_an_agent_that_was_changed_does_not_play_and_comes_again(program: Path, tmp_path: Path) -> None:
    digest = program_digest(program)
    host = WorkerHost("one", tmp_path / "worker", [Slot()])
    try:
        host.take_agent(digest, pack_agent(program))
        assert {digest} == host.facts(KEY.contest, ()).agents
        book = tmp_path / "worker" / "agents" / digest / "data" / "book"
        book.chmod(0o644)
        book.write_bytes(b"other")

        match = Match(KEY.match, 1, 1, 1, 0, "one", "two", "")
        error = host.play(RemoteJob(KEY, Job(match, {digest: program}), {})).exception()

        assert isinstance(error, HostError)
        assert "were changed" in str(error)
        assert frozenset() == host.facts(KEY.contest, ()).agents
    finally:
        host.close()


def _played() -> JobResult:
    seat = SeatOutcome(None, 3, 1.5)
    ended = Outcome("draw", None, "1/2", "full board", "f" * 64, 2.5, (seat, seat))
    return JobResult(ended, b'{"record": "\xff\x00"}', {"e" * 64: bytes(range(256))})


def test_a_played_game_is_kept_until_somebody_has_it(tmp_path: Path) -> None:
    Outbox(tmp_path).put(KEY, _played())
    outbox = Outbox(tmp_path)

    assert {KEY} == outbox.keys(KEY.contest)
    assert frozenset() == outbox.keys("cup, created at another time")
    assert _played() == outbox.get(KEY)
    outbox.forget([KEY])
    assert outbox.get(KEY) is None


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda _: b"", lambda data: data * 2])
def test_a_damaged_game_is_no_game(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    outbox = Outbox(tmp_path)
    outbox.put(KEY, _played())
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(damage(path.read_bytes()))

    assert outbox.get(KEY) is None
    assert frozenset() == outbox.keys(KEY.contest)


def test_two_workers_do_not_share_a_folder(tmp_path: Path) -> None:
    host = WorkerHost("one", tmp_path, [Slot()])
    try:
        with pytest.raises(InputError, match="belongs to a worker that runs"):
            WorkerHost("two", tmp_path, [Slot()])
    finally:
        host.close()


def test_a_worker_with_other_images_is_told_what_to_do() -> None:
    refuse_other_images("w1", {"native": "a"}, {"native": "a"})

    with pytest.raises(HostError, match="w1 has no current image native: run judge images build"):
        refuse_other_images("w1", {"native": "a"}, {"native": ""})
    with pytest.raises(HostError, match="other contents than the contest's: run judge images"):
        refuse_other_images("w1", {"native": "a"}, {"native": "b"})
