"""Attacks on `judge serve` by viewers, authors, and pages of other sites."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from select import select

from judge.base.procfs import memory_bytes
from judge.broadcast.events import StateChanged
from judge.broadcast.log import LOG_FILE, EventLog
from judge.contest.plan import Planned
from judge.store.tokens import TokenRole, Tokens
from tests.attacks.serving import (
    FORM,
    Result,
    RunningService,
    ask,
    begin_contest,
    make_contest,
    open_request,
    read_status,
    serving,
    slow_forms,
)
from tests.patience import until

ATTACKER, OTHERS = "10.9.9.9", "10.1.1.1"
VIEWERS, PER_ADDRESS = 24, 8
PAGES = ("/live.html", "/author/index.html", "/health", "/organiser/index.html")

READERS = 40
EVENTS, EVENT_BYTES = 4000, 500
READER_BYTES = 256 << 10
SERVICE_BYTES = 8 << 20

UPLOAD_BYTES = 1 << 20
SENT_BYTES = 16 << 20


@contextmanager
def attacked(planned: Planned, *without: str) -> Iterator[RunningService]:
    """Run a contest's service for clients of a local proxy; `without` names defences."""
    with serving(planned.folder, "--proxy", "127.0.0.1", without=("processing of uploads", *without)) as service:
        yield service


def limits(viewers: int = VIEWERS, per_address: int = PER_ADDRESS) -> str:
    return f"viewers = {viewers}\nconnections_per_address = {per_address}"


def new_token(planned: Planned, name: str, role: TokenRole = TokenRole.AUTHOR) -> str:
    with closing(Tokens(planned.store_url, planned.name)) as tokens:
        return tokens.make(name, "selftest", role)


def fill_by_one_client(directory: Path, is_off: bool) -> Result:
    """Begin more forms from one client than the service answers at once."""
    planned = make_contest(directory, broadcast=limits(per_address=10 * VIEWERS if is_off else PER_ADDRESS))
    without = ["shares of a full room"] if is_off else []
    with attacked(planned, *without) as service, slow_forms(service, [ATTACKER] * 2 * VIEWERS):
        until(lambda: ask(service, "/live.html", ATTACKER) != 200, "the client is refused")
        found = {ask(service, path, OTHERS) for path in PAGES}
    return Result(found != {200}, f"others get status {', '.join(map(str, sorted(found)))}")


def keep_organiser_out(directory: Path, is_off: bool) -> Result:
    """Use up the service's capacity while an organiser requests a page."""
    planned = make_contest(directory, broadcast=limits())
    addresses = [f"10.3.{number}.3" for number in range(2 * VIEWERS)]
    with attacked(planned, *(["organisers' room"] if is_off else [])) as service:
        cookie = f"judge-organiser={new_token(planned, 'Olga', TokenRole.ORGANISER)}"
        with slow_forms(service, addresses):
            until(lambda: ask(service, "/live.html", OTHERS) == 503, "the capacity is used up")
            status = ask(service, "/organiser/index.html", OTHERS, cookie)
    return Result(status != 200, f"the organiser gets status {status}")


def read_nothing(directory: Path, is_off: bool) -> Result:
    """Request all events and read only the first."""
    planned = make_contest(directory, broadcast=limits(10 * READERS, 2 * READERS))
    begin_contest(planned)
    with closing(EventLog(planned.folder / LOG_FILE)) as log:
        log.append([StateChanged(at="", state="open", reason="x" * EVENT_BYTES)] * EVENTS)
    with attacked(planned, *(["stream bound"] if is_off else [])) as service, ExitStack() as stack:
        ask(service, "/live.html", ATTACKER)
        before = memory_bytes(service.process.pid, "VmRSS")
        for _ in range(READERS):
            client = open_request(service, ATTACKER, path="/events?since=0", buffer_bytes=4096)
            stack.enter_context(closing(client))
            read_event(client)
        grown = memory_bytes(service.process.pid, "VmRSS") - before
    bound = READERS * READER_BYTES + SERVICE_BYTES
    return Result(grown > bound, f"{READERS} readers cost {grown >> 20} MiB of at most {bound >> 20}")


def read_event(client: socket.socket) -> None:
    got = b""
    while b"data:" not in got and (data := client.recv(256)):
        got += data


def sign_in_from_another_site(directory: Path, is_off: bool) -> Result:
    """Sign in with another site's token through a cross-site form."""
    planned = make_contest(directory)
    with attacked(planned, *(["origin"] if is_off else [])) as service:
        body = f"token={new_token(planned, 'eve')}".encode()
        text = b"Origin: https://evil.example\r\n%sContent-Length: %d\r\n\r\n%s" % (FORM, len(body), body)
        with closing(open_request(service, ATTACKER, text)) as client:
            status = read_status(client)
    return Result(status == 303, f"the form gets status {status}")


def upload_without_end(directory: Path, is_off: bool) -> Result:
    """Upload a file of unannounced size without end."""
    planned = make_contest(directory, intake=f"upload_bytes = {100 * SENT_BYTES if is_off else UPLOAD_BYTES}")
    piece = b"%x\r\n%s\r\n" % (1 << 16, bytes(1 << 16))
    sent = 0
    with attacked(planned) as service:
        head = f"Authorization: Bearer {new_token(planned, 'eve')}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        with closing(open_request(service, ATTACKER, head, "/submissions?filename=a.zip")) as client:
            with suppress(ConnectionError):
                while sent < SENT_BYTES and not select([client], [], [], 0)[0]:
                    client.sendall(piece)
                    sent += 1 << 16
            if sent >= SENT_BYTES:
                return Result(True, f"the service has taken {sent >> 20} MiB and waits for more")
            return Result(False, f"after {sent >> 20} MiB it gets status {read_status(client)}")
