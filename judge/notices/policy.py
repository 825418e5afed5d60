"""The table `[intake.notices]` of contest.toml, and the webhook URLs and addresses that it permits.

A host is resolved and all its addresses are checked for each call, which then uses a checked address. So a
changed DNS entry cannot redirect the call. Only globally allocated addresses are allowed by default.
"""

import re
import socket
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field

from judge.base.errors import InputError
from judge.base.parsing import FrozenModel


class NoticePolicy(FrozenModel):
    """Times in seconds."""

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


def read_notice_policy(path: Path) -> NoticePolicy:
    """The policy in a contest file. Raises InputError."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig")).get("intake", {}).get("notices", {})
        return NoticePolicy.model_validate(table)
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: [intake.notices]: {error}; the notice policy is unchanged") from None


MAX_URL_CHARACTERS = 500

_URL = re.compile(r"https?://[A-Za-z0-9.\[\]:_-]+(/[!-~]*)?(\?[!-~]*)?")

_GLOBAL_6 = ip_network("2000::/3")
"""Mapped, compatible, local and NAT64 addresses are outside it."""

_SPECIAL = [
    ip_network(text)
    for text in (
        # This network, private, shared, loopback, link-local.
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8"),
        *("169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"),
        # IETF protocols, AS112, AMT, 6to4 relays.
        *("192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24"),
        # Documentation and benchmarks.
        *("192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
        # Multicast, reserved, broadcast.
        *("224.0.0.0/4", "240.0.0.0/4"),
        # IETF protocols with Teredo, ORCHID and AMT; documentation; AS112; 6to4, which contains IPv4 addresses.
        *("2001::/23", "2001:db8::/32", "3fff::/20", "2620:4f:8000::/48", "2002::/16"),
    )
]
"""Of IANA's registries of special-purpose addresses, IPv4 and in 2000::/3. Python's `is_global` lacks some."""

_ISATAP, _ISATAP_MASK = 0x5EFE << 32, 0xFCFFFFFF << 32
"""Interface identifiers that contain an IPv4 address, RFC 5214, with any universal and group bits."""


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """A parsed webhook URL; `path` includes the query."""

    is_tls: bool
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The Host header."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return shown if self.port == (443 if self.is_tls else 80) else f"{shown}:{self.port}"


def parse_target(url: str, policy: NoticePolicy) -> WebhookTarget:
    """Parse a URL. Raises InputError with the fix."""
    if len(url) > MAX_URL_CHARACTERS or not _URL.fullmatch(url):
        raise InputError(
            f"the webhook: https://HOST/PATH, at most {MAX_URL_CHARACTERS} printable ASCII characters, "
            "no user, no fragment"
        )
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.hostname or ""
        if ":" in host:
            ip_address(host)
        else:
            host.encode("idna")
    except ValueError as error:
        raise InputError(f"the webhook: {error}") from None
    is_tls = parts.scheme == "https"
    if "#" in url or not host:
        raise InputError("the webhook: the URL needs a host and must not have a fragment")
    if not is_tls and not policy.plain:
        raise InputError("the webhook: use https://, so that notices cannot be read or changed on the way")
    port = port or (443 if is_tls else 80)
    if port < 1024 and port not in (80, 443):
        raise InputError(f"the webhook: port {port} is not allowed: use 443, or 1024 and above")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return WebhookTarget(is_tls, host, port, path)


def is_permitted(text: str, policy: NoticePolicy) -> bool:
    """Whether an address may be called."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if any(address in network for network in policy.refuse):
        return False
    if any(address in network for network in policy.permit):
        return True
    if any(address in network for network in _SPECIAL):
        return False
    if isinstance(address, IPv4Address):
        return True
    return address in _GLOBAL_6 and int(address) & _ISATAP_MASK != _ISATAP


def resolved(target: WebhookTarget, policy: NoticePolicy) -> Sequence[str]:
    """Resolve a target to its permitted addresses. Raises InputError."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InputError(f"the host of the webhook has no address: {error}") from None
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    inside = [address for address in addresses if not is_permitted(address, policy)]
    if inside or not addresses:
        # The address itself would reveal the organiser's network to an author.
        raise InputError("the webhook leads to an address that is not public: use a receiver on the internet")
    return addresses
