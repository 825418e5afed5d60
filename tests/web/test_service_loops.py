"""Each loop of a service survives each error in each of its steps, and then does its work."""

import asyncio
import errno
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from socketserver import BaseServer
from threading import Thread
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from judge.base import service_loop
from judge.base.errors import HostError
from judge.base.service_loop import ServiceLoop
from judge.base.worker_processes import Worker
from judge.broadcast.log import LOG_FILE
from judge.broadcast.pipe import END, Feed
from judge.contest.event_log import recorder as recorder_module
from judge.contest.event_log.recorder import Recorder, record
from judge.contest.plan import load_plan
from judge.contest.window_keeper import PlanFile, WindowKeeper
from judge.notices.policy import NoticePolicy
from judge.notices.sender import NoticeSender
from judge.store.types import State
from judge.submissions.intake import IntakePolicy
from judge.submissions.service import receive_file, working
from judge.submissions.windows import SubmissionGate
from judge.web.intake import background_jobs
from judge.web.intake.queues import PracticeQueue, SubmissionQueue, submission_jobs
from judge.web.live.app import Site
from judge.web.live.front import FrontPage, HostedContest
from judge.web.live.metrics import Metrics, served_metrics
from tests.broadcast.logs import PAIR, events
from tests.publish.cups import Cup
from tests.web.intake.conftest import make_contest
from tests.web.intake.standing_in import process
from tests.web.live.watching import until

ROOT = Path(__file__).parents[2]


def errors() -> list[Exception]:
    """An error of each kind."""
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
    monkeypatch.setattr(background_jobs, "RETRY_INTERVAL_S", 0.01)


def failing(monkeypatch: pytest.MonkeyPatch, target: Any, name: str) -> tuple[list[Exception], list[None]]:
    """Make a function raise each error before it works; the errors left, and an entry per success."""
    works, left, done = getattr(target, name), errors(), list[None]()

    def call(*args: Any, **more: Any) -> Any:
        if left:
            raise left.pop()
        result = works(*args, **more)
        done.append(None)
        return result

    monkeypatch.setattr(target, name, call)
    return left, done


# --- queues -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "upload"),
    [
        ("sweep", "good x"),
        ("take", "good x"),
        ("start", "good x"),
        ("must_end", "hold {open} x"),
        ("ended", "good x"),
        ("failed", "crash x"),
        ("give_back", "good x"),
    ],
)
def test_submissions_are_processed_after_errors_in(
    point: str, upload: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = make_contest(tmp_path, "tries = 20\nagain_s = 0")
    if upload.startswith("crash"):
        desk = make_contest(tmp_path, "tries = 1\nagain_s = 0")
    is_open = tmp_path / "open"
    (tmp_path / "x.zip").write_text(upload.format(open=is_open))
    if point == "give_back":  # it follows a failed start
        failing(monkeypatch, Worker, "_new_process")
    left, _ = failing(monkeypatch, SubmissionQueue, point)
    expected = State.FAILED if upload.startswith("crash") else State.PASSED
    with closing(desk.register()) as register, working(desk) as worker:
        number = receive_file(desk, register, tmp_path / "x.zip", "", "ada", "").submission.id
        with submission_jobs(desk, process, register, worker) as jobs:
            if upload.startswith("hold"):  # a submission that is over is not ended
                until(lambda: not left, "nobody looks at it")
                is_open.touch()
            until(lambda: register.get(number).state is expected, "it is not processed")
            # One `failed` or `ended` a try: the others follow with other submissions.
            assert not left or point in ("failed", "ended", "give_back")
            assert "" == jobs._loop.problem


@pytest.mark.parametrize("target", ["_new_process", "start"])
def test_failed_fork_ends_no_processing_of_submissions(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = make_contest(tmp_path, "tries = 1\nagain_s = 0")
    (tmp_path / "x.zip").write_text("good x")
    left, _ = failing(monkeypatch, Worker, target)
    with closing(desk.register()) as register, working(desk) as worker:
        number = receive_file(desk, register, tmp_path / "x.zip", "", "ada", "").submission.id
        with submission_jobs(desk, process, register, worker):
            until(lambda: register.get(number).state is State.PASSED, "it is not processed")
        assert not left
        assert State.FAILED not in {entry.state for entry in register.journal(number)}


@pytest.mark.parametrize("point", ["sweep", "take", "start", "must_end", "ended", "failed"])
def test_practice_queue_has_each_step_of_a_queue(point: str) -> None:
    """Its steps run in the same loop."""
    assert callable(getattr(PracticeQueue, point))


# --- other loops ------------------------------------------------------------------------------------------------------


@contextmanager
def keeper(folder: Path) -> Iterator[object]:
    desk = make_contest(folder)
    with closing(desk.register()) as register:
        yield WindowKeeper(load_plan(folder), register, SubmissionGate(desk.windows), lambda: False)


@contextmanager
def notices(folder: Path) -> Iterator[object]:
    desk = make_contest(folder)
    with closing(desk.notices()) as opened:
        yield NoticeSender(opened, "cup", NoticePolicy(), folder, folder / "lock")


@contextmanager
def metrics(_folder: Path) -> Iterator[object]:
    listener = socket.create_server(("127.0.0.1", 0))
    yield served_metrics(Metrics(), listener)


LOOPS: list[tuple[str, Callable[[Path], Any], Any, str]] = [
    ("schedule", keeper, WindowKeeper, "_lock_directory"),
    ("schedule", keeper, PlanFile, "current_value"),
    ("schedule", keeper, WindowKeeper, "look"),
    ("notices", notices, NoticeSender, "_look"),
    ("notices", notices, NoticeSender, "_renew"),
    ("metrics", metrics, BaseServer, "handle_request"),
]


@pytest.mark.parametrize(("loop", "make", "target", "name"), LOOPS)
def test_thread_continues_after_errors_in(
    loop: str, make: Callable[[Path], Any], target: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    begin = ServiceLoop._begin

    def note(self: ServiceLoop) -> None:
        started.append(self.name)
        begin(self)

    monkeypatch.setattr(ServiceLoop, "_begin", note)
    with make(tmp_path) as service:
        if name == "_lock_directory":
            service._lock_directory()
            monkeypatch.setattr(WindowKeeper, "__enter__", lambda self: self._loop.__enter__())
        left, done = failing(monkeypatch, target, name)
        with service:
            until(lambda: not left and bool(done), "the loop has ended")
    assert [loop] == started


def test_live_events_continue_after_errors_before_and_after_the_beginning(tmp_path: Path) -> None:
    left = [*errors(), *errors()]
    done = asyncio.Event()

    class Hub:
        live = None

        def step(self) -> float:
            if left:
                raise left.pop()
            done.set()
            return 0.01

        def close(self) -> None:
            """Nothing is open."""

    class Begun:
        hub = Hub()

    begins = [None]

    def begin() -> Any:
        if begins:
            return begins.pop()
        if len(left) > len(errors()):
            raise left.pop()
        return Begun()

    make_contest(tmp_path)

    async def run() -> None:
        site = Site(begin, PlanFile(load_plan(tmp_path)))
        async with site.running(None), asyncio.timeout(120):  # type: ignore[arg-type]
            await done.wait()

    asyncio.run(run())
    assert not left


@pytest.mark.parametrize(("target", "name"), [(HostedContest, "edition"), (FrontPage, "_count"), (FrontPage, "_step")])
def test_front_page_continues_after_errors_in(
    target: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_contest(tmp_path)
    planned = load_plan(tmp_path)
    hosted = HostedContest(planned, Site(lambda: None, PlanFile(planned)), lambda *_: None)  # type: ignore[arg-type]
    front = FrontPage("All", [hosted], 100, IntakePolicy())
    left, done = failing(monkeypatch, target, name)

    async def run() -> None:
        async with front._running(None), asyncio.timeout(120):  # type: ignore[arg-type]
            while left or not done:
                await asyncio.sleep(0.01)

    asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "name"), [(Recorder, "_read_log"), (Recorder, "read_store"), (recorder_module._Loop, "_read")]
)
def test_recorder_completes_the_log_after_errors_in(
    target: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def end_recorder(address: Path) -> None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with suppress(OSError):
        connection.connect(str(address))
        feed = Feed(connection.detach())
        feed.send(END, b"")
        feed.close()
    connection.close()


# --- structure --------------------------------------------------------------------------------------------------------


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
