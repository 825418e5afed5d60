"""Runs `judge serve` for a temporary contest, and sends attackers' requests."""

import re
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from judge.base.errors import HostError
from judge.contest.plan import Planned, load_plan
from judge.store.contests import Store
from judge.store.types import EntryRow
from tests.attacks.defences import weak_command
from tests.contest.cups import snapshot
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S, until

LIMITS = """
[intake]
requests_per_minute = 100000
address_requests_per_minute = 100000
strangers_per_minute = 100000
{intake}
[broadcast]
requests_per_minute = 100000
{broadcast}
"""

CONTEST = f"""
name = "selftest"
policy = "gomocup-freestyle"
seed = 1
[format]
name = "round-robin"
{LIMITS}
"""

FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"
UNENDED_FORM = FORM + b"Content-Length: 8000\r\n\r\nt"


class Result(NamedTuple):
    """Whether an attack succeeded, and its effect."""

    is_success: bool
    seen: str


@dataclass
class RunningService:
    process: subprocess.Popen[str]
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving(folder: Path, *options: str, without: Sequence[str] = ()) -> Iterator[RunningService]:
    """Run `judge serve` for the contest in `folder`; `without` names missing defences."""
    log = folder / "service.log"
    begin = log.stat().st_size if log.exists() else 0
    words = weak_command(without, "serve", str(folder), "--listen", "127.0.0.1:0", *options)
    with log.open("a") as stderr:
        process = ForkedProcess[str](
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, text=True
        )
    ports: list[str] = []

    def is_ready() -> bool:
        ports[:] = re.findall(r" on http://127\.0\.0\.1:(\d+)", log.read_text()[begin:])
        return bool(ports) or process.poll() is not None

    try:
        until(is_ready, "judge serve listens")
        if not ports:
            raise HostError(f"judge serve ended: {log.read_text()[begin:]}")
        yield RunningService(process, int(ports[0]), log)
    finally:
        process.terminate()
        process.wait()


def make_contest(folder: Path, intake: str = "", broadcast: str = "") -> Planned:
    """A contest with further lines of [intake] and [broadcast]."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "contest.toml").write_text(CONTEST.format(intake=intake, broadcast=broadcast), encoding="ascii")
    return load_plan(folder)


def begin_contest(planned: Planned) -> None:
    """Two agents without files; its games cannot be played."""
    document = snapshot(planned.plan.format, 2, name=planned.name, policy=planned.policy)
    entries = tuple(
        entry.model_copy(
            update={"name": name, "calls_itself": name, "seat": entry.seat.model_copy(update={"name": name})}
        )
        for name, entry in zip(("one", "two"), document.entries, strict=True)
    )
    document = document.model_copy(update={"entries": entries})
    with closing(Store(planned.store_url)) as store:
        rows = [EntryRow(each.name, each.rank, each.model_dump_json()) for each in entries]
        store.create(planned.name, document.model_dump_json(), rows)


def open_request(
    service: RunningService,
    address: str,
    text: bytes = b"",
    path: str = "/author/session",
    cookie: str = "",
    buffer_bytes: int = 0,
) -> socket.socket:
    """Send a proxied request of the client at `address`: a GET, or a POST ending with `text` (headers and body).

    `buffer_bytes` is the receive buffer; 0: the default.
    """
    client = socket.socket()
    client.settimeout(PATIENCE_S)
    if buffer_bytes:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
    client.connect(("127.0.0.1", service.port))
    head = f"{'POST' if text else 'GET'} {path} HTTP/1.1\r\nHost: here\r\nX-Forwarded-For: {address}\r\n"
    head += f"Cookie: {cookie}\r\n" if cookie else ""
    client.sendall(head.encode() + (text or b"\r\n"))
    return client


def read_status(client: socket.socket) -> int:
    """Status of an answer; 0 without an answer."""
    try:
        found = re.match(rb"HTTP/1.1 (\d+)", client.recv(100))
    except ConnectionError:
        return 0
    return int(found[1]) if found else 0


def ask(service: RunningService, path: str, address: str, cookie: str = "") -> int:
    """Status of a GET."""
    with closing(open_request(service, address, path=path, cookie=cookie)) as client:
        return read_status(client)


@contextmanager
def slow_forms(service: RunningService, addresses: Sequence[str], path: str = "/author/session") -> Iterator[None]:
    """Send the beginning of a form from each address."""
    with ExitStack() as stack:
        for address in addresses:
            stack.enter_context(closing(open_request(service, address, UNENDED_FORM, path)))
        yield
