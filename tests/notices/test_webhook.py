"""A call of a webhook is signed, and costs little whatever the receiver does."""

import base64
import hashlib
import hmac
import socket
import tracemalloc
from contextlib import ExitStack, suppress
from ipaddress import ip_network
from typing import Any

import pytest

from judge.notices.policy import NoticePolicy
from judge.notices.sender import MAX_STATUS_BYTES, NotDeliveredError, call_webhook, new_secret
from tests.notices.receiving import LOOPBACK, OK, header, receiving, says

POLICY = NoticePolicy(permit=LOOPBACK, plain=True, receiver_s=0.5)
SECRET = new_secret()
BODY = b'{"type":"result"}'


def call(url: str, policy: NoticePolicy = POLICY) -> None:
    call_webhook(url, SECRET, "msg_1", BODY, policy)


def test_a_call_is_signed_as_standard_webhooks_says() -> None:
    with receiving(says(OK)) as receiver:
        call(receiver.url)
    (request,) = receiver.requests
    assert request.startswith(b"POST /hook?a=b HTTP/1.1\r\n")
    assert request.endswith(b"\r\n\r\n" + BODY)
    signed = f"msg_1.{header(request, 'webhook-timestamp')}.".encode() + BODY
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert ("msg_1", f"v1,{expected}") == (header(request, "webhook-id"), header(request, "webhook-signature"))


def has_addresses(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """The host two.example has these addresses."""
    plain = socket.getaddrinfo

    def resolve(host: Any, port: Any, *more: Any, **options: Any) -> Any:
        found = [plain(each, port, *more, **options) for each in (addresses if host == "two.example" else [host])]
        return [each for some in found for each in some]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def test_each_address_of_a_host_is_tried_until_one_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    has_addresses(monkeypatch, "::1", "127.0.0.2", "127.0.0.1")
    with receiving(says(OK)) as receiver:
        policy = POLICY.model_copy(update={"permit": (*LOOPBACK, ip_network("::1/128"))})
        call(receiver.url.replace("127.0.0.1", "two.example"), policy)
    assert 1 == len(receiver.requests)


@pytest.mark.slow
def test_address_that_does_not_answer_leaves_time_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full backlog takes no connection."""
    has_addresses(monkeypatch, "127.0.0.3", "127.0.0.1")
    with receiving(says(OK)) as receiver, socket.socket() as silent, ExitStack() as waiting:
        silent.bind(("127.0.0.3", receiver.port))
        silent.listen(0)
        for _ in range(4):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.3", receiver.port))
        call(receiver.url.replace("127.0.0.1", "two.example"), POLICY.model_copy(update={"receiver_s": 4.0}))
    assert 1 == len(receiver.requests)


def test_host_without_an_answering_address_is_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    has_addresses(monkeypatch, "127.0.0.2", "127.0.0.3")
    with receiving(says(OK)) as receiver, pytest.raises(NotDeliveredError, match="was not reached: Connection refused"):
        call(receiver.url.replace("127.0.0.1", "two.example"))


def test_a_redirect_is_not_followed() -> None:
    with receiving(says(OK)) as inside:
        answer = f"HTTP/1.1 307 Go\r\nLocation: {inside.url}\r\n\r\n".encode()
        with receiving(says(answer)) as receiver, pytest.raises(NotDeliveredError, match="answered 307"):
            call(receiver.url)
    assert [] == inside.requests


def never(stream: socket.socket, _number: int) -> None:
    stream.recv(1)


def slowly(stream: socket.socket, _number: int) -> None:
    stream.settimeout(0.1)
    while True:
        stream.sendall(b"H")
        with suppress(TimeoutError):
            if stream.recv(1) == b"":
                return


def endlessly(stream: socket.socket, _number: int) -> None:
    while True:
        stream.sendall(b"x" * 65536)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (never, "did not answer within 0.5 s"),
        (slowly, "did not answer within 0.5 s"),
        (endlessly, "did not answer in HTTP"),
        (says(b""), "did not answer in HTTP"),
        (says(b"\n"), "did not answer in HTTP"),
        (says(b"HTTP/9 200 OK\r\n\r\n"), "did not answer in HTTP"),
        (says(b"HTTP/1.1 2000 OK\r\n\r\n"), "did not answer in HTTP"),
        (says(b"\x16\x03\x01 200\r\n"), "did not answer in HTTP"),
        (says(b"HTTP/1.1 500 No\r\n\r\n"), "answered 500"),
        (says(b"HTTP/1.1 100 Continue\r\n\r\n"), "answered 100"),
    ],
)
def test_a_hostile_receiver_costs_bounded_time_and_memory(answer: Any, why: str) -> None:
    tracemalloc.start()
    with receiving(answer) as receiver, pytest.raises(NotDeliveredError, match=why):
        call(receiver.url)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1 << 20 > peak


def test_endless_headers_are_not_read() -> None:
    def answer(stream: socket.socket, _number: int) -> None:
        stream.sendall(b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * MAX_STATUS_BYTES)
        endlessly(stream, 0)

    with receiving(answer) as receiver:
        call(receiver.url)


def test_checked_address_is_called_whatever_the_name_is_a_moment_later(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = socket.getaddrinfo

    def changing(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host != "changing.example":
            return real(host, port, *rest, **more)
        asked.append(host)
        return real("127.0.0.1" if len(asked) == 1 else "127.0.0.2", port, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    policy = POLICY.model_copy(update={"permit": (ip_network("127.0.0.1/32"),)})
    with receiving(says(OK)) as receiver:
        url = receiver.url.replace("127.0.0.1", "changing.example")
        call(url, policy)
        assert 1 == len(asked)
        with pytest.raises(NotDeliveredError, match="not public"):
            call(url, policy)
    assert f"changing.example:{receiver.port}" == header(receiver.requests[0], "host")
    assert 1 == len(receiver.requests)


def test_receiver_without_a_valid_certificate_gets_no_notice() -> None:
    """TLS with a receiver whose certificate nobody has signed, or that speaks no TLS."""
    why = r"TLS with the receiver failed|did not answer within"
    with receiving(says(OK)) as receiver, pytest.raises(NotDeliveredError, match=why):
        call(receiver.url.replace("http:", "https:"))
    assert [] == receiver.requests
