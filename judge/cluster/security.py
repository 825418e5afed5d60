"""The contest's certificate authorities, a key and certificate per host, TLS settings, and the file to join a cluster.

One authority signs schedulers and contests; all peers trust it. The other signs workers; only schedulers trust it.
Both sides have certificates. A worker's port may allow code execution next to its Engine's socket, so plain TCP is for
loopback only. The owner of a join file cannot pose as a scheduler or connect to other workers.
"""

import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from distributed import Security
from pydantic import Field

from judge.base.durable_files import create_private, open_regular
from judge.base.errors import InputError, os_errors_as
from judge.base.parsing import FrozenModel, parse_json
from judge.base.text import printable

AUTHORITY = "ca.pem"
WORKERS = "workers-ca.pem"
WORKERS_NAME = "judge workers"
_NAMES = {AUTHORITY: "judge cluster", WORKERS: WORKERS_NAME}
CERTIFICATE = "cert.pem"
KEY = "key.pem"

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,252}[A-Za-z0-9])?")
_EARLIER = timedelta(hours=1)
"""Validity before creation: clocks differ."""


def make_keys(folder: Path, hosts: Sequence[str], days: int) -> list[Path]:
    """Make a folder with keys per host (name or IP address).

    The first call makes the authority. Raises InputError if a host has keys.
    """
    hosts = [check_host(host) for host in hosts]
    for host in hosts:
        if (folder / host).exists():
            raise InputError(f"{folder / host} already exists: remove it to make new keys")
    with os_errors_as(InputError, folder):
        authority, key = load_authority(folder, AUTHORITY, days)
        load_authority(folder, WORKERS, days)
        for host in hosts:
            certificate, host_key = issue(host, authority, key, days)
            (folder / host).mkdir(mode=0o700)
            create_private(folder / host / KEY, private_pem(host_key))
            (folder / host / CERTIFICATE).write_bytes(certificate.public_bytes(Encoding.PEM))
            for name in (AUTHORITY, WORKERS):
                (folder / host / name).write_bytes((folder / name).read_bytes())
    return [folder / host for host in hosts]


def check_host(host: str) -> str:
    """Name or IP address (IPv6 without brackets). Raises InputError."""
    plain = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if "%" in plain:
        raise InputError(
            f"{host!r} names an interface, which a certificate cannot have: leave {plain[plain.index('%') :]!r} out"
        )
    if (ip := ip_of(plain)) is not None:
        return str(ip)
    if plain != host or ":" in host or not _HOST.fullmatch(host):
        raise InputError(f"{host!r} is neither the name of a host nor an IP address")
    return host


def ip_of(host: str) -> IPv4Address | IPv6Address | None:
    """None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def load_authority(folder: Path, name: str, days: int) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """`AUTHORITY` or `WORKERS` in `folder`, made if missing."""
    certificate_file, key_file = folder / name, folder / name.replace(".pem", "-key.pem")
    if certificate_file.exists():
        try:
            certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
            key = load_pem_private_key(key_file.read_bytes(), None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise InputError(f"{certificate_file} or {key_file} is damaged: restore it from a backup") from None
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise InputError(f"{key_file} is not the key that judge cluster makes")
        return certificate, key
    folder.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _name(_NAMES[name])
    certificate = (
        _begun(subject, subject, key, days)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    create_private(key_file, private_pem(key))
    certificate_file.write_bytes(certificate.public_bytes(Encoding.PEM))
    return certificate, key


def issue(
    host: str, authority: x509.Certificate, authority_key: ec.EllipticCurvePrivateKey, days: int
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """Make a key and its certificate for a host."""
    key = ec.generate_private_key(ec.SECP256R1())
    both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    ip = ip_of(host)
    name = x509.DNSName(host) if ip is None else x509.IPAddress(ip)
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    certificate = (
        _begun(_name(host), authority.subject, key, days)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(both), critical=False)
        .add_extension(x509.SubjectAlternativeName([name]), critical=False)
        .add_extension(issuer, critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    return certificate, key


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - _EARLIER,
        not_valid_after=now + timedelta(days=days),
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """The key as unencrypted PEM."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


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
        ip = ip_of(self.host)
        return self.host == LOCALHOST if ip is None else ip.is_loopback


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
            f"the Engine: use {replace(address, scheme='tls')} with the keys that judge cluster makes"
        )
    return address


def security_of(address: Address, keys: Path | None, *, takes_workers: bool = False) -> Security:
    """dask's settings; `keys`: this host's folder from `judge cluster`.

    `takes_workers`: trust workers' certificates. Raises InputError if keys are missing or readable by other users.
    """
    if address.scheme == "tcp":
        return Security(require_encryption=False)
    if keys is None:
        raise InputError(
            f"{address} needs this host's keys: make them with judge cluster, and give their folder with --tls"
        )
    authority, certificate, key = (keys / name for name in (AUTHORITY, CERTIFICATE, KEY))
    for path in (authority, certificate, key):
        if not path.is_file():
            raise InputError(f"{path} is missing: give a host's folder that judge cluster made")
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


JOIN_SUFFIX = ".join"
MAX_JOIN_FILE_BYTES = 1 << 16


class JoinFile(FrozenModel):
    """Keys and certificates are PEM."""

    document: Literal["judge-worker-1"] = "judge-worker-1"
    scheduler: str
    name: str = Field(pattern=r"^[A-Za-z0-9:][A-Za-z0-9._:-]*$", max_length=254)
    """The scheduler accepts the worker under no other name."""
    authority: str
    certificate: str
    key: str

    @property
    def address(self) -> Address:
        """Raises InputError."""
        return parse_address(self.scheduler)

    def security(self) -> Security:
        """dask's settings for this worker."""
        return tls_security(self.authority, self.certificate, self.key)


def invite(folder: Path, hosts: Sequence[str], scheduler: Address, days: int) -> list[Path]:
    """Write a join file per host. Raises InputError if a host has one."""
    hosts = [check_host(host) for host in hosts]
    paths = [folder / f"{host}{JOIN_SUFFIX}" for host in hosts]
    if scheduler.scheme != "tls":
        raise InputError(f"{scheduler}: workers join with tls://; on loopback no file is needed")
    for path in paths:
        if path.exists():
            raise InputError(f"{path} already exists: remove it to make another")
    with os_errors_as(InputError, folder):
        authority, _ = load_authority(folder, AUTHORITY, days)
        workers, key = load_authority(folder, WORKERS, days)
        for host, path in zip(hosts, paths, strict=True):
            certificate, host_key = issue(host, workers, key, days)
            made = JoinFile(
                scheduler=str(scheduler),
                name=host,
                authority=authority.public_bytes(Encoding.PEM).decode(),
                certificate=certificate.public_bytes(Encoding.PEM).decode(),
                key=private_pem(host_key).decode(),
            )
            create_private(path, made.model_dump_json(indent=2).encode() + b"\n")
    return paths


def read_join_file(path: Path) -> JoinFile:
    """Raises InputError if the file is invalid or readable by other users."""
    with os_errors_as(InputError, path, ": judge cluster makes such a file"):
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InputError(f"{path} is readable by other users: chmod 600 {path}")
        with open_regular(path) as file:
            data = file.read(MAX_JOIN_FILE_BYTES)
    joined = parse_json(JoinFile, data, f"{path}: not a file that judge cluster makes")
    try:
        parse_address(joined.scheduler)
    except InputError as error:
        raise InputError(f"{path}: scheduler: {error}") from None
    refuse_damaged(joined.security(), f"{path}: authority, certificate or key")
    return joined
