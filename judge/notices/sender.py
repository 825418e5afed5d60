"""Sends notices while a service runs: one thread finds due ones, others call the receivers, one call per
author at a time.

After a kill a notice may be sent again, with the same id. A webhook gets one POST to a checked address,
signed as in https://www.standardwebhooks.com: HMAC-SHA256 of `ID.TIMESTAMP.BODY`. Only the response status
is read; redirects are not followed.
"""

import base64
import errno
import hmac
import json
import re
import secrets
import smtplib
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from email.errors import MessageError
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from typing import IO, Self

from judge.base.errors import InputError
from judge.base.locks import try_lock_directory
from judge.base.logs import get_logger
from judge.base.service_loop import ServiceLoop
from judge.base.text import printable
from judge.base.watched_file import WatchedFile
from judge.notices.policy import NoticePolicy, WebhookTarget, parse_target, read_notice_policy, resolved
from judge.store.notices import GIVEN_UP, MAIL, MAIL_SERVER, WEBHOOK, Notice, Notices

POLL_INTERVAL_S = 0.5
"""Polling interval; the end of a call also triggers a check."""
MAILS_AT_ONCE = 2
SUBJECT_CHARACTERS, TEXT_CHARACTERS = 120, 2000

_STOP = "To stop these mails, ask the organiser of the contest."
SECRET_PREFIX = "whsec_"  # noqa: S105 a prefix
MAX_ADDRESSES = 8
"""Addresses of a host that are tried."""
MAX_STATUS_BYTES = 256
"""Maximum number of bytes read from a response."""

_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})[ \r\n]")

SERVER_S = 20.0
"""Timeout of the mail server."""

log = get_logger()


class NotDeliveredError(Exception):
    """A notice was not taken; the reason is shown to the author."""


def new_secret() -> str:
    """A new webhook secret, shown to its author."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def signature(secret: str, notice: str, timestamp: int, body: bytes) -> str:
    """The header `webhook-signature`."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{notice}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


def call_webhook(url: str, secret: str, notice: str, body: bytes, policy: NoticePolicy) -> None:
    """Deliver a notice within the policy's timeout plus name resolution. Raises NotDeliveredError."""
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
        request = head.encode("ascii") + body
        with closing(_connected(target, addresses[:MAX_ADDRESSES], deadline)) as stream:
            status = _exchange(stream, request, deadline)
    except TimeoutError:
        raise NotDeliveredError(f"the receiver did not answer within {policy.receiver_s:g} s") from None
    except ssl.SSLError as error:
        raise NotDeliveredError(f"TLS with the receiver failed: {error.reason or 'no reason'}") from None
    except OSError as error:
        raise NotDeliveredError(f"the receiver was not reached: {error.strerror or type(error).__name__}") from None
    if not 200 <= status < 300:
        raise NotDeliveredError(f"the receiver answered {status}" if status else "the receiver did not answer in HTTP")


def _connected(target: WebhookTarget, addresses: Sequence[str], deadline: float) -> socket.socket:
    """A connection to the first address that answers. Raises the last one's error."""
    for number, address in enumerate(addresses):
        # Time is left for the other addresses.
        shared = time.monotonic() + _left(deadline) / (len(addresses) - number)
        try:
            plain = socket.create_connection((address, target.port), timeout=_left(shared))
            try:
                if not target.is_tls:
                    return plain
                plain.settimeout(_left(shared))
                return ssl.create_default_context().wrap_socket(plain, server_hostname=target.host)
            except BaseException:
                plain.close()
                raise
        except OSError:
            if number == len(addresses) - 1:
                raise
    raise OSError(errno.EHOSTUNREACH, "no address")


def _exchange(stream: socket.socket, request: bytes, deadline: float) -> int:
    stream.settimeout(_left(deadline))
    stream.sendall(request)
    said = b""
    while b"\n" not in said and len(said) < MAX_STATUS_BYTES:
        stream.settimeout(_left(deadline))
        more = stream.recv(MAX_STATUS_BYTES - len(said))
        if not more:
            break
        said += more
    found = _STATUS.match(said)
    return int(found[1]) if found else 0


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def read_password(policy: NoticePolicy, folder: Path) -> str:
    """The mail server's password, or an empty string. Raises InputError if other users may read its file."""
    if not policy.password_file:
        return ""
    path = folder / policy.password_file
    try:
        if path.stat().st_mode & 0o077:
            raise InputError(f"{path}: other users may read the password: chmod 600 {path}")
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def send_mail(
    policy: NoticePolicy, password: str, to: str, subject: str, text: str, notice: str, unsubscribe: str = ""
) -> None:
    """Send a mail. `notice` is the id in the Message-ID, the same in retries. `unsubscribe` is an address, as in RFC
    8058. Raises NotDeliveredError.
    """
    headers = {
        "From": policy.sender,
        "To": to,
        "Subject": subject,
        "Message-ID": f"<{notice}@{policy.sender.rpartition('@')[2]}>",
        "Auto-Submitted": "auto-generated",
    }
    if unsubscribe:
        headers |= {
            "List-Unsubscribe": f"<{unsubscribe}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        }
    try:
        message = _message(headers, text)
    except (ValueError, MessageError) as error:
        raise NotDeliveredError(f"no mail can be made of it ({type(error).__name__})") from error
    host, _, port = policy.smtp.rpartition(":")
    try:
        if policy.security == "tls":
            context = ssl.create_default_context()
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, int(port), timeout=SERVER_S, context=context)
        else:
            server = smtplib.SMTP(host, int(port), timeout=SERVER_S)
        with server:
            if policy.security == "starttls":
                server.starttls(context=ssl.create_default_context())
            if policy.user:
                server.login(policy.user, password)
            server.send_message(message)
    except (OSError, ValueError, MessageError, smtplib.SMTPException) as error:
        # The server's message may reveal the organiser's network.
        raise NotDeliveredError(f"{MAIL_SERVER} did not take it ({type(error).__name__})") from error


def _message(headers: Mapping[str, str], text: str) -> EmailMessage:
    """Raises ValueError, MessageError."""
    message = EmailMessage(SMTP)
    for name, value in headers.items():
        # EmailMessage and mail readers decode encoded words (RFC 2047), also to line ends.
        message[name] = value.replace("=?", "= ?")
    message.set_content(text)
    return message


class NoticeSender(ServiceLoop):
    """Context manager that sends a contest's notices. Only one per host is active."""

    def __init__(
        self, notices: Notices, contest: str, policy: NoticePolicy, folder: Path, locks: Path, plan: Path | None = None
    ) -> None:
        """`folder` is the contest's; the active sender locks the directory `locks`. `policy` applies until the file
        `plan` changes. Raises InputError for a password file that other users may read.
        """
        self._notices = notices
        self._contest = contest
        self._folder = folder
        self._file = WatchedFile(plan, read_notice_policy, policy)
        self._policy = policy
        self._password = read_password(policy, folder)
        self._said = ""
        self._locks = locks
        # Separate threads for mail: a silent mail server delays no webhook.
        self._pools = {WEBHOOK: ThreadPoolExecutor(policy.at_once), MAIL: ThreadPoolExecutor(MAILS_AT_ONCE)}
        self._busy: dict[tuple[str, str], Future[None]] = {}
        self._lock: IO[bytes] | None = None
        super().__init__("notices", self.step)

    def __enter__(self) -> Self:
        # Events from now on cause notices, even if another process sends them.
        self._notices.derive()
        self._notices.try_again()
        return super().__enter__()

    def __exit__(self, *_: object) -> None:
        """End; unfinished notices may be sent again later."""
        super().__exit__()
        if self._lock is not None:
            self._lock.close()
        for pool in self._pools.values():
            pool.shutdown(cancel_futures=True)

    def step(self) -> float:
        self._lock = self._lock or try_lock_directory(self._locks)
        if self._lock is None:
            return POLL_INTERVAL_S
        self._renew()
        self._notices.derive()
        self._busy = {key: future for key, future in self._busy.items() if not future.done()}
        for notice in self._notices.due(self._busy.keys(), self._policy.digest_s):
            if notice.channel == MAIL and not self._policy.smtp:
                self._say("notices by e-mail wait for a mail server: name one in [intake.notices], smtp = HOST:PORT")
                continue
            future = self._pools[notice.channel].submit(self._send, notice)
            future.add_done_callback(lambda _: self.wake())
            self._busy[(notice.author, notice.channel)] = future
        return POLL_INTERVAL_S

    def _renew(self) -> None:
        """Apply a changed policy and retry waiting notices at once."""
        policy = self._file.current_value()
        try:
            password = read_password(policy, self._folder)
        except InputError as error:
            self._say(f"{error}; the notice policy is unchanged")
            return
        if (policy, password) == (self._policy, self._password):
            return
        for channel, threads in ((WEBHOOK, policy.at_once), (MAIL, MAILS_AT_ONCE)):
            before, self._pools[channel] = self._pools[channel], ThreadPoolExecutor(threads)
            before.shutdown(wait=False)
        self._policy, self._password, self._said = policy, password, ""
        self._notices.try_again()
        log.info("the changed [intake.notices] applies now")

    def _say(self, text: str) -> None:
        if text != self._said:
            log.warning(text)
        self._said = text

    def _send(self, notice: Notice) -> None:
        together = self._notices.digest(notice)
        try:
            self._carry(notice, together)
            for each in together:
                self._notices.sent(each.id)
        except NotDeliveredError as error:
            state = self._failed(together, str(error))
            log.warning(
                "a notice was given up" if state == GIVEN_UP else "a notice was not taken",
                notice=notice.id,
                author=notice.author,
                channel=notice.channel,
                why=str(error),
            )
        except Exception as error:  # noqa: BLE001 nothing a receiver does ends the others' notices
            log.error("a notice could not be sent", notice=notice.id, error=repr(error))  # noqa: TRY400
            self._failed(together, "the judge failed")

    def _failed(self, together: Sequence[Notice], why: str) -> str:
        limits = (self._policy.tries, self._policy.again_s)
        states = [self._notices.not_sent(each.id, why, *limits) for each in together]
        return states[0]

    def _carry(self, notice: Notice, together: Sequence[Notice]) -> None:
        targets = self._notices.targets(notice.author)
        if notice.channel == WEBHOOK:
            if not targets.webhook:
                raise NotDeliveredError("its target was removed")
            call_webhook(targets.webhook, targets.secret, notice.id, notice.body.encode(), self._policy)
            return
        if not self._policy.smtp or not targets.email:
            raise NotDeliveredError("there is no mail server, or no address")
        what = printable(notice.text, SUBJECT_CHARACTERS) if len(together) == 1 else f"{len(together)} results"
        site, lines, unsubscribe = self._policy.site.rstrip("/"), [], ""
        for each in together:
            at = datetime.fromisoformat(each.at).astimezone(UTC)
            lines.append(f"{at:%Y-%m-%d %H:%M:%S} UTC  {printable(each.text, TEXT_CHARACTERS)}")
            if site and (game := json.loads(each.body)["data"].get("game")):
                lines.append(f"  {site}/games/{game:05d}.html")
        if site:
            unsubscribe = f"{site}/author/unsubscribe.html?notice={together[-1].id}"
            lines += ["", f"The contest: {site}/", f"Your page: {site}/author/index.html", f"Stop mails: {unsubscribe}"]
        else:
            lines += ["", _STOP]
        subject, text = f"[{self._contest}] {what}", "\n".join(lines) + "\n"
        # A mail with more results than before gets a new id.
        send_mail(self._policy, self._password, targets.email, subject, text, together[-1].id, unsubscribe)
