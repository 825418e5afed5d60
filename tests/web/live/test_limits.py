"""One client, however many connections and addresses of a proxy it uses, leaves room for all others.

Attacks that take all room, with their controls, are in tests/attacks/web.py: tests/attacks/test_services.py plays them.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx

from judge.cli.submit import open_intake
from judge.store.tokens import TokenRole, Tokens
from tests.attacks.serving import (
    UNENDED_FORM,
    ask,
    begin_contest,
    make_contest,
    open_request,
    read_status,
    slow_forms,
)
from tests.attacks.web import ATTACKER, OTHERS, PER_ADDRESS, VIEWERS, limits
from tests.web.intake.conftest import Service, make_token
from tests.web.live.serving import serving_all
from tests.web.live.watching import until


@contextmanager
def service(folder: Path, proxy: str = "127.0.0.1", request_s: float = 600) -> Iterator[Service]:
    """A contest that has begun, and its service."""
    planned = make_contest(folder / "cup", f"head_s = 60\nrequest_s = {request_s}", limits())
    begin_contest(planned)
    with serving_all(planned.folder, proxy) as running:
        yield running


def organiser(folder: Path) -> str:
    directory = open_intake(folder / "cup")
    with closing(Tokens(directory.store_url, directory.contest)) as tokens:
        return tokens.make("Olga", "test", TokenRole.ACT)


# --- requests under way -----------------------------------------------------------------------------------------------


def test_a_client_of_ipv6_has_one_limit_for_its_whole_network(tmp_path: Path) -> None:
    addresses = [f"2001:db8:1:2::{number:x}" for number in range(2 * PER_ADDRESS)]
    with service(tmp_path) as running, slow_forms(running, addresses):
        until(lambda: ask(running, "/health", "2001:db8:1:2::ffff") == 429, "the network has no limit")
        assert 200 == ask(running, "/health", "2001:db8:1:3::1")


def test_without_a_proxy_a_client_names_no_other_address_for_itself(tmp_path: Path) -> None:
    addresses = [f"10.2.2.{number}" for number in range(2 * PER_ADDRESS)]
    with service(tmp_path, proxy="") as running, ExitStack() as stack:
        clients = [stack.enter_context(closing(open_request(running, address, UNENDED_FORM))) for address in addresses]
        ended = 0
        for client in clients[PER_ADDRESS:]:
            ended += read_status(client) == 0
        assert PER_ADDRESS == ended


def test_streams_and_pages_of_a_client_are_counted_apart(tmp_path: Path) -> None:
    with service(tmp_path) as running, ExitStack() as stack:
        streams = [
            stack.enter_context(closing(open_request(running, ATTACKER, path="/events"))) for _ in range(PER_ADDRESS)
        ]
        assert {200} == {read_status(stream) for stream in streams}
        assert 200 == ask(running, "/live.html", ATTACKER)
        assert 429 == read_status(stack.enter_context(closing(open_request(running, ATTACKER, path="/events"))))
        assert 200 == read_status(stack.enter_context(closing(open_request(running, OTHERS, path="/events"))))
        streams[0].close()
        until(lambda: streams_again(running), "a stream that was closed is still counted")


def streams_again(running: Service) -> bool:
    with closing(open_request(running, ATTACKER, path="/events")) as stream:
        return read_status(stream) == 200


# --- time -------------------------------------------------------------------------------------------------------------


def test_a_form_has_the_time_of_a_form_and_an_upload_that_of_an_upload(tmp_path: Path) -> None:
    with service(tmp_path, request_s=1) as running:
        token = make_token(open_intake(tmp_path / "cup"), "ada")
        cookie = f"Cookie: judge-organiser={organiser(tmp_path)}\r\n".encode()
        head = f"Authorization: Bearer {token}\r\nContent-Length: 8000\r\n\r\nt".encode()
        with (
            closing(open_request(running, ATTACKER, UNENDED_FORM)) as form,
            closing(open_request(running, ATTACKER, UNENDED_FORM, "/organiser/session")) as other,
            closing(open_request(running, ATTACKER, cookie + UNENDED_FORM, "/organiser/orders")) as order,
            closing(open_request(running, ATTACKER, head, "/submissions?filename=a.zip")) as upload,
        ):
            assert {408} == {read_status(form), read_status(other), read_status(order)}
            upload.sendall(b"x" * 7999)
            assert 201 == read_status(upload)


# --- room for organisers ----------------------------------------------------------------------------------------------


def test_an_organiser_gets_in_when_all_room_of_viewers_is_taken(tmp_path: Path) -> None:
    addresses = [f"10.3.{number}.3" for number in range(2 * VIEWERS)]
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


def test_organiser_pages_are_closed_without_a_token(tmp_path: Path) -> None:
    addresses = [f"10.4.{number}.4" for number in range(4 * VIEWERS)]
    with service(tmp_path) as running:
        cookie = f"judge-organiser={organiser(tmp_path)}"
        with slow_forms(running, addresses, "/organiser/session"):
            until(lambda: ask(running, "/organiser/index.html", OTHERS) == 503, "there is still room")
            assert 200 == ask(running, "/organiser/index.html", OTHERS, cookie)


def test_connections_without_a_request_make_room_for_a_new_one(tmp_path: Path) -> None:
    with service(tmp_path, proxy="127.0.0.1") as running, ExitStack() as stack:
        for _ in range(VIEWERS + 2 * 64):
            stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
        assert 200 == ask(running, "/live.html", OTHERS)
