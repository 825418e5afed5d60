"""How authors are told what happens: the table `[intake.notices]` of a contest's file."""

from ipaddress import IPv4Network, IPv6Network
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


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
