"""TLS settings: both sides have certificates of the contest's authorities.

A worker's port may allow code execution next to its Engine's socket, so plain TCP is for loopback only.
"""

import ipaddress
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from distributed import Security

from judge.base.errors import InputError
from judge.base.text import printable
from judge.cluster.keys import AUTHORITY, CERTIFICATE, KEY, WORKERS

PORT = 8786
LOCALHOST = "localhost"
_SUCH = f"an address is such as tls://10.0.0.1:{PORT}, or tls://[fd00::1]:{PORT} with an IPv6 address"


@dataclass(frozen=True, slots=True)
class Address:
    """`scheme` is `tls` or, on loopback, `tcp`."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine only."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == LOCALHOST


def parse_address(text: str, port: int = PORT) -> Address:
    """Parse `tls://HOST[:PORT]`, or `tcp://` for loopback. Raises InputError."""
    shown = printable(text, 100)
    try:
        parts = urlsplit(text)
        address = Address(parts.scheme, parts.hostname or "", port if parts.port is None else parts.port)
    except ValueError as error:
        raise InputError(f"{shown}: {printable(str(error), 100)}; {_SUCH}") from None
    if address.scheme not in ("tls", "tcp") or not address.host or parts.path.strip("/"):
        raise InputError(f"{shown}: {_SUCH}")
    if address.scheme == "tcp" and not address.is_loopback:
        raise InputError(
            f"{shown}: plain TCP is refused beyond loopback: any process that reaches that port could run code next to "
            f"the Engine: use {replace(address, scheme='tls')} with the keys that judge cluster keys makes"
        )
    return address


def security_of(address: Address, keys: Path | None, *, takes_workers: bool = False) -> Security:
    """dask's settings; `keys`: this host's folder from `judge cluster keys`.

    `takes_workers`: trust workers' certificates. Raises InputError if keys are missing or readable by other users.
    """
    if address.scheme == "tcp":
        return Security(require_encryption=False)
    if keys is None:
        raise InputError(
            f"{address} needs this host's keys: make them with judge cluster keys, and give their folder with --tls"
        )
    authority, certificate, key = (keys / name for name in (AUTHORITY, CERTIFICATE, KEY))
    for path in (authority, certificate, key):
        if not path.is_file():
            raise InputError(f"{path} is missing: give a host's folder that judge cluster keys made")
    if key.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"{key} is readable by other users: chmod 600 {key}")
    trusted = authority.read_text(errors="replace")
    if takes_workers and (keys / WORKERS).is_file():
        trusted += (keys / WORKERS).read_text(errors="replace")
    security = tls_security(trusted, str(certificate), str(key))
    refuse_damaged(security, f"{keys}: {AUTHORITY}, {WORKERS}, {CERTIFICATE} or {KEY}")
    return security


def refuse_damaged(security: Security, source: str) -> None:
    """Raise InputError (starting with `source`) unless certificates and key are PEM and match."""
    try:
        security.get_connection_args("worker")
    except (OSError, ValueError, TypeError) as error:  # ssl.SSLError is an OSError; TypeError: not ASCII
        raise InputError(f"{source} is damaged: {printable(str(error), 100)}: make new ones") from None


def tls_security(authorities: str, certificate: str, key: str) -> Security:
    """`authorities` is PEM, the others PEM or paths."""
    roles = ("client", "scheduler", "worker")
    return Security(
        require_encryption=True,
        tls_ca_file=authorities,
        **{f"tls_{role}_cert": certificate for role in roles},
        **{f"tls_{role}_key": key for role in roles},
    )
