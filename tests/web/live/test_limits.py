"""One client, however many connections and addresses of a proxy it uses, leaves room for all others.

Attacks that take all room, with their controls, are in tests/attacks/web.py: tests/attacks/test_services.py plays them.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from pathlib import Path

import httpx

from judge.cli.submit import open_intake
from judge.store.tokens import TokenRole
from tests.attacks.serving import UNENDED_FORM, ask, begin_contest, make_contest, open_request, read_status, slow_forms
from tests.attacks.web import ATTACKER, OTHERS, VIEWERS, limits
from tests.web.intake.conftest import Service, make_token
from tests.web.live.serving import serving_all
from tests.web.live.watching import until


@contextmanager
def service(folder: Path, request_s: float = 600) -> Iterator[Service]:
    """A contest that has begun, and its service."""
    planned = make_contest(folder / "cup", f"head_s = 60\nrequest_s = {request_s}", limits())
    begin_contest(planned)
    with serving_all(planned.folder, "127.0.0.1") as running:
        yield running


def organiser(folder: Path) -> str:
    return make_token(open_intake(folder / "cup"), "Olga", TokenRole.ORGANISER)


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


def test_an_organiser_gets_in_when_all_room_of_viewers_or_visitors_is_taken(tmp_path: Path) -> None:
    addresses = [f"10.3.{number}.3" for number in range(4 * VIEWERS)]
    with service(tmp_path) as running:
        cookie = f"judge-organiser={organiser(tmp_path)}"
        with slow_forms(running, addresses[: 2 * VIEWERS]):
            until(lambda: ask(running, "/live.html", OTHERS) == 503, "there is still room")
            assert 200 == ask(running, "/organiser/index.html", OTHERS, cookie)
            assert 200 == ask(running, "/organiser/index.html", OTHERS)  # to sign in
            assert 503 == ask(running, "/organiser/games.html", OTHERS, "judge-organiser=judge-wrong")
            assert [503] * 3 == [ask(running, path, OTHERS) for path in ("/", "/cs", "/cs/live.html")]
            token = cookie.partition("=")[2]
            sent = {"x-forwarded-for": OTHERS}
            signed = httpx.post(f"{running.url}/organiser/session", data={"token": token}, headers=sent, timeout=60)
            assert 303 == signed.status_code
        with slow_forms(running, addresses, "/organiser/session"):
            until(lambda: ask(running, "/organiser/index.html", OTHERS) == 503, "there is still room")
            assert 200 == ask(running, "/organiser/index.html", OTHERS, cookie)


def test_an_organiser_of_one_of_several_contests_gets_in_over_tls_when_all_room_is_taken(tmp_path: Path) -> None:
    planned, other = (make_contest(tmp_path / name, "head_s = 60\nrequest_s = 600", limits()) for name in ("cup", "b"))
    other.path.write_text(other.path.read_text().replace("selftest", "other"))
    begin_contest(planned)
    sent = {"x-forwarded-for": OTHERS, "x-forwarded-proto": "https"}
    with ExitStack() as stack:
        running = stack.enter_context(serving_all(planned.folder, "127.0.0.1", "", other.folder))
        browser = stack.enter_context(httpx.Client(base_url=running.url, headers=sent, timeout=60))
        signed = browser.post("/selftest/organiser/session", data={"token": organiser(tmp_path)})
        cookie = {"cookie": signed.headers["set-cookie"].partition(";")[0]}
        addresses = (f"10.3.{number}.3" for number in range(256))

        def is_full() -> bool:
            stack.enter_context(slow_forms(running, [*islice(addresses, 8)], "/selftest/author/session"))
            return browser.get("/selftest/live.html").status_code == 503

        until(is_full, "there is still room")
        assert 200 == browser.get("/selftest/organiser/games.html", headers=cookie).status_code
        assert 503 == browser.get("/other/organiser/games.html", headers=cookie).status_code
        assert 503 == browser.get("/other").status_code


def test_connections_without_a_request_make_room_for_a_new_one(tmp_path: Path) -> None:
    with service(tmp_path) as running, ExitStack() as stack:
        for _ in range(VIEWERS + 2 * 64):
            stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
        assert 200 == ask(running, "/live.html", OTHERS)
