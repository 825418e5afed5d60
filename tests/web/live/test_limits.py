"""One client, however many connections and addresses of a proxy it uses, leaves room for all others.

Each attack is tried on the service with its limits, and on the same service with the limit that stops it taken away.
"""

import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx

from judge.broadcast.events import StateChanged
from judge.broadcast.log import LOG_FILE, EventLog
from judge.cli.submit import open_intake
from judge.store.tokens import TokenRole, Tokens
from judge.web.live import hub
from tests.broadcast.logs import PAIR, accept, play_next, recorder
from tests.patience import PATIENCE_S
from tests.publish.cups import Cup
from tests.web.intake.conftest import Service, make_token
from tests.web.live.serving import serving_all
from tests.web.live.watching import until

MINE, OTHERS = "10.9.9.9", "10.1.1.1"
VIEWERS, PER_ADDRESS = 24, 8

LIMITS = """
[intake]
requests_per_minute = 100000
address_requests_per_minute = 100000
strangers_per_minute = 100000
head_s = {head_s}
request_s = {request_s}
[broadcast]
requests_per_minute = 100000
viewers = {viewers}
connections_per_address = {per_address}
"""

FORM = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 8000\r\n\r\nt"


@contextmanager
def service(
    folder: Path,
    *without: str,
    proxy: str = "127.0.0.1",
    head_s: float = 60,
    request_s: float = 600,
    viewers: int = VIEWERS,
    per_address: int = PER_ADDRESS,
    events: int = 0,
) -> Iterator[Service]:
    """A contest of which a game is over, and its service; `without` names limits that it does not have.

    So many `events` of `EVENT_BYTES` are added to its log.
    """
    more = LIMITS.format(head_s=head_s, request_s=request_s, viewers=viewers, per_address=per_address)
    form = 'name = "round-robin"\ngames = 20'
    with Cup(folder / "cup", PAIR, form=form, more=more) as cup:
        with recorder(cup) as log:
            accept(cup, *play_next(cup))
            log.look()
            log.finish()
        with closing(EventLog(cup.folder / LOG_FILE)) as written:
            assert list(written.lines())
            written.append([StateChanged(at="", state="open", reason="x" * EVENT_BYTES)] * events)
        with serving_all(cup.folder, proxy, without=without) as running:
            yield running


def opened(service: Service, address: str, text: bytes, path: str = "/author/session") -> socket.socket:
    """A request as the proxy sends it for a client, of which the end may be missing."""
    client = socket.create_connection(("127.0.0.1", service.port))
    client.settimeout(PATIENCE_S)
    method = b"POST" if text else b"GET"
    head = f" {path} HTTP/1.1\r\nHost: here\r\nX-Forwarded-For: {address}\r\n".encode()
    client.sendall(method + head + (text or b"\r\n"))
    return client


def status_of(client: socket.socket) -> int:
    """The status of an answer; 0: the connection ended without one."""
    try:
        found = re.match(rb"HTTP/1.1 (\d+)", client.recv(100))
    except ConnectionError:
        return 0
    return int(found[1]) if found else 0


def ask(service: Service, path: str, address: str, cookie: str = "") -> int:
    headers = {"x-forwarded-for": address} | ({"cookie": cookie} if cookie else {})
    return httpx.get(f"{service.url}{path}", headers=headers, timeout=PATIENCE_S).status_code


@contextmanager
def slow_forms(service: Service, addresses: Sequence[str], path: str = "/author/session") -> Iterator[None]:
    """Unended forms of these clients, each of which the service has begun to read or has refused."""
    with ExitStack() as stack:
        for address in addresses:
            stack.enter_context(closing(opened(service, address, FORM, path)))
        yield


def organiser(folder: Path) -> str:
    directory = open_intake(folder / "cup")
    with closing(Tokens(directory.store_url, directory.contest)) as tokens:
        return tokens.make("Olga", "test", TokenRole.ACT)


# --- requests under way -----------------------------------------------------------------------------------------------


def test_slow_forms_of_one_client_behind_a_proxy_leave_room_for_others(tmp_path: Path) -> None:
    with service(tmp_path) as running, slow_forms(running, [MINE] * 2 * VIEWERS):
        until(lambda: ask(running, "/author/index.html", MINE) == 429, "the client has no limit")
        for path in ("/live.html", "/author/index.html", "/health", "/organiser/index.html"):
            assert 200 == ask(running, path, OTHERS), path


def test_without_the_limit_of_a_client_its_slow_forms_take_all_room(tmp_path: Path) -> None:
    with service(tmp_path, per_address=10 * VIEWERS) as running, slow_forms(running, [MINE] * 2 * VIEWERS):
        until(lambda: ask(running, "/live.html", OTHERS) == 503, "there is still room")


def test_a_client_of_ipv6_has_one_limit_for_its_whole_network(tmp_path: Path) -> None:
    addresses = [f"2001:db8:1:2::{number:x}" for number in range(2 * PER_ADDRESS)]
    with service(tmp_path) as running, slow_forms(running, addresses):
        until(lambda: ask(running, "/health", "2001:db8:1:2::ffff") == 429, "the network has no limit")
        assert 200 == ask(running, "/health", "2001:db8:1:3::1")


def test_without_a_proxy_a_client_names_no_other_address_for_itself(tmp_path: Path) -> None:
    addresses = [f"10.2.2.{number}" for number in range(2 * PER_ADDRESS)]
    with service(tmp_path, proxy="") as running, ExitStack() as stack:
        clients = [stack.enter_context(closing(opened(running, address, FORM))) for address in addresses]
        ended = 0
        for client in clients[PER_ADDRESS:]:
            ended += status_of(client) == 0
        assert PER_ADDRESS == ended


def test_streams_and_pages_of_a_client_are_counted_apart(tmp_path: Path) -> None:
    with service(tmp_path) as running, ExitStack() as stack:
        streams = [stack.enter_context(closing(opened(running, MINE, b"", "/events"))) for _ in range(PER_ADDRESS)]
        assert {200} == {status_of(stream) for stream in streams}
        assert 200 == ask(running, "/live.html", MINE)
        assert 429 == status_of(stack.enter_context(closing(opened(running, MINE, b"", "/events"))))
        assert 200 == status_of(stack.enter_context(closing(opened(running, OTHERS, b"", "/events"))))
        streams[0].close()
        until(lambda: streams_again(running), "a stream that was closed is still counted")


def streams_again(running: Service) -> bool:
    with closing(opened(running, MINE, b"", "/events")) as stream:
        return status_of(stream) == 200


# --- time -------------------------------------------------------------------------------------------------------------


def test_a_form_has_the_time_of_a_form_and_an_upload_that_of_an_upload(tmp_path: Path) -> None:
    with service(tmp_path, request_s=1) as running:
        token = make_token(open_intake(tmp_path / "cup"), "ada")
        cookie = f"Cookie: judge-organiser={organiser(tmp_path)}\r\n".encode()
        head = f"Authorization: Bearer {token}\r\nContent-Length: 8000\r\n\r\nt".encode()
        with (
            closing(opened(running, MINE, FORM)) as form,
            closing(opened(running, MINE, FORM, "/organiser/session")) as other,
            closing(opened(running, MINE, cookie + FORM, "/organiser/orders")) as order,
            closing(opened(running, MINE, head, "/submissions?filename=a.zip")) as upload,
        ):
            assert {408} == {status_of(form), status_of(other), status_of(order)}
            upload.sendall(b"x" * 7999)
            assert 201 == status_of(upload)


# --- room for organisers ----------------------------------------------------------------------------------------------


def test_an_organiser_gets_in_when_all_room_of_viewers_is_taken(tmp_path: Path) -> None:
    addresses = [f"10.3.3.{number}" for number in range(2 * VIEWERS)]
    with service(tmp_path) as running:
        cookie = f"judge-organiser={organiser(tmp_path)}"
        with slow_forms(running, addresses):
            until(lambda: ask(running, "/live.html", OTHERS) == 503, "there is still room")
            assert 200 == ask(running, "/organiser/index.html", OTHERS, cookie)
            assert 200 == ask(running, "/organiser/index.html", OTHERS)  # to sign in
            assert 503 == ask(running, "/organiser/games.html", OTHERS, "judge-organiser=judge-wrong")
            token = cookie.partition("=")[2]
            sent = {"x-forwarded-for": OTHERS}
            signed = httpx.post(f"{running.url}/organiser/session", data={"token": token}, headers=sent, timeout=60)
            assert 303 == signed.status_code


def test_the_room_of_organisers_is_not_that_of_who_has_no_token(tmp_path: Path) -> None:
    addresses = [f"10.4.4.{number}" for number in range(4 * VIEWERS)]
    with service(tmp_path) as running:
        cookie = f"judge-organiser={organiser(tmp_path)}"
        with slow_forms(running, addresses, "/organiser/session"):
            until(lambda: ask(running, "/organiser/index.html", OTHERS) == 503, "there is still room")
            assert 200 == ask(running, "/organiser/index.html", OTHERS, cookie)


def test_without_that_room_no_organiser_gets_in(tmp_path: Path) -> None:
    addresses = [f"10.3.3.{number}" for number in range(2 * VIEWERS)]
    with service(tmp_path, "organisers' room") as running:
        cookie = f"judge-organiser={organiser(tmp_path)}"
        with slow_forms(running, addresses):
            until(lambda: ask(running, "/organiser/index.html", OTHERS, cookie) == 503, "there is still room")


def test_connections_without_a_request_make_room_for_a_new_one(tmp_path: Path) -> None:
    with service(tmp_path, proxy="127.0.0.1") as running, ExitStack() as stack:
        for _ in range(VIEWERS + 2 * 64):
            stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
        assert 200 == ask(running, "/live.html", OTHERS)


# --- streams ----------------------------------------------------------------------------------------------------------

READERS = 40
EVENTS, EVENT_BYTES = 4000, 500


def resident(service: Service) -> int:
    """Kibibytes of memory that the service uses."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{service.process.pid}/status").read_text())
    assert found is not None
    return int(found[1])


def read_nothing(running: Service, stack: ExitStack) -> int:
    """Streams that begin with all events and read none; by how much the service grows, in KiB."""
    before = resident(running)
    for _ in range(READERS):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", running.port))
        client.sendall(f"GET /events?since=0 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {MINE}\r\n\r\n".encode())
        stack.enter_context(client)
    until(lambda: watching(running) >= READERS, "the streams do not begin")
    return resident(running) - before


def watching(running: Service) -> int:
    found = re.search(r'id="viewers">(\d+)<', httpx.get(f"{running.url}/live.html", timeout=60).text)
    assert found is not None
    return int(found[1])


def test_readers_that_take_nothing_cost_a_bounded_number_of_bytes(tmp_path: Path) -> None:
    with service(tmp_path, viewers=500, per_address=100, events=EVENTS) as running, ExitStack() as stack:
        grown = read_nothing(running, stack)
        assert grown << 10 < READERS * (hub.MOST_UNSENT + (64 << 10)) + (8 << 20), grown


def test_without_the_bound_they_cost_the_whole_log_each(tmp_path: Path) -> None:
    with (
        service(tmp_path, "stream bound", viewers=500, per_address=100, events=EVENTS) as running,
        ExitStack() as stack,
    ):
        grown = read_nothing(running, stack)
        assert grown << 10 > READERS * EVENTS * EVENT_BYTES // 2, grown
