"""The table `[intake.notices]` of contest.toml."""

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
    """Security of the mail server's connection; use `none` only for a server on this machine."""
    user: str = ""
    """Empty: no login."""
    password_file: str = ""
    """A file readable by its owner only, relative to the contest's folder."""
    sender: str = Field(default="judge@localhost", pattern=r"^[^\s@<>,;:]{1,64}@[^\s@<>,;:]{1,250}$")
    digest_s: float = Field(default=86400, ge=0)
    """Maximum time for which results are collected in one mail; the end of a round sends it. 0: a mail for each
    result.
    """
    site: str = Field(default="", pattern=r"^(https?://[!-~]{1,400})?$")
    """Address of the contest's pages, for mails; empty: omitted."""
    permit: tuple[IPv4Network | IPv6Network, ...] = ()
    """Internal networks where webhooks are allowed, such as `["10.1.2.0/24"]`."""
    refuse: tuple[IPv4Network | IPv6Network, ...] = ()
    """Networks where webhooks are refused, such as your NAT64 prefix; takes precedence over `permit`."""
    plain: bool = False
    """Whether webhooks without TLS are allowed."""
    receiver_s: float = Field(default=10, gt=0, le=60)
    """Timeout of a webhook call, from connection to response status."""
    tries: int = Field(default=8, ge=1, le=20)
    again_s: float = Field(default=10, gt=0)
    """Wait before the first retry; tripled for each further one."""
    at_once: int = Field(default=16, ge=1, le=64)
    """Maximum number of concurrent calls, one per author."""


class NoticePolicyFile:
    """The current policy in a contest file. A file with a mistake does not change it."""

    def __init__(self, policy: NoticePolicy, path: Path | None) -> None:
        """`policy` applies until the file changes; without a `path`, always."""
        self._policy = policy
        self._path = path
        self._read_at = -1  # the file may be newer than the policy
        self._given: Any = None

    def look(self) -> NoticePolicy:
        """Return the policy; read a changed file again."""
        changed_at = self._changed_at()
        if self._path is not None and changed_at != self._read_at:
            self._read_at = changed_at
            given = self._table()
            if given is not None and given != self._given:
                self._given = given
                try:
                    self._policy = NoticePolicy.model_validate(given)
                except ValidationError as error:
                    log.error("[intake.notices] has a mistake; the policy is unchanged", error=str(error))  # noqa: TRY400
        return self._policy

    def _changed_at(self) -> int:
        try:
            return 0 if self._path is None else self._path.stat().st_mtime_ns
        except OSError:
            return 0

    def _table(self) -> Any:
        try:
            text = "" if self._path is None else self._path.read_text(encoding="utf-8-sig")
            return tomllib.loads(text).get("intake", {}).get("notices", {})
        except (OSError, ValueError, AttributeError, RecursionError):
            return None
