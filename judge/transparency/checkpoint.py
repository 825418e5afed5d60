"""Checkpoints: size and root of a log in a signed note (C2SP signed-note, tlog-checkpoint, tlog-cosignature).

    judge-contest/spring-cup
    42
    0d1Wzl0Sbd1Xyp3Jr0PFTSpHQ3Txa8mZpFC8xhvP9R8=

    — judge-contest/spring-cup x08go/ZJkuBS9UG/SffcvIAQ...
    — witness.example.org RNzxU...

The lines before the empty line are signed with Ed25519. A witness signs them with a time, and so attests that it has
seen no other log of this name.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from judge.base.errors import InputError

MAX_CHECKPOINT_BYTES = 16 << 10
"""Enough for a hundred witnesses."""

MAX_UNIX_S = 253_402_300_799
"""In the year 9999."""

ED25519, COSIGNATURE = 1, 4

_SIGNATURE = re.compile(r"— ([^\s+\x00-\x1f\x7f\x85\ufeff]{1,256}) ([A-Za-z0-9+/]+={0,2})")
_SIZE = re.compile(r"0|[1-9][0-9]{0,14}")


def origin_of(contest: str) -> str:
    """Name of a contest's log."""
    return f"judge-contest/{contest}"


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """A signature line."""

    name: str
    key_id: bytes
    data: bytes

    def __str__(self) -> str:
        return f"— {self.name} {base64.b64encode(self.key_id + self.data).decode()}\n"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A log's name, size and root; `signatures` are not verified."""

    origin: str
    size: int
    root: bytes
    signatures: tuple[NoteSignature, ...] = ()

    @property
    def body(self) -> bytes:
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n".encode()

    @property
    def note(self) -> bytes:
        return self.body + b"\n" + "".join(map(str, self.signatures)).encode()

    # --- the log's own signature -------------------------------------------------------------------------------------

    def signed(self, key: Ed25519PrivateKey) -> "Checkpoint":
        signature = NoteSignature(self.origin, key_id(self.origin, ED25519, key.public_key()), key.sign(self.body))
        return replace(self, signatures=(signature, *self.signatures))

    def is_signed(self, key: Ed25519PublicKey) -> bool:
        return any(is_signed(key, data, self.body) for data in self._by(self.origin, ED25519, key))

    # --- witnesses ---------------------------------------------------------------------------------------------------

    def witnessed_at(self, name: str, key: Ed25519PublicKey) -> int | None:
        """Unix time of its signature."""
        for data in self._by(name, COSIGNATURE, key):
            seconds = int.from_bytes(data[:8], "big")
            signed = f"cosignature/v1\ntime {seconds}\n".encode() + self.body
            if seconds <= MAX_UNIX_S and is_signed(key, data[8:], signed):
                return seconds
        return None

    def _by(self, name: str, kind: int, key: Ed25519PublicKey) -> Sequence[bytes]:
        identity = key_id(name, kind, key)
        return [each.data for each in self.signatures if (each.name, each.key_id) == (name, identity)]


def read_checkpoint(data: bytes, source: str) -> Checkpoint:
    """Parse without verification. Raises InputError, naming `source`."""
    try:
        if len(data) > MAX_CHECKPOINT_BYTES:
            raise ValueError
        body, empty, lines = data.decode().rpartition("\n\n")
        origin, size, root, *others = f"{body}\n".split("\n")
        hashed = base64.b64decode(root, validate=True)
        if not empty or others != [""] or not origin or not _SIZE.fullmatch(size) or len(hashed) != 32:
            raise ValueError
        signatures = _signatures(lines)
        checkpoint = Checkpoint(origin, int(size), hashed, signatures)
        if checkpoint.note != data:
            raise ValueError
    except (ValueError, binascii.Error):
        raise InputError(f"{source}: not a checkpoint of a log") from None
    return checkpoint


def read_signatures(data: bytes, source: str) -> tuple[NoteSignature, ...]:
    """Signature lines of a witness's response. Raises InputError."""
    try:
        if len(data) > MAX_CHECKPOINT_BYTES:
            raise ValueError
        return _signatures(data.decode())
    except (ValueError, binascii.Error):
        raise InputError(f"{source}: not the signatures of a checkpoint") from None


def _signatures(lines: str) -> tuple[NoteSignature, ...]:
    if not lines.endswith("\n"):
        raise ValueError
    signatures = []
    for line in lines[:-1].split("\n"):
        found = _SIGNATURE.fullmatch(line)
        if found is None:
            raise ValueError
        data = base64.b64decode(found[2], validate=True)
        if len(data) < 5:
            raise ValueError
        signatures.append(NoteSignature(found[1], data[:4], data[4:]))
    return tuple(signatures)


# --- keys ------------------------------------------------------------------------------------------------------------


def key_id(name: str, kind: int, key: Ed25519PublicKey) -> bytes:
    """4-byte key id in signatures."""
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + key.public_bytes_raw()).digest()[:4]


def verifier_key(name: str, kind: int, key: Ed25519PublicKey) -> str:
    """A public key as one line (C2SP vkey)."""
    data = base64.b64encode(bytes([kind]) + key.public_bytes_raw()).decode()
    return f"{name}+{key_id(name, kind, key).hex()}+{data}"


def read_verifier_key(text: str) -> tuple[str, int, Ed25519PublicKey]:
    """Parse such a line. Raises InputError if it is invalid."""
    try:
        name, identity, encoded = text.strip().split("+", 2)
        data = base64.b64decode(encoded, validate=True)
        key = Ed25519PublicKey.from_public_bytes(data[1:])
        if data[0] not in (ED25519, COSIGNATURE) or key_id(name, data[0], key).hex() != identity:
            raise ValueError
    except (ValueError, IndexError, binascii.Error):
        raise InputError(f"{text[:80]!r}: not a key as NAME+ID+KEY") from None
    if has_small_order(key):
        raise InputError(f"{text[:80]!r}: a key of small order, with which anyone can sign")
    return name, data[0], key


_FIELD = (1 << 255) - 19
_ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL_ORDER = frozenset({0, 1, _ORDER_8, _FIELD - _ORDER_8, _FIELD - 1, _FIELD, _FIELD + 1})
"""y coordinates of the points of Curve25519 whose order divides 8, in all accepted encodings."""


def has_small_order(key: Ed25519PublicKey) -> bool:
    """Whether the key is of small order, for which anyone can forge signatures."""
    return int.from_bytes(key.public_bytes_raw(), "little") & (1 << 255) - 1 in _SMALL_ORDER


def read_witness_key(text: str) -> tuple[str, Ed25519PublicKey]:
    """A witness's name and key. Raises InputError for other lines."""
    name, kind, key = read_verifier_key(text)
    if kind != COSIGNATURE:
        raise InputError(f"{text.strip()[:80]!r}: not the key of a witness (C2SP tlog-cosignature)")
    return name, key


def is_signed(key: Ed25519PublicKey, signature: bytes, data: bytes) -> bool:
    """Whether `signature` is a valid signature of `data` by `key`."""
    try:
        key.verify(signature, data)
    except InvalidSignature:
        return False
    return True
