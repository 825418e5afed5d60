"""What a worker says of a game is refused, with the reason, unless it is of this attempt and replays to its result."""

import hashlib
import json
import os
import signal
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from multiprocessing import active_children
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from judge.base.errors import HostError, InputError
from judge.cluster import checkers as checking
from judge.cluster import cluster as clusters
from judge.cluster.checkers import Checkers, checked
from judge.cluster.cluster import Cluster, _Attempt
from judge.cluster.messages import Answer, Played
from judge.contest.attempts import EndedAttempt, Job
from judge.contest_games import ScheduledGame
from judge.play.folders import kept_folder
from judge.record.spec import KeptFolders
from judge.sandbox.archive import EMPTY, measure_folder, pack_folder
from judge.sandbox.box import FolderKind
from tests.cluster.rosters import NotedRoster
from tests.file_limit import no_more_files
from tests.patience import until
from tests.referee.games import BLACK_ROW, WHITE_ROW, a_file, brain, play, spec

ELAPSED_S = 2.0


def job() -> Job:
    plain = spec()
    game = ScheduledGame(plain.id, 1, 1, 1, 0, "black", "white", plain.model_dump_json(), attempt=1)
    return Job(game, {})


def record(asked: Job) -> Any:
    """The record of an honest worker, as JSON that can be changed."""
    found = a_file(play(brain(*BLACK_ROW), brain(*WHITE_ROW), asked.spec()), asked.spec())
    file = json.loads(found.to_json())
    file["record"]["started_at"] = datetime.now(UTC).isoformat(timespec="seconds")
    return file


def played(file: Any, states: dict[str, bytes] | None = None) -> Played:
    return Played(record=json.dumps(file).encode(), states=states or {})


def moment(days: int) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds")


def halve_charges(file: Any) -> None:
    for seat in file["record"]["seats"]:
        seat["charged_ms"] = round(seat["charged_ms"] / 2, 3)


def slow_down(file: Any) -> None:
    for block in file["transcript"]["blocks"]:
        for entry in block["entries"]:
            entry[0] *= 10**6


def other_move(file: Any) -> None:
    for block in file["transcript"]["blocks"]:
        for entry in block["entries"]:
            if entry[2] == "<" and entry[3] == "1,0\r\n":
                entry[3] = "5,5\r\n"


def as_record(**values: object) -> Callable[[Any], object]:
    return lambda file: file["record"].update(values)


STATE = {"persistent": {"digest": "a" * 64, "used_bytes": 0, "used_inodes": 0, "notes": []}}

LIES: dict[str, tuple[Callable[[Any], object], str]] = {
    "other winner": (as_record(winner=1), "does not replay: winner"),
    "draw": (as_record(verdict="draw", winner=None), "does not replay: verdict"),
    "void": (as_record(verdict="void"), "does not replay: a void game has no winner"),
    "other game": (as_record(id="0" * 20), "of another game"),
    "other attempt": (as_record(attempt=7), "of attempt 7, not 1"),
    "too long": (as_record(seconds=60.0), r"does not replay: seconds: the replay gives .*, the record has 60\.0"),
    "less than nothing": (as_record(seconds=-1.0), "the record cannot be read: record.seconds: a game lasts 0 to"),
    "clock of a day ago": (
        lambda file: file["record"].update(started_at=moment(-1)),
        r"8640\d s from now, and the worker had it for 2 s: set the clocks of both machines",
    ),
    "clock of tomorrow": (
        lambda file: file["record"].update(started_at=moment(1)),
        "from now, and the worker had it for 2 s",
    ),
    "other seed": (lambda file: file["record"]["spec"].update(seed=5), "of another game"),
    "longer turns": (lambda file: file["record"]["spec"]["policy"]["clock"].update(turn_ms=10**6), "of another game"),
    "half the charges": (halve_charges, "does not replay: seats.0.charged_ms"),
    "slow entries": (slow_down, "does not replay"),
    "other move": (other_move, "does not replay"),
    "cut short": (lambda file: file["transcript"]["blocks"][0]["entries"].pop(), "does not replay"),
    "a state": (
        lambda file: file["record"]["seats"][0].update(folders=STATE),
        "does not replay: seat 0: the record names other folders",
    ),
    "nothing": (dict.clear, "the record cannot be read"),
}
"""Changes of a record, and the reason of the refusal."""


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_refused_with_its_reason(lie: str) -> None:
    asked = job()
    file = record(asked)
    change, why = LIES[lie]
    change(file)

    with pytest.raises(InputError, match=why):
        checked(asked, played(file), ELAPSED_S)


def test_a_transcript_of_other_times_and_a_state_that_the_record_does_not_name_do_not_count() -> None:
    asked = job()
    # Its seal is whole, and it lasts longer than the game was away.
    slow = a_file(play(brain(*BLACK_ROW, ms=900), brain(*WHITE_ROW), asked.spec()), asked.spec())

    with pytest.raises(InputError, match="but the worker had it for"):
        checked(asked, Played(record=slow.to_json(), states={}), ELAPSED_S)
    with pytest.raises(InputError, match="differ from those that the record names"):
        checked(asked, played(record(asked), {"a" * 64: b"state"}), ELAPSED_S)


def test_checking_an_answer_delays_no_game() -> None:
    """It is fetched and checked elsewhere, and the process that does it may be killed when it has nothing to do."""
    asked = job()
    answer = played(record(asked)).model_dump_json().encode()
    has_come = Event()
    connection: Any = SimpleNamespace(fetch=lambda *_: answer if has_come.wait() else None)
    task: Any = None
    checkers = Checkers(connection)
    try:
        found = checkers.check(task, 1, asked, ELAPSED_S)
        assert not found.done()
        has_come.set()
        assert isinstance(result := found.result(), EndedAttempt)
        assert result.outcome is not None
        assert ("win", 0) == (result.outcome.verdict, result.outcome.winner)

        (process,) = (child for child in active_children() if child.pid)
        process.kill()
        process.join()
        with pytest.raises(InputError, match="claims a game of"):
            checkers.check(task, 1, asked, 1e-9).result()
    finally:
        checkers.close()

    assert [] == active_children()


@pytest.mark.parametrize("failure", ["killed", "late", "not started"])
def test_answer_that_this_host_cannot_check_is_no_lie(monkeypatch: pytest.MonkeyPatch, failure: str) -> None:
    asked = job()
    answer = played(record(asked)).model_dump_json().encode()
    connection: Any = SimpleNamespace(fetch=lambda *_: answer)
    task: Any = None
    with closing(Checkers(connection)) as checkers, ExitStack() as host:
        if failure == "not started":
            host.enter_context(no_more_files())
        else:
            assert isinstance(checkers.check(task, 1, asked, ELAPSED_S).result(), EndedAttempt)
            (process,) = (each for each in checkers._idle.queue if each.pid)
            os.kill(process.pid or 0, signal.SIGSTOP)
            if failure == "late":
                monkeypatch.setattr(checking, "CHECK_S", 0.0)

        found = checkers.check(task, 1, asked, ELAPSED_S)
        if failure == "killed":
            until(lambda: process._answer is None, "it is given the answer")
            os.kill(process.pid or 0, signal.SIGKILL)
        with pytest.raises(HostError, match=UNCHECKED[failure]):
            found.result()

        host.close()
        monkeypatch.undo()
        assert isinstance(checkers.check(task, 1, asked, ELAPSED_S).result(), EndedAttempt)


UNCHECKED = {
    "killed": "its check did not end: WorkerLostError: its process was killed by signal 9",
    "late": "its check took more than 0 s",
    "not started": "no process can be started to check it: .* Too many open files",
}


def test_time_at_an_earlier_worker_does_not_count_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, elapsed = job(), list[float]()

    class Counted(Checkers):
        def __init__(self) -> None:
            pass

        def check(self, _: Any, __: int, ___: Job, elapsed_s: float) -> Future[EndedAttempt | Answer]:
            elapsed.append(elapsed_s)
            return Future()

    task: Any = SimpleNamespace(cancelled=lambda: False, status="finished")
    attempt = _Attempt(asked, 600, 1, worker="tls://10.0.0.2:1", task=task, given_at=95.0)
    found = object.__new__(Cluster)
    found._attempts = {asked.game.id: attempt}
    found._roster = NotedRoster()
    found._roster.meet({attempt.worker: {"name": "second", "resources": {"slot": 1}}})
    found._checkers = Counted()
    monkeypatch.setattr(clusters, "monotonic", lambda: 100.0)

    found._ended(attempt, task)

    assert [5.0] == elapsed


QUOTA_BYTES, QUOTA_INODES = 64 << 10, 16


def keeping_job() -> Job:
    """A game whose agents keep a folder of at most 64 KiB and 16 files; the second one's has a file."""
    plain = spec(folders={"persistent": True, "persistent_bytes": QUOTA_BYTES, "persistent_inodes": QUOTA_INODES})
    seats = [
        seat.model_copy(update={"folders": KeptFolders(name=seat.name, persistent=digest)})
        for seat, digest in zip(plain.seats, (EMPTY.digest, BOOK.digest), strict=True)
    ]
    kept = plain.model_copy(update={"seats": (seats[0], seats[1])})
    game = ScheduledGame(kept.id, 1, 1, 1, 0, "black", "white", kept.model_dump_json(), attempt=1)
    return Job(game, {}, states={BOOK.digest: BOOK.data})


BOOK = pack_folder({b"book": b"x" * 100})


def left(asked: Job, data: bytes) -> Played:
    """The answer of a worker whose first agent left the folder `data`."""
    file = record(asked)
    digest = hashlib.sha256(data).hexdigest()
    file["record"]["seats"][0]["folders"]["persistent"]["digest"] = digest
    return played(file, {} if digest in asked.states else {digest: data})


FOLDERS: dict[str, tuple[bytes, str]] = {
    "too many bytes": (pack_folder({b"big": bytes(QUOTA_BYTES + 4096)}).data, "cannot be used"),
    "too many files": (pack_folder({b"%d" % number: b"" for number in range(QUOTA_INODES)}).data, "cannot be used"),
    "too many directories": (pack_folder({b"%d" % n: None for n in range(QUOTA_INODES)}).data, "cannot be used"),
    "another packing": (pack_folder({b"a": b"1"}).data + bytes(512), "not packed by a judge"),
    "no archive": (b"state", "cannot be used"),
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_that_the_next_game_would_refuse_does_not_count(folder: str) -> None:
    asked = keeping_job()
    data, why = FOLDERS[folder]

    with pytest.raises(InputError, match=why):
        checked(asked, left(asked, data), ELAPSED_S)


@pytest.mark.parametrize(
    "data",
    [pack_folder({b"%d" % number: b"" for number in range(QUOTA_INODES - 1)}).data, BOOK.data],
    ids=["as many files as permitted", "the opponent's folder"],
)
def test_folder_that_counts_begins_the_next_game(data: bytes) -> None:
    asked = keeping_job()
    result = checked(asked, left(asked, data), ELAPSED_S)

    assert result.record is not None
    (state,) = [*result.states.values(), *asked.states.values()][:1]
    kept_folder(asked.spec(), 0, FolderKind.PERSISTENT, measure_folder(state))
