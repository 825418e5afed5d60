"""What was received is processed, whatever is killed when; and who asks too often or too long is told so."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import create_engine, text

from judge.base.errors import StoreLostError
from judge.base.procfs import children_of
from judge.base.worker_processes import Worker, wait
from judge.sandbox.machine import cores
from judge.sandbox.machine.cores import CoreLocks
from judge.store.submissions import Register
from judge.store.types import State, Submission
from judge.submissions.service import (
    IntakeDirectory,
    is_worker_gone,
    receive_file,
    requeue_lost,
    working,
)
from judge.web.intake.background_jobs import Running
from judge.web.intake.queues import submission_jobs
from tests.web.intake.conftest import POLL_INTERVAL_S, Service, ended, make_contest, make_token, send, serving
from tests.web.intake.standing_in import process
from tests.web.live.watching import until


def held(path: Path) -> None:
    """Wait until the gate has one in its hands."""
    while not path.with_name(path.name + ".held").exists():
        time.sleep(POLL_INTERVAL_S)


def states(client: httpx.Client, number: int) -> list[str]:
    return [one["state"] for one in client.get(f"/submissions/{number}").json()["journal"]]


def test_submission_processed_during_a_kill_is_processed_again(tmp_path: Path) -> None:
    """kill -9, in the middle of one, with another waiting behind it and a third half received."""
    desk = make_contest(tmp_path, "waiting_per_author = 0")
    token, free = make_token(desk, "ada"), tmp_path / "free"
    with serving(desk) as service, service.client(token) as ada:
        first, second = send(ada, f"hold {free} first"), send(ada, "good second")
        held(free)
        workers = children(service.process.pid)
        service.process.kill()
        service.process.wait()
    assert all(is_dead(worker) for worker in workers)
    free.touch()
    with serving(desk) as service, service.client(token) as ada:
        assert ["passed", "passed"] == [ended(ada, one)["state"] for one in (first, second)]
        assert ["received", "processing", "failed", "processing", "passed"] == states(ada, first)
        assert 2 == len(ada.get("/submissions").json()["submissions"])


def children(pid: int) -> list[int]:
    """The processes that a process has started, workers among them."""
    found = children_of(pid)
    for child in found:  # grows in the loop
        found += children_of(child)
    return found


def is_dead(pid: int) -> bool:
    """Wait for the kernel to do what it was asked to: end the worker of a service that was killed."""
    while True:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return True
        if fields[0] in "ZX":
            return True
        time.sleep(POLL_INTERVAL_S)
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        if b"resource_tracker" in command:
            return True


def test_submission_processed_during_a_stop_counts_as_no_failure(
    tmp_path: Path,
) -> None:
    desk = make_contest(tmp_path)
    token, free = make_token(desk, "ada"), tmp_path / "free"
    with serving(desk) as service, service.client(token) as ada:
        number = send(ada, f"hold {free} first")
        held(free)
        service.process.terminate()
        assert 143 == service.process.wait()
    free.touch()
    with serving(desk) as service, service.client(token) as ada:
        assert "passed" == ended(ada, number)["state"]
        assert ["received", "processing", "received", "processing", "passed"] == states(ada, number)


def test_a_worker_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    desk = make_contest(tmp_path, "process_s = 1\ntries = 1")
    with serving(desk) as service, service.client(make_token(desk, "ada")) as ada:
        slow = send(ada, f"hold {tmp_path / 'never'} x")
        assert "failed" == ended(ada, slow)["state"]
        with closing(desk.register()) as register:
            assert register.get(slow).why.startswith("it took more than 1 s")


def test_waiting_for_a_core_is_no_time_of_the_submission(tmp_path: Path) -> None:
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


def test_two_services_of_one_contest_share_the_work(tmp_path: Path) -> None:
    desk = make_contest(tmp_path)
    ada_token, bob_token = (make_token(desk, author) for author in ("ada", "bob"))
    with (
        serving(desk) as one,
        serving(desk) as other,
        one.client(ada_token) as ada,
        other.client(bob_token) as bob,
    ):
        sent = [(client, send(client, f"good {n}")) for n in "ab" for client in (ada, bob)]
        found = [ended(client, number) for client, number in sent]
    for each in found:
        assert ["received", "processing"] == [one["state"] for one in each["journal"]][:-1]
    # The names are those of ada's agents, or of bob's: whose passed first.
    assert ["passed"] * 2 + ["refused"] * 2 == sorted(each["state"] for each in found)


def test_worker_is_gone_when_its_file_lock_is_free(tmp_path: Path) -> None:
    desk = make_contest(tmp_path)
    with working(desk) as worker:
        assert not is_worker_gone(desk, worker)
    assert is_worker_gone(desk, worker)
    assert is_worker_gone(desk, "0" * 32)
    with closing(desk.register()) as register:
        assert [] == requeue_lost(desk, register, "1" * 32)


class LosesDatabase(Register):
    """A register whose database is lost once in the `method`, before it has written or `after` it."""

    def __init__(self, desk: IntakeDirectory, method: str, *, after: bool) -> None:
        super().__init__(desk.store_url, desk.contest)
        self._method, self._after = method, after

    def take(self, worker: str, only: int | None = None) -> Submission | None:
        self._lose("take", is_written=False)
        taken = super().take(worker, only)
        if taken is not None:
            self._lose("take", is_written=True)
        return taken

    def fail(self, number: int, attempt: int | None, why: str, allowed: int, again_s: float = 0) -> Submission:
        self._lose("fail", is_written=False)
        failed = super().fail(number, attempt, why, allowed, again_s)
        self._lose("fail", is_written=True)
        return failed

    def _lose(self, method: str, *, is_written: bool) -> None:
        if (method, is_written) == (self._method, self._after):
            self._method = ""
            raise StoreLostError("the database was lost")


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("method", "upload", "expected"), [("take", b"good x", State.PASSED), ("fail", b"crash x", State.FAILED)]
)
def test_database_lost_while_a_submission_begins_or_fails_leaves_no_submission(
    tmp_path: Path, method: str, after: bool, upload: bytes, expected: State
) -> None:
    desk = make_contest(tmp_path, "tries = 3\nagain_s = 0")
    (tmp_path / "x.zip").write_bytes(upload)
    with closing(LosesDatabase(desk, method, after=after)) as register, working(desk) as worker:
        number = receive_file(desk, register, tmp_path / "x.zip", "", "ada", "").submission.id
        with submission_jobs(desk, process, register, worker):
            # A submission that fails is due again until it has failed three times.
            until(lambda: register.get(number).state is expected and register.get(number).due_at is None, "it is left")


# --- who asks too often -----------------------------------------------------------------------------------------------


def statuses(client: httpx.Client, path: str, times: int) -> list[int]:
    return [client.get(path).status_code for _ in range(times)]


def test_requests_are_bounded_by_author_and_by_address(tmp_path: Path) -> None:
    desk = make_contest(
        tmp_path,
        "requests_per_minute = 3\naddress_requests_per_minute = 7\nstrangers_per_minute = 2",
    )
    with serving(desk) as service, service.client(make_token(desk, "ada")) as ada:
        assert [200, 200, 200, 429] == statuses(ada, "/submissions", 4)
        assert int(ada.get("/submissions").headers["retry-after"]) > 0
        with service.client("judge-" + "A" * 43) as stranger:
            assert [401, 401, 429, 429] == statuses(stranger, "/submissions", 4)
            answer = stranger.get("/health")
        assert (429, "too many requests from your address") == (
            answer.status_code,
            answer.json()["error"],
        )


def test_uploads_are_bounded(tmp_path: Path) -> None:
    """By what waits, by what is under way, and by the hour."""
    desk = make_contest(tmp_path, "uploads_per_hour = 3\nwaiting_per_author = 2\nuploads_at_once = 1")
    free = tmp_path / "free"
    with serving(desk) as service, service.client(make_token(desk, "ada")) as ada:
        with begun_upload(service, ada):
            assert [429, "1 of your uploads are still running: wait for them"] == refused(ada)
        # Its end is heard of in its own time.
        while (answer := post(ada, f"hold {free} one")).status_code == 429:
            time.sleep(POLL_INTERVAL_S)
        last = send(ada, "good two")
        assert [429, "2 of your submissions are waiting: wait for their results first"] == (refused(ada))
        free.touch()
        for number in (answer.json()["id"], last, send_when_none_waits(ada, last)):
            assert "passed" == ended(ada, number)["state"]
        assert [429, "3 uploads in the last hour, which is the limit: try again later"] == (refused(ada))


def send_when_none_waits(client: httpx.Client, last: int) -> int:
    ended(client, last)
    return send(client, "good three")


def post(client: httpx.Client, content: str) -> httpx.Response:
    return client.post("/submissions?filename=a.zip", content=content.encode())


def refused(client: httpx.Client) -> list[object]:
    answer = post(client, "good x")
    return [answer.status_code, answer.json()["error"]]


@contextmanager
def begun_upload(service: Service, client: httpx.Client) -> Iterator[None]:
    """An upload of which the headers were sent, and which the service has asked to go on."""
    with socket.create_connection(("127.0.0.1", service.port)) as sender:
        sender.sendall(
            b"POST /submissions?filename=a.zip HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
            b"Expect: 100-continue\r\nAuthorization: " + client.headers["authorization"].encode() + b"\r\n\r\n"
        )
        assert sender.recv(4096).startswith(b"HTTP/1.1 100")
        yield


def test_connections_per_address_are_limited(tmp_path: Path) -> None:
    desk = make_contest(tmp_path, "connections_per_address = 2")
    with serving(desk) as service, service.client() as first, service.client() as second:
        assert 200 == first.get("/health").status_code == second.get("/health").status_code
        with service.client() as third:
            try:
                third.get("/health")
                raise AssertionError("a third connection was served")
            except httpx.TransportError:
                pass
        first.close()
        assert 200 == second.get("/health").status_code


def test_author_state_is_limited_before_it_is_stored(tmp_path: Path) -> None:
    desk = make_contest(tmp_path, "author_bytes = 20")
    with serving(desk) as service, service.client(make_token(desk, "ada")) as ada:
        send(ada, b"good " + b"x" * 10)

        kept = uploads_of(desk)
        # In pieces, so that nobody knows their sum before.
        answer = ada.post("/submissions?filename=a.zip", content=iter([b"good ", b"y" * 10]))
        assert 429 == answer.status_code
        assert kept == uploads_of(desk)


def uploads_of(desk: IntakeDirectory) -> set[str]:
    return {path.name for path in desk.uploads.glob("??/*") if path.read_bytes()[:5] == b"good "}


def test_the_store_going_away_is_the_hosts_failure(tmp_path: Path) -> None:
    """And the log tells of it without a token."""
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
            assert (503, "the judge's host failed: try again later") == (
                answer.status_code,
                answer.json()["error"],
            )
        logged = service.log.read_text()
    assert "the host failed" in logged
    assert token.removeprefix("judge-") not in logged
