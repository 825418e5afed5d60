"""The organiser's key: whoever has the public half can tell what the organiser published from what somebody else did.

Ed25519 in PEM files, so that other tools read them too. The secret half is in a file that only its owner may read.
"""

import hashlib
import os
import stat
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from judge.durable import sync_file
from judge.errors import HostError, InputError

_LARGEST_PEM = 10_000
"""Bytes; a key of this kind has a hundred or so."""


def make_key(path: Path) -> Ed25519PrivateKey:
    """A new key in a new file at `path` (mode 0600); InputError where there is a file already."""
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(f"{path}: exists; a key is never written over, name another file") from None
    except OSError as error:
        raise HostError(f"{path}: {error.strerror}: the key could not be written") from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)
        sync_file(file)
    return key


def load_key(path: Path) -> Ed25519PrivateKey:
    """The organiser's key; InputError where the file is none, or others may read it."""
    pem = _read(path, "make one with: judge contest key FILE")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"{path}: others may read this key (mode {mode:04o}); run: chmod 600 {path}")
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise InputError(f"{path}: no key without a password in PEM: {error}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{path}: a key of another kind; make one with: judge contest key FILE")
    return key


def load_public_key(path: Path) -> Ed25519PublicKey:
    """The public half in a file; InputError where it is none."""
    return read_public_key(_read(path, "give the organiser's public key"), str(path))


def read_public_key(pem: bytes, source: str) -> Ed25519PublicKey:
    """The public half; InputError names `source` where it is none."""
    if b"PRIVATE KEY" in pem:
        raise InputError(f"{source}: this is the secret half of a key; give the public one")
    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InputError(f"{source}: no public key in PEM: {error}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"{source}: a public key of another kind than Ed25519")
    return key


def public_pem(key: Ed25519PublicKey) -> bytes:
    """The public half as a PEM file."""
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def fingerprint(key: Ed25519PublicKey) -> str:
    """SHA-256 of the 32 bytes of a public key: what two people read to each other."""
    raw = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return hashlib.sha256(raw).hexdigest()


def is_signed(key: Ed25519PublicKey, signature: bytes, data: bytes) -> bool:
    """Whether the owner of `key` signed `data`."""
    try:
        key.verify(signature, data)
    except InvalidSignature:
        return False
    return True


def _read(path: Path, fix: str) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_LARGEST_PEM)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; {fix}") from None
