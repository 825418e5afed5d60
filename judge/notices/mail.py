"""Sends a notice by e-mail, through the mail server of the organiser."""

import smtplib
import ssl
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

from judge.base.errors import InputError
from judge.notices.policy import NoticePolicy
from judge.notices.webhook import NotDeliveredError
from judge.store.notices import MAIL_SERVER

SERVER_S = 20.0
"""How long the mail server may take for an answer."""
_OTHERS = 0o077


def read_password(policy: NoticePolicy, folder: Path) -> str:
    """The password for the mail server; empty if there is none. Raises InputError if others may read its file."""
    if not policy.password_file:
        return ""
    path = folder / policy.password_file
    try:
        if path.stat().st_mode & _OTHERS:
            raise InputError(f"{path}: other users may read the password: chmod 600 {path}")
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def send_mail(policy: NoticePolicy, password: str, to: str, subject: str, text: str, notice: str) -> None:
    """Hand a mail to the server; `notice` makes its Message-ID, the same when it is sent again. Raises
    NotDeliveredError."""
    message = EmailMessage(SMTP)
    message["From"], message["To"], message["Subject"] = policy.sender, to, subject
    message["Message-ID"] = f"<{notice}@{policy.sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    host, _, port = policy.smtp.rpartition(":")
    try:
        with _server(policy, host, int(port)) as server:
            if policy.security == "starttls":
                server.starttls(context=ssl.create_default_context())
            if policy.user:
                server.login(policy.user, password)
            server.send_message(message)
    except (OSError, smtplib.SMTPException) as error:
        # The server's own words may tell of the organiser's network.
        raise NotDeliveredError(f"{MAIL_SERVER} did not take it ({type(error).__name__})") from error


def _server(policy: NoticePolicy, host: str, port: int) -> smtplib.SMTP:
    if policy.security == "tls":
        return smtplib.SMTP_SSL(host, port, timeout=SERVER_S, context=ssl.create_default_context())
    return smtplib.SMTP(host, port, timeout=SERVER_S)
