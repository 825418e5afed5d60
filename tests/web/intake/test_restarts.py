"""What was received is processed, whatever is killed when; and who asks too often or too long is told so."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text

from judge.base.worker_processes import Worker, wait
from judge.sandbox.machine import cores
from judge.sandbox.machine.cores import CoreLocks
from judge.web.player.queues import Running
from tests.cli.contests import workers
from tests.web.intake.conftest import POLL_INTERVAL_S, ended, make_contest, make_token, send, serving, upload_head
from tests.web.live.watching import until


def wait_for_hold(path: Path) -> None:
    """Wait until the gate has one in its hands."""
    until(path.with_name(path.name + ".held").exists, "the gate does not begin")


def test_submission_processed_during_a_stop_and_a_kill_is_processed_again(tmp_path: Path) -> None:
    """kill -9, in the middle of one, with another waiting behind it. Neither a stop nor a kill counts as a failure."""
    desk = make_contest(tmp_path, "waiting_per_author = 0\ntries = 1")
    token, free = make_token(desk, "ada"), tmp_path / "free"
    with serving(desk) as service, service.client(token) as ada:
        first = send(ada, f"hold {free} first")
        wait_for_hold(free)
        service.process.terminate()
        assert 143 == service.process.wait()
    (tmp_path / "free.held").unlink()
    with serving(desk) as service, service.client(token) as ada:
        second = send(ada, "good second")
        wait_for_hold(free)
        processes = workers(service.process.pid)
        service.process.kill()
        service.process.wait()
    until(lambda: all(map(is_dead, processes)), "a worker lives")
    free.touch()
    with serving(desk) as service, service.client(token) as ada:
        assert ["passed", "passed"] == [ended(ada, one)["state"] for one in (first, second)]
        states = [one["state"] for one in ended(ada, first)["journal"]]
        assert ["received", "processing", "received", "processing", "received", "processing", "passed"] == states
        assert 2 == len(ada.get("/submissions").json()["submissions"])


def is_dead(pid: int) -> bool:
    """Also a tracker of multiprocessing, which ends when it likes."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state in "ZX" or b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_worker_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    desk = make_contest(tmp_path, "process_s = 1\ntries = 1")
    with serving(desk) as service, service.client(make_token(desk, "ada")) as ada:
        slow = send(ada, f"hold {tmp_path / 'never'} x")
        assert "failed" == ended(ada, slow)["state"]
        with closing(desk.register()) as register:
            assert register.get(slow).why.startswith("it took more than 1 s")


def test_waiting_for_a_core_is_no_time_of_the_submission() -> None:
    taken: Any = None  # whose it is does not matter
    worker: Worker[Any] = Worker()
    with closing(worker):
        with CoreLocks((0,), lambda _: None):
            worker.start(CoreLocks((0,), print).wait)
            while worker.pid is None or not cores.waits(worker.pid):
                assert [] == wait([worker], POLL_INTERVAL_S)
            run = Running(taken, worker, time.monotonic() - 1000)
            run.count_time()
            assert 0 == run.spent_s
        worker.result()
        run.counted_at -= 1000
        run.count_time()
        assert 1000 <= run.spent_s


def test_requests_are_bounded_by_author_and_by_address(tmp_path: Path) -> None:
    desk = make_contest(tmp_path, "requests_per_minute = 3\naddress_requests_per_minute = 7\nstrangers_per_minute = 2")
    with serving(desk) as service, service.client(make_token(desk, "ada")) as ada:
        assert [200, 200, 200, 429] == [ada.get("/submissions").status_code for _ in range(4)]
        assert int(ada.get("/submissions").headers["retry-after"]) > 0
        with service.client("judge-" + "A" * 43) as stranger:
            assert [401, 401, 429, 429] == [stranger.get("/submissions").status_code for _ in range(4)]
            answer = stranger.get("/health")
        assert (429, "too many requests from your address") == (answer.status_code, answer.json()["error"])


def test_uploads_are_bounded(tmp_path: Path) -> None:
    """Each limit of what is stored is in tests/store/test_submissions.py."""
    desk = make_contest(tmp_path, "uploads_per_hour = 2\nuploads_at_once = 1")
    with serving(desk) as service, service.client(make_token(desk, "ada")) as ada:

        def post(content: str) -> tuple[int, str]:
            answer = ada.post("/submissions?filename=a.zip", content=content.encode())
            return answer.status_code, answer.json().get("error", "")

        with socket.create_connection(("127.0.0.1", service.port)) as sender:
            sender.sendall(upload_head(ada, 100, "Expect: 100-continue"))
            assert sender.recv(4096).startswith(b"HTTP/1.1 100")
            assert (429, "1 of your uploads are still running: wait for them") == post("good x")
        # Its end is heard of in its own time.
        while post("good one")[0] == 429:
            time.sleep(POLL_INTERVAL_S)
        assert "passed" == ended(ada, send(ada, "good two"))["state"]
        assert (429, "2 uploads in the last hour, which is the limit: try again later") == post("good x")


def test_author_state_is_limited_before_it_is_stored(tmp_path: Path) -> None:
    desk = make_contest(tmp_path, "author_bytes = 20")
    with serving(desk) as service, service.client(make_token(desk, "ada")) as ada:

        def kept() -> set[str]:
            return {path.name for path in desk.uploads.glob("??/*") if path.read_bytes()[:5] == b"good "}

        send(ada, b"good " + b"x" * 10)
        before = kept()
        # In pieces, so that nobody knows their sum before.
        answer = ada.post("/submissions?filename=a.zip", content=iter([b"good ", b"y" * 10]))
        assert (429, before) == (answer.status_code, kept())


def test_the_store_going_away_is_the_hosts_failure(tmp_path: Path) -> None:
    desk = make_contest(tmp_path)
    token = make_token(desk, "ada")
    with serving(desk) as service, service.client(token) as ada:
        ended(ada, send(ada, "good one"))
        engine = create_engine(desk.store_url)
        with engine.begin() as connection:
            connection.execute(text("DROP TABLE tokens"))
        engine.dispose()
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: ada.get("/submissions"), range(4)))
        for answer in answers:
            assert (503, "the judge's host failed: try again later") == (answer.status_code, answer.json()["error"])
        logged = service.log.read_text()
    assert "the host failed" in logged
    assert token.removeprefix("judge-") not in logged
