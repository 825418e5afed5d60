"""What a webhook may be: the address that an author gave, and the addresses of the network that its name has now.

A name is resolved for each call, all that it resolves to is checked, and the call goes to an address that was checked;
so a name that changes leads nowhere else. Nothing inside is called: only what the registries give to everybody.
"""

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from judge.base.errors import InputError
from judge.notices.policy import NoticePolicy

LONGEST_URL = 500

_URL = re.compile(r"https?://[A-Za-z0-9.\[\]:_-]+(/[!-~]*)?(\?[!-~]*)?")

_GLOBAL_6 = ip_network("2000::/3")
_INSIDE_6 = [
    ip_network(text)
    for text in (
        # IETF protocols with Teredo and ORCHID, documentation, and 6to4, which has an IPv4 address in it.
        *("2001::/23", "2001:db8::/32", "3fff::/20", "2002::/16"),
    )
]
"""What of 2000::/3 is not given to everybody. Mapped, compatible and NAT64 addresses are outside 2000::/3."""


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """A webhook's address, taken apart; `path` has the query."""

    is_tls: bool
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return shown if self.port == (443 if self.is_tls else 80) else f"{shown}:{self.port}"


def parse_target(url: str, policy: NoticePolicy) -> WebhookTarget:
    """The target of a URL. Raises InputError that says what to change."""
    if len(url) > LONGEST_URL or not _URL.fullmatch(url):
        raise InputError(
            f"the webhook: https://HOST/PATH, at most {LONGEST_URL} printable ASCII characters, no user, no fragment"
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
        raise InputError("the webhook: it has a host and no fragment")
    if not is_tls and not policy.plain:
        raise InputError("the webhook: it begins with https://, so that nobody on the way can read or change a notice")
    port = port or (443 if is_tls else 80)
    if port < 1024 and port not in (80, 443):
        raise InputError(f"the webhook: port {port} is of another service: use 443 or one from 1024 on")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return WebhookTarget(is_tls, host, port, path)


def is_permitted(text: str, policy: NoticePolicy) -> bool:
    """Whether an address may be called."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if _is_in(address, policy.refuse):
        return False
    if _is_in(address, policy.permit):
        return True
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast and not address.is_reserved
    return address in _GLOBAL_6 and not _is_in(address, _INSIDE_6) and address.is_global


def resolved(target: WebhookTarget, policy: NoticePolicy) -> Sequence[str]:
    """The addresses of a target, all of which may be called. Raises InputError."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InputError(f"the host of the webhook has no address: {error}") from None
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    inside = [address for address in addresses if not is_permitted(address, policy)]
    if inside or not addresses:
        # Which address it is would tell an author of the organiser's network.
        raise InputError("the webhook leads to an address that is not public: use a receiver on the internet")
    return addresses


def _is_in(address: IPv4Address | IPv6Address, networks: Sequence[IPv4Network | IPv6Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)
