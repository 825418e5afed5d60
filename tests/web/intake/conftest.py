"""A contest's folder, and the real intake of it: a process with a socket of this machine."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from judge.base.procfs import children_of
from judge.cli.submit import open_intake
from judge.store.tokens import TokenRole, Tokens
from judge.submissions.service import IntakeDirectory
from judge.transparency.keys import KEY_FILE, make_key
from tests.attacks.serving import RunningService
from tests.attacks.serving import serving as judge_serve
from tests.patience import PATIENCE_S
from tests.web.intake.standing_in import GATE

CONTEST = """
name = "cup"
policy = "gomocup-freestyle"
[format]
name = "round-robin"
[intake]
"""

POLL_INTERVAL_S = 0.05
"""Between two looks at something that happens in its own time, so that it has the cores to happen."""


class Service(RunningService):
    def client(self, token: str = "") -> httpx.Client:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE_S)

    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]


def players_of(service: int) -> list[int]:
    """The processes that a service's fork server made."""
    return [pid for server in children_of(service) for pid in children_of(server)]


def make_contest(folder: Path, intake: str = "") -> IntakeDirectory:
    """The folder of a contest; `intake` are lines of its table of that name."""
    folder.mkdir(parents=True, exist_ok=True)
    if "requests_per_minute" not in intake:
        # A test looks more often than an author would.
        intake += "\nrequests_per_minute = 100000\naddress_requests_per_minute = 100000\n"
    (folder / "contest.toml").write_text(CONTEST + intake)
    return open_intake(folder)


def make_token(desk: IntakeDirectory, name: str, role: TokenRole = TokenRole.AUTHOR) -> str:
    with closing(Tokens(desk.store_url, desk.contest)) as tokens:
        return tokens.make(name, "organiser", role)


@contextmanager
def serving(desk: IntakeDirectory, *, is_alone: bool = True, without: Sequence[str] = (GATE,)) -> Iterator[Service]:
    """The intake of a contest, `alone` or with the pages, and with a check for tests unless it is left out."""
    with judge_serve(desk.folder, *["--intake-only"] * is_alone, without=without) as running:
        yield Service(running.process, running.port, running.log)


@pytest.fixture(autouse=True)
def poll_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commands of authors ask at once whether a submission is processed."""
    monkeypatch.setattr("judge.cli.submit_remote.POLL_INTERVAL_S", POLL_INTERVAL_S)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> IntakeDirectory:
    """A contest with patience for a test that asks often."""
    patience = """
upload_bytes = 100000
uploads_per_hour = 0
waiting_per_author = 0
waiting = 0
requests_per_minute = 100000
address_requests_per_minute = 100000
strangers_per_minute = 100000
again_s = 0
tries = 2
idle_s = 2
head_s = 2
"""
    folder = tmp_path_factory.mktemp("cup")
    make_key(folder / KEY_FILE)
    return make_contest(folder, patience)


@pytest.fixture(scope="module")
def service(desk: IntakeDirectory) -> Iterator[Service]:
    with serving(desk) as running:
        yield running


@pytest.fixture(scope="module")
def new_client(desk: IntakeDirectory, service: Service) -> Iterator[Callable[[str], httpx.Client]]:
    """A client with a token of its author's own."""
    clients = []

    def make(author: str) -> httpx.Client:
        clients.append(service.client(make_token(desk, author)))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture(scope="module")
def ada(new_client: Callable[[str], httpx.Client]) -> httpx.Client:
    return new_client("ada")


@pytest.fixture(scope="module")
def eve(new_client: Callable[[str], httpx.Client]) -> httpx.Client:
    return new_client("eve")


def upload_head(client: httpx.Client, length: int, *headers: str) -> bytes:
    """The head of a request that uploads `length` bytes."""
    lines = ("POST /submissions?filename=a.zip HTTP/1.1", "Host: x", f"Content-Length: {length}", *headers)
    return "\r\n".join([*lines, f"Authorization: {client.headers['authorization']}", "", ""]).encode()


def send(client: httpx.Client, content: bytes | str, filename: str = "a.zip", **query: str) -> int:
    """Send an upload; its number."""
    body = content if isinstance(content, bytes) else content.encode()
    sent = client.post("/submissions", params={"filename": filename, **query}, content=body)
    assert sent.status_code == 201, sent.text
    number: int = sent.json()["id"]
    return number


def ended(client: httpx.Client, number: int) -> dict[str, Any]:
    """A submission, once something has become of it."""
    while True:
        found: dict[str, Any] = client.get(f"/submissions/{number}").json()
        if found["state"] in ("passed", "refused", "failed", "withdrawn") and not found["again_at"]:
            return found
        time.sleep(POLL_INTERVAL_S)
