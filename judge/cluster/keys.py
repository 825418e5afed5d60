"""The contest's certificate authorities, and a key and certificate per host.

One authority signs schedulers and contests; all peers trust it. The other signs workers; only schedulers trust it.
"""

import ipaddress
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from judge.base.durable_files import create_private
from judge.base.errors import InputError

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
    try:
        authority, key = load_authority(folder, AUTHORITY, days)
        load_authority(folder, WORKERS, days)
        return [_make_host(folder, host, authority, key, days) for host in hosts]
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from None


def check_host(host: str) -> str:
    """Name or IP address (IPv6 without brackets). Raises InputError."""
    plain = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if "%" in plain:
        raise InputError(
            f"{host!r} names an interface, which a certificate cannot have: leave {plain[plain.index('%') :]!r} out"
        )
    try:
        return str(ipaddress.ip_address(plain))
    except ValueError:
        pass
    if plain != host or ":" in host or not _HOST.fullmatch(host):
        raise InputError(f"{host!r} is neither the name of a host nor an IP address")
    return host


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
            raise InputError(f"{key_file} is not the key that judge cluster keys makes")
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
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    certificate = (
        _begun(_name(host), authority.subject, key, days)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(both), critical=False)
        .add_extension(x509.SubjectAlternativeName([_alternative(host)]), critical=False)
        .add_extension(issuer, critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    return certificate, key


def _make_host(
    authorities: Path, host: str, authority: x509.Certificate, authority_key: ec.EllipticCurvePrivateKey, days: int
) -> Path:
    certificate, key = issue(host, authority, authority_key, days)
    folder = authorities / host
    folder.mkdir(mode=0o700)
    create_private(folder / KEY, private_pem(key))
    (folder / CERTIFICATE).write_bytes(certificate.public_bytes(Encoding.PEM))
    for name in (AUTHORITY, WORKERS):
        (folder / name).write_bytes((authorities / name).read_bytes())
    return folder


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


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


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
