"""How authors are told what happens: the table `[intake.notices]` of a contest's file."""

import tomllib
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judge.base.logs import get_logger

log = get_logger()


class NoticePolicy(BaseModel):
    """Times in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    smtp: str = Field(default="", pattern=r"^([A-Za-z0-9.-]{1,253}:[0-9]{1,5})?$")
    """The organiser's mail server as `HOST:PORT`; empty: no e-mail."""
    security: Literal["starttls", "tls", "none"] = "starttls"
    """How the mail server is talked to; `none` only makes sense for one on this machine."""
    user: str = ""
    """Empty: no login."""
    password_file: str = ""
    """A file that nobody else may read, from the contest's folder."""
    sender: str = Field(default="judge@localhost", pattern=r"^[^\s@<>,;:]{1,64}@[^\s@<>,;:]{1,250}$")
    digest_s: float = Field(default=86400, ge=0)
    """How long results are collected for one mail; at the end of a round it is sent sooner. 0: a mail for each."""
    site: str = Field(default="", pattern=r"^(https?://[!-~]{1,400})?$")
    """The address of the contest's pages, which mails name; empty: they name none."""
    permit: tuple[IPv4Network | IPv6Network, ...] = ()
    """Inside networks in which webhooks may be called all the same, such as `["10.1.2.0/24"]`."""
    refuse: tuple[IPv4Network | IPv6Network, ...] = ()
    """Networks in which none may be called, such as the prefix of your NAT64; they come before `permit`."""
    plain: bool = False
    """Whether webhooks may be called without TLS."""
    receiver_s: float = Field(default=10, gt=0, le=60)
    """A whole call of a receiver, from the connection to the status of its answer."""
    tries: int = Field(default=8, ge=1, le=20)
    again_s: float = Field(default=10, gt=0)
    """How long the first retry waits; each further one three times as long as the one before."""
    at_once: int = Field(default=16, ge=1, le=64)
    """How many receivers are called at the same time, one of an author's at most."""


class NoticePolicyFile:
    """The policy of a contest's file as it is now; a file with a mistake changes nothing."""

    def __init__(self, policy: NoticePolicy, path: Path | None) -> None:
        """`policy` applies until the file changes; without a `path` it always applies."""
        self._policy = policy
        self._path = path
        self._read_at = -1  # the policy may be older than the file is by now
        self._given: Any = None

    def look(self) -> NoticePolicy:
        """The policy; the file is read again if it was changed."""
        changed_at = self._changed_at()
        if self._path is not None and changed_at != self._read_at:
            self._read_at = changed_at
            given = self._table()
            if given is not None and given != self._given:
                self._given = given
                try:
                    self._policy = NoticePolicy.model_validate(given)
                except ValidationError as error:
                    log.error("[intake.notices] has a mistake, and applies as it was", error=str(error))  # noqa: TRY400
        return self._policy

    def _changed_at(self) -> int:
        try:
            return 0 if self._path is None else self._path.stat().st_mtime_ns
        except OSError:
            return 0

    def _table(self) -> Any:
        """The table; None if the file cannot be read now."""
        try:
            text = "" if self._path is None else self._path.read_text(encoding="utf-8-sig")
            return tomllib.loads(text).get("intake", {}).get("notices", {})
        except (OSError, ValueError, AttributeError, RecursionError):
            return None
