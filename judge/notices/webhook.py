"""Calls a webhook: one POST, signed as https://www.standardwebhooks.com says, to an address that was checked.

The signature is HMAC-SHA256 of `ID.TIMESTAMP.BODY`, so a receiver knows the sender, finds a notice that comes twice by
its id, and refuses an old one. Of the answer only the status is read; a redirect is not followed.
"""

import base64
import hmac
import re
import secrets
import socket
import ssl
import time
from contextlib import closing

from judge.base.errors import InputError
from judge.notices.policy import NoticePolicy
from judge.notices.targets import WebhookTarget, parse_target, resolved

SECRET_PREFIX = "whsec_"  # noqa: S105 a prefix
LONGEST_STATUS = 256
"""Bytes that are read of an answer."""

_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})[ \r\n]")


class NotDeliveredError(Exception):
    """A notice was not taken; the text says why, and its author may read it."""


def new_secret() -> str:
    """The secret of a webhook, shown to its author."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def signature(secret: str, notice: str, timestamp: int, body: bytes) -> str:
    """The value of the header `webhook-signature`."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{notice}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


def call_webhook(url: str, secret: str, notice: str, body: bytes, policy: NoticePolicy) -> None:
    """Deliver a notice. Raises NotDeliveredError; takes no longer than the policy allows and the resolver needs."""
    try:
        target = parse_target(url, policy)
        addresses = resolved(target, policy)
    except InputError as error:
        raise NotDeliveredError(str(error)) from None
    now = round(time.time())
    head = (
        f"POST {target.path} HTTP/1.1\r\nhost: {target.authority}\r\nuser-agent: judge\r\nconnection: close\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\nwebhook-id: {notice}\r\n"
        f"webhook-timestamp: {now}\r\nwebhook-signature: {signature(secret, notice, now, body)}\r\n\r\n"
    )
    deadline = time.monotonic() + policy.receiver_s
    try:
        status = _status(target, addresses[0], head.encode("ascii") + body, deadline)
    except TimeoutError:
        raise NotDeliveredError(f"the receiver did not answer within {policy.receiver_s:g} s") from None
    except ssl.SSLError as error:
        raise NotDeliveredError(f"TLS with the receiver failed: {error.reason or 'no reason'}") from None
    except OSError as error:
        raise NotDeliveredError(f"the receiver was not reached: {error.strerror or type(error).__name__}") from None
    if not 200 <= status < 300:
        raise NotDeliveredError(f"the receiver answered {status}" if status else "the receiver did not answer in HTTP")


def _status(target: WebhookTarget, address: str, request: bytes, deadline: float) -> int:
    """The status of the answer to a request; 0 if it is none. Raises OSError."""
    with closing(socket.create_connection((address, target.port), timeout=_left(deadline))) as plain:
        plain.settimeout(_left(deadline))
        if not target.is_tls:
            return _exchange(plain, request, deadline)
        with ssl.create_default_context().wrap_socket(plain, server_hostname=target.host) as stream:
            return _exchange(stream, request, deadline)


def _exchange(stream: socket.socket, request: bytes, deadline: float) -> int:
    stream.settimeout(_left(deadline))
    stream.sendall(request)
    said = b""
    while b"\n" not in said and len(said) < LONGEST_STATUS:
        stream.settimeout(_left(deadline))
        more = stream.recv(LONGEST_STATUS - len(said))
        if not more:
            break
        said += more
    found = _STATUS.match(said)
    return int(found[1]) if found else 0


def _left(deadline: float) -> float:
    """Seconds until the deadline. Raises TimeoutError."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
