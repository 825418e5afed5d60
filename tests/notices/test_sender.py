"""Notices reach their receivers, by webhook and by mail, at least once and with the same id; nobody delays another."""

import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from judge.base.errors import InputError
from judge.base.text import quote
from judge.cluster.security import make_keys
from judge.notices.policy import NoticePolicy
from judge.notices.sender import NotDeliveredError, NoticeSender, new_secret, send_mail
from judge.store.notices import Notice, Notices
from judge.store.submissions import Register
from judge.store.types import ProcessingResult, Upload
from tests.forked import ForkedProcess
from tests.notices.receiving import ERROR, LOOPBACK, OK, header, receiving, says
from tests.notices.test_webhook import never

POLL_INTERVAL_S = 0.02


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'cup.db'}"


@pytest.fixture
def notices(store: str) -> Iterator[Notices]:
    with closing(Notices(store, "cup")) as opened:
        yield opened


def refuse(store: str, author: str, why: str = "it loses on time", filename: str = "a.zip") -> None:
    with closing(Register(store, "cup")) as register:
        taken = register.receive(Upload(author, "", filename, "a" * 64, 1), worker="w")
        register.finish(taken.id, taken.attempt, ProcessingResult(why, "", None, None, None, None))


@contextmanager
def sending(notices: Notices, folder: Path, **policy: Any) -> Iterator[None]:
    chosen = NoticePolicy(permit=LOOPBACK, plain=True, **{"receiver_s": 5, "again_s": 0.01, **policy})
    with NoticeSender(notices, "cup", chosen, folder, folder / "lock"):
        yield


def ended(notices: Notices, author: str, count: int) -> list[Notice]:
    """The notices to an author, the first one first, once so many of them wait no more."""
    while True:
        found = notices.of(author, 99)[::-1]
        if count == sum(each.state != "waiting" for each in found):
            return found
        time.sleep(POLL_INTERVAL_S)


def test_a_notice_is_sent_again_with_its_id_until_it_is_taken(notices: Notices, store: str, tmp_path: Path) -> None:
    with receiving(says(OK, ERROR, b"", OK)) as receiver, sending(notices, tmp_path):
        notices.set_webhook("ada", receiver.url, new_secret())
        ended(notices, "ada", 1)
        refuse(store, "ada")
        found = ended(notices, "ada", 2)
    assert [("test", "sent", 0), ("refused", "sent", 2)] == [(each.kind, each.state, each.failures) for each in found]
    first, *others = [header(request, "webhook-id") for request in receiver.requests]
    assert first != others[0]
    assert 1 == len(set(others))
    assert b'"type": "refused"' in receiver.requests[-1]


@pytest.mark.slow
def test_a_receiver_on_the_internet_is_called_by_tls_if_its_certificate_is_good(tmp_path: Path) -> None:
    """Nothing is permitted: its address is checked as in a contest, and its certificate by the host's authorities."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("only root can make a network, with ip")
    make_keys(tmp_path / "known", ["hooks.example.com", "other.example.com"], 1)
    make_keys(tmp_path / "unknown", ["hooks.example.com"], 1)
    command = [sys.executable, "-m", "tests.notices.outside", str(tmp_path)]
    with ForkedProcess(command) as process:
        assert 0 == process.wait(60)

    given_up = ["given up", "given up"]
    failed = "TLS with the receiver failed: CERTIFICATE_VERIFY_FAILED"
    inside = "the webhook leads to an address that is not public: use a receiver on the internet"
    assert {
        "good": [["sent", "sent"], "", ["test", "refused"]],
        "other": [given_up, failed, []],
        "unknown": [given_up, failed, []],
        "inside": [given_up, inside, []],
    } == json.loads((tmp_path / "told.json").read_bytes())


def test_a_notice_is_given_up_in_sight_of_its_author(notices: Notices, tmp_path: Path) -> None:
    with receiving(says(ERROR)) as receiver, sending(notices, tmp_path, tries=3):
        notices.set_webhook("ada", receiver.url, new_secret())
        (found,) = ended(notices, "ada", 1)
    assert ("given up", 3, "the receiver answered 500") == (found.state, found.failures, found.why)
    assert 3 == len(receiver.requests)


@pytest.mark.slow
def test_setting_a_webhook_again_and_again_adds_no_notices(notices: Notices, store: str) -> None:
    notices.derive()
    notices.set_email("ada", "ada@example.org")
    for secret in ("whsec_a", "whsec_b"):
        notices.set_webhook("ada", "https://example.org/a", secret)
    assert "whsec_b" == notices.targets("ada").secret
    refuse(store, "ada")
    notices.derive()
    notices.set_webhook("ada", "https://example.org/a", "whsec_c")
    assert {"waiting"} == {each.state for each in notices.of("ada", 99)}
    first = next(each for each in notices.of("ada", 99) if each.channel == "webhook" and each.kind == "test")
    for path in "bcb":
        notices.set_webhook("ada", f"https://example.org/{path}", "whsec_a")
    found = {(each.channel, each.kind, each.state) for each in notices.of("ada", 99)}
    assert {
        ("mail", "test", "waiting"),
        ("mail", "refused", "waiting"),
        ("webhook", "test", "waiting"),
        ("webhook", "refused", "given up"),
    } == found
    assert 4 == len(notices.of("ada", 99))
    notices.set_webhook("ada", "", "")
    assert 3 == len(notices.of("ada", 99))
    notices.sent(first.id)
    assert "given up" == notices.not_sent(first.id, "late", 3, 0)


def test_hanging_receiver_delays_no_other(notices: Notices, tmp_path: Path) -> None:
    with (
        receiving(never) as hanging,
        receiving(says(OK)) as receiver,
        sending(notices, tmp_path, at_once=2, receiver_s=2, tries=1),
    ):
        notices.set_webhook("eve", hanging.url, new_secret())
        while not hanging.requests:
            time.sleep(POLL_INTERVAL_S)
        notices.set_webhook("ada", receiver.url, new_secret())
        assert ["sent"] == [each.state for each in ended(notices, "ada", 1)]
        assert ["waiting"] == [each.state for each in notices.of("eve", 99)]
        assert ["given up"] == [each.state for each in ended(notices, "eve", 1)]


def test_events_during_a_pause_are_sent_later_and_once(notices: Notices, store: str, tmp_path: Path) -> None:
    refuse(store, "ada", "before anybody sent")
    with receiving(says(OK)) as receiver:
        with sending(notices, tmp_path):
            notices.set_webhook("ada", receiver.url, new_secret())
            ended(notices, "ada", 1)
        refuse(store, "ada", "meanwhile")
        for _ in range(2):
            with sending(notices, tmp_path):
                found = ended(notices, "ada", 2)
    assert ["test", "refused"] == [each.kind for each in found]
    assert "was refused: meanwhile" in found[1].text
    assert 2 == len(receiver.requests)


class Mailbox:
    def __init__(self) -> None:
        self.mails: list[tuple[list[str], bytes]] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 aiosmtpd's name
        self.mails.append((envelope.rcpt_tos, envelope.content))
        return "451 later" if len(self.mails) == 1 else "250 OK"


@contextmanager
def mail_server() -> Iterator[tuple[int, Mailbox]]:
    """A mail server that takes the first mail at its second try; its port."""
    mailbox = Mailbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(mailbox, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield port, mailbox
    finally:
        controller.stop()


def test_author_is_notified_by_mail(notices: Notices, store: str, tmp_path: Path) -> None:
    with (
        mail_server() as (port, mailbox),
        sending(notices, tmp_path, smtp=f"127.0.0.1:{port}", security="none", sender="judge@example.org"),
    ):
        notices.set_email("ada", "ada@example.org")
        ended(notices, "ada", 1)
        refuse(store, "ada", "it is slow\r\nBcc: eve@example.org\x1b[31m")
        found = ended(notices, "ada", 2)
    assert ["sent", "sent"] == [each.state for each in found]
    assert [["ada@example.org"]] * 3 == [to for to, _ in mailbox.mails]
    mails = [message_from_bytes(data, policy=default) for _, data in mailbox.mails]
    assert mails[0]["Message-ID"] == mails[1]["Message-ID"] != mails[2]["Message-ID"]
    assert mails[2]["Subject"].startswith("[cup] submission 1 (a.zip) was refused: it is slow")
    assert mails[2]["Bcc"] is None
    assert "\x1b" not in mails[2].get_content()


@pytest.mark.parametrize(
    "decoded", ["\nContent-Type:_text/html", "\n\n<h1>an_injected_body</h1>", "\r\nBcc:_eve@example.org"]
)
def test_encoded_word_of_an_agent_or_a_file_name_adds_nothing_to_a_mail(
    notices: Notices, store: str, tmp_path: Path, decoded: str
) -> None:
    word = f"=?utf-8?q?{decoded.replace(chr(13), '=0D').replace(chr(10), '=0A')}?="
    with (
        mail_server() as (port, mailbox),
        sending(notices, tmp_path, smtp=f"127.0.0.1:{port}", security="none", sender="judge@example.org"),
    ):
        notices.set_email("ada", "ada@example.org")
        ended(notices, "ada", 1)
        refuse(store, "ada", f"{quote(word)} cannot be read as a square")
        ended(notices, "ada", 2)
        refuse(store, "ada", "it is slow", filename=f"{word} {word}.zip")
        found = ended(notices, "ada", 3)
    assert {"sent"} == {each.state for each in found}
    first, *mails = [message_from_bytes(data, policy=default) for _, data in mailbox.mails[1:]]
    for mail, part in zip(mails, ("cannot be read", "it is slow"), strict=True):
        assert first.keys() == mail.keys()
        assert first["Content-Type"] == mail["Content-Type"]
        assert part in mail.get_content()
        assert "utf-8?q?" in mail["Subject"]


def test_mail_that_cannot_be_made_is_given_up_with_the_reason() -> None:
    policy = NoticePolicy(smtp="127.0.0.1:9", security="none")
    with pytest.raises(NotDeliveredError, match="no mail can be made of it"):
        send_mail(policy, "", "ada@example.org", "two\nlines", "", "msg_1")


MAILED = """
[intake.notices]
smtp = "127.0.0.1:{port}"
security = "none"
tries = {tries}
again_s = 0.01
"""


def rewrite(path: Path, text: str) -> None:
    """Replace a file; its time is another one, also within the clock's step."""
    before = path.stat().st_mtime_ns
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))


def test_mail_waits_for_a_server_that_the_file_names_later(notices: Notices, store: str, tmp_path: Path) -> None:
    plan = tmp_path / "contest.toml"
    plan.write_text('[intake.notices]\nplain = true\npermit = ["127.0.0.0/8"]\ntries = 1\n')
    with (
        mail_server() as (port, mailbox),
        receiving(says(OK)) as receiver,
        NoticeSender(notices, "cup", NoticePolicy(), tmp_path, tmp_path / "lock", plan),
    ):
        notices.set_email("ada", "ada@example.org")
        refuse(store, "ada")
        notices.set_webhook("bob", receiver.url, new_secret())
        ended(notices, "bob", 1)
        assert [("waiting", 0)] * 2 == [(each.state, each.failures) for each in notices.of("ada", 10)]
        rewrite(plan, "[intake.notices]\nsmtp = 5\n")  # a mistake changes nothing
        notices.set_webhook("eve", receiver.url, new_secret())
        ended(notices, "eve", 1)
        rewrite(plan, MAILED.format(port=port, tries=3))
        assert {"sent"} == {each.state for each in ended(notices, "ada", 2)}
        assert 3 == len(mailbox.mails)


def test_mail_that_a_broken_server_refused_is_sent_after_repair(notices: Notices, store: str, tmp_path: Path) -> None:
    plan = tmp_path / "contest.toml"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closed = listener.getsockname()[1]
    plan.write_text(MAILED.format(port=closed, tries=1))
    with (
        mail_server() as (port, mailbox),
        NoticeSender(notices, "cup", NoticePolicy(), tmp_path, tmp_path / "lock", plan),
    ):
        notices.set_email("ada", "ada@example.org")
        refuse(store, "ada")
        assert {"given up"} == {each.state for each in ended(notices, "ada", 2)}
        rewrite(plan, MAILED.format(port=port, tries=3))
        while [each.state for each in notices.of("ada", 10)] != ["sent", "sent"]:
            time.sleep(POLL_INTERVAL_S)
        assert 3 == len(mailbox.mails)


def test_waiting_notices_are_retried_at_once_after_a_restart(notices: Notices, tmp_path: Path) -> None:
    with receiving(says(ERROR, OK)) as receiver:
        with sending(notices, tmp_path, again_s=10_000, tries=5):
            notices.set_webhook("ada", receiver.url, new_secret())
            while not notices.of("ada", 10) or not notices.of("ada", 10)[0].failures:
                time.sleep(POLL_INTERVAL_S)
        with sending(notices, tmp_path, again_s=10_000, tries=5):
            assert {"sent"} == {each.state for each in ended(notices, "ada", 1)}


def test_a_password_that_others_may_read_is_refused(notices: Notices, tmp_path: Path) -> None:
    path = tmp_path / "password"
    path.write_text("secret\n")
    path.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"), sending(notices, tmp_path, password_file="password"):
        pass
    path.chmod(0o600)
    with sending(notices, tmp_path, password_file="password"):
        pass
