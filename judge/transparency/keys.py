"""The organiser's Ed25519 key pair in PEM, which proves who published an export."""

import hashlib
import stat
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from judge.base.durable_files import create_private, open_regular
from judge.base.errors import HostError, InputError, os_errors_as
from judge.transparency.checkpoint import has_small_order

KEY_FILE = "organiser.key"
"""In a contest's folder."""

_MAX_PEM_BYTES = 10_000


def make_key(path: Path) -> Ed25519PrivateKey:
    """Create a private key in a new file (mode 0600). Raises InputError if it exists."""
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    try:
        create_private(path, pem)
    except FileExistsError:
        raise InputError(f"{path}: exists; a key is never overwritten, name another file") from None
    except OSError as error:
        raise HostError(f"{path}: {error.strerror}: the key is not written") from None
    return key


def load_key(path: Path) -> Ed25519PrivateKey:
    """Read a private key. Raises InputError if it is invalid or readable by other users."""
    pem = _read(path, "make one with: judge contest key FILE")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"{path}: other users may read this key (mode {mode:04o}); run: chmod 600 {path}")
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise InputError(f"{path}: not a PEM key without a password: {error}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{path}: not an Ed25519 key; make one with: judge contest key FILE")
    return key


def load_public_key(path: Path) -> Ed25519PublicKey:
    """Raises InputError for an invalid public key."""
    return read_public_key(_read(path, "give the organiser's public key"), str(path))


def read_public_key(pem: bytes, source: str) -> Ed25519PublicKey:
    """Parse PEM. Raises InputError, naming `source`."""
    if b"PRIVATE KEY" in pem:
        raise InputError(f"{source}: this is a private key; give the public one")
    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InputError(f"{source}: not a public key in PEM: {error}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"{source}: not an Ed25519 public key")
    if has_small_order(key):
        raise InputError(f"{source}: a key of small order, with which anyone can sign; get the organiser's real key")
    return key


def public_pem(key: Ed25519PublicKey) -> bytes:
    """The public key as PEM."""
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def fingerprint(key: Ed25519PublicKey) -> str:
    """SHA-256 of a public key, for people to compare."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()


def _read(path: Path, fix: str) -> bytes:
    with os_errors_as(InputError, path, f"; {fix}"), open_regular(path) as stream:
        return stream.read(_MAX_PEM_BYTES)
