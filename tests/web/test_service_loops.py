"""The queues and the recorder survive each error in each of their steps, and lose nothing.

That any loop continues is in tests/base/test_service_loop.py.
"""

import errno
import re
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from judge.base import service_loop
from judge.base.errors import HostError
from judge.base.worker_processes import Worker
from judge.broadcast.log import LOG_FILE
from judge.contest.event_log import recorder as recorder_module
from judge.contest.event_log.recorder import Recorder, record
from judge.journal.events import SubmissionState
from judge.submissions.service import receive_file, working
from judge.web.player import queues
from judge.web.player.queues import Running, SubmissionQueue, submission_jobs
from tests.broadcast.logs import PAIR, events
from tests.broadcast.test_recorder import end_recorder
from tests.publish.cups import Cup
from tests.web.intake.conftest import make_contest
from tests.web.intake.standing_in import process
from tests.web.live.watching import until

ROOT = Path(__file__).parents[2]


def errors() -> list[Exception]:
    return [
        OSError(errno.EMFILE, "Too many open files"),
        OSError(errno.ENOSPC, "No space left on device"),
        BlockingIOError(errno.EAGAIN, "fork: Resource temporarily unavailable"),
        MemoryError(),
        RuntimeError("can't start new thread"),
        OperationalError("SELECT", {}, Exception("lost")),
        HostError("the host failed"),
        KeyError("any"),
    ]


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_loop, "RETRY_INTERVAL_S", 0.01)
    monkeypatch.setattr(queues, "RETRY_INTERVAL_S", 0.01)


def failing(monkeypatch: pytest.MonkeyPatch, target: Any, name: str) -> list[Exception]:
    """Make a function raise each error before it works; the errors that are left."""
    works, left = getattr(target, name), errors()

    def call(*args: Any, **more: Any) -> Any:
        if left:
            raise left.pop()
        return works(*args, **more)

    monkeypatch.setattr(target, name, call)
    return left


@pytest.mark.slow
@pytest.mark.parametrize(
    ("points", "upload"),
    [
        ("sweep take start ended", "good x"),
        ("must_end", "hold {open} x"),
        ("failed", "crash x"),
        ("give_back", "good x"),
    ],
)
def test_upload_ends_after_errors_in(points: str, upload: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = make_contest(tmp_path, f"tries = {1 if upload.startswith('crash') else 20}\nagain_s = 0")
    is_open = tmp_path / "open"
    (tmp_path / "x.zip").write_text(upload.format(open=is_open))
    if points == "give_back":  # it follows a failed start
        failing(monkeypatch, Worker, "_new_process")
    left = {point: failing(monkeypatch, SubmissionQueue, point) for point in points.split()}
    expected = SubmissionState.FAILED if upload.startswith("crash") else SubmissionState.PASSED
    with closing(desk.register()) as register, working(desk) as worker:
        number = receive_file(desk, register, tmp_path / "x.zip", "", "ada", "").submission.id
        with submission_jobs(desk, process, register, worker) as jobs:
            if upload.startswith("hold"):  # a submission that is over is not ended
                until(lambda: not left["must_end"], "nobody looks at it")
                is_open.touch()
            until(lambda: register.get(number).state is expected, "it is not processed")
            # One `failed` or `ended` a try: the others follow with other submissions.
            assert {point for point, errors in left.items() if errors} <= {"failed", "ended", "give_back"}
            assert "" == jobs.problem


@pytest.mark.parametrize("target", ["_new_process", "start"])
def test_failed_fork_ends_no_processing(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = make_contest(tmp_path, "tries = 1\nagain_s = 0")
    (tmp_path / "x.zip").write_text("good x")
    left = failing(monkeypatch, Worker, target)
    with closing(desk.register()) as register, working(desk) as worker:
        number = receive_file(desk, register, tmp_path / "x.zip", "", "ada", "").submission.id
        with submission_jobs(desk, process, register, worker):
            until(lambda: register.get(number).state is SubmissionState.PASSED, "it is not processed")
        assert not left
        assert SubmissionState.FAILED not in {entry.state for entry in register.journal(number)}


def test_processing_of_a_withdrawn_submission_is_ended(tmp_path: Path) -> None:
    desk = make_contest(tmp_path, "workers = 1")
    (tmp_path / "held.zip").write_text(f"hold {tmp_path / 'never'} x")
    (tmp_path / "x.zip").write_text("good x")
    with closing(desk.register()) as register, working(desk) as worker:
        first = receive_file(desk, register, tmp_path / "held.zip", "", "ada", "").submission.id
        with submission_jobs(desk, process, register, worker):
            until(lambda: register.get(first).state is SubmissionState.PROCESSING, "it is not processed")
            register.withdraw(first, "ada", "a mistake", "ada")
            second = receive_file(desk, register, tmp_path / "x.zip", "", "ada", "").submission.id
            until(lambda: register.get(second).state is SubmissionState.PASSED, "the worker is not free")
        assert SubmissionState.WITHDRAWN is register.get(first).state


def test_author_has_no_turn_while_a_withdrawn_submission_is_processed(tmp_path: Path) -> None:
    desk = make_contest(tmp_path, "again_s = 0")
    for name in ("a.zip", "b.zip", "c.zip"):
        (tmp_path / name).write_text(f"good {name}")
    with closing(desk.register()) as register, working(desk) as worker, closing(Worker[Any]()) as idle:
        for name, author in (("a.zip", "ada"), ("b.zip", "ada"), ("c.zip", "bob")):
            receive_file(desk, register, tmp_path / name, "", author, "")
        queue = SubmissionQueue(desk, process, register, worker)
        first = queue.take([])
        assert first is not None
        run = Running(first, idle, 0.0)
        assert "" == queue.must_end(run)
        register.release(first.id, first.attempt, "its process was lost")
        again = register.take(worker, first.id)
        assert again is not None
        assert "another process began it again" == queue.must_end(run)
        register.withdraw(first.id, "ada", "a mistake", "ada")
        assert "it was withdrawn" == queue.must_end(run)
        bobs = queue.take([first])
        assert bobs is not None
        assert "bob" == bobs.author
        assert queue.take([first, bobs]) is None
        adas = queue.take([bobs])
        assert adas is not None
        assert "b.zip" == adas.filename


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "name"), [(Recorder, "_read_log"), (Recorder, "read_store"), (recorder_module._Loop, "_read")]
)
def test_log_is_whole_after_errors_in(target: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Cup(tmp_path / "cup", PAIR) as cup:
        cup.play()
        failing(monkeypatch, target, name)
        monkeypatch.setattr(recorder_module, "set_scheduling", lambda *_: None)  # other tests run
        address = tmp_path / "recorder"
        running = Thread(target=record, args=(cup.planned, address), daemon=True)
        running.start()
        while running.is_alive():  # an error while a connection is read ends it
            end_recorder(address)
            running.join(0.2)
        assert 2 == sum(event["type"] == "ended" for event in events(cup))
        assert (cup.folder / LOG_FILE).stat().st_size


def test_services_start_threads_and_endless_tasks_only_as_service_loops() -> None:
    places = [*(ROOT / "judge/web").rglob("*.py"), *(ROOT / "judge/notices").rglob("*.py")]
    places += [ROOT / "judge/contest/window_keeper.py", *(ROOT / "judge/contest/event_log").rglob("*.py")]
    found = [
        (str(place.relative_to(ROOT)), line.strip())
        for place in places
        for line in place.read_text().splitlines()
        if re.search(r"Thread\(|create_task\(", line) and "run_async" not in line
    ]
    # An organiser's order and a computation end, and their errors are shown to those who wait for them.
    assert ["judge/web/kit/rendering.py", "judge/web/organisers/console.py"] == sorted(name for name, _ in found), found
