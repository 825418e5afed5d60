"""A witness on another machine: signs each checkpoint that continues the last one it signed.

A log can also request signatures, with `add-checkpoint` of C2SP tlog-witness:

    old 20
    PvXNVqJ2ZWyrD+cu...            consistency proof from the checkpoint of 20 leaves, the last that the witness signed
    MfDvO2kTSyjDIfLm...

    judge-contest/spring-cup       the new checkpoint, signed by the log
    42
    ...

The witness answers with its signature lines, or with 409 and the size that it has signed.
"""

import base64
import binascii
import re
import threading
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import TypeVar
from urllib.error import HTTPError, URLError

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from judge.base.durable_files import read_bounded
from judge.base.errors import HostError, InputError
from judge.base.locks import try_lock
from judge.transparency.checkpoint import MAX_CHECKPOINT_BYTES, Checkpoint, read_checkpoint
from judge.transparency.log import LOG
from judge.transparency.merkle import EMPTY_ROOT, Tree, verify_consistency
from judge.transparency.tiles import CHECKPOINT, WIDTH, read_hashes

TIMEOUT_S = 10
"""Timeout of one socket operation."""

DEADLINE_S = 60
"""Timeout of all reads from a site."""

MAX_LEAVES = 1 << 23
"""A million games have three million."""

Read = Callable[[str, int], bytes]
"""Reads a file by path and maximum size. Raises HostError or InputError."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WitnessRefusal:
    """Why a checkpoint is not signed. `is_proof`: the organiser has signed two histories of one log."""

    why: str
    is_proof: bool = False


@contextmanager
def sole_writer(file: Path) -> Iterator[None]:
    """Lock a file of signed checkpoints. Raises HostError if another process has it."""
    path = file.with_name(f"{file.name}.lock")
    try:
        lock = path.open("ab")
    except OSError as error:
        raise HostError(f"{path}: {error.strerror}") from None
    with lock:
        if not try_lock(lock):
            raise HostError(f"{file}: another witness process is using it; try again when it has ended")
        yield


def within(seconds: float, work: Callable[[], T]) -> T:
    """Run `work` in a thread. Raises HostError after `seconds` and abandons the thread.

    A socket timeout would restart with each byte.
    """
    results: list[T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 raised again in the caller's thread
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True, name="deadline")
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors.pop()
    if not results:
        raise HostError(f"no answer within {seconds:g} s")
    return results[0]


def reader_of(site: str) -> Read:
    """Reader for a site (URL) or an export (directory). Raises InputError for other URLs."""
    if "://" not in site:
        return lambda path, most: read_bounded(Path(site) / path, most)
    if not re.fullmatch(r"https?://[!-~]+", site):
        raise InputError(f"{site[:80]!r}: not a directory, nor an address such as https://example.org/cup/")
    return lambda path, most: _fetched(f"{site.rstrip('/')}/{path}", most)


def _fetched(url: str, most: int) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310 http or https
            data: bytes = answer.read(most + 1)
    except HTTPError as error:
        error.close()
        raise HostError(f"{url}: {error}") from None
    except (URLError, HTTPException, OSError) as error:
        raise HostError(f"{url}: {error}") from None
    if len(data) > most:
        raise InputError(f"{url}: larger than {most} bytes; not a file of judge serve")
    return data


def newest(read: Read) -> Checkpoint:
    """A site's checkpoint. Raises InputError if it is missing or invalid."""
    path = LOG + CHECKPOINT
    return read_checkpoint(read(path, MAX_CHECKPOINT_BYTES), path)


def refusal(read: Read, new: Checkpoint, old: Checkpoint | None, key: Ed25519PublicKey) -> WitnessRefusal | None:
    """Why a checkpoint does not continue `old`, the last signed one; None if it does.

    `key` is the organiser's. Reads all leaf hashes; raises InputError or HostError. Only two checkpoints of one origin,
    signed by the organiser, with different leaves are proof.
    """
    if old is not None and old.origin != new.origin:
        return WitnessRefusal(
            f"it is of the log {new.origin!r}, and the last one was of {old.origin!r}: is the address right?"
        )
    if not new.is_signed(key):
        return WitnessRefusal("it is not signed by the organiser's key: are the address and the key right?")
    if new.size > MAX_LEAVES:
        return WitnessRefusal(f"it has {new.size} leaves, and a contest has at most {MAX_LEAVES}")
    if old is not None and new.size < old.size:
        return WitnessRefusal(
            f"it has {new.size} leaves, and the last one had {old.size}: "
            "the site is an outdated copy, or leaves were dropped; try again later"
        )
    if old is not None and new.size == old.size and new.root != old.root:
        return WitnessRefusal(
            f"its {new.size} leaves differ from the last one: at least one was changed", is_proof=True
        )
    tree = Tree()
    for hashed in read_hashes(lambda path: _tile(read, path), new.size):
        tree.append_hash(hashed)
    if tree.root() != new.root:
        return WitnessRefusal("its root does not match the site's leaves: the site is damaged or incomplete")
    if old is not None and tree.root(old.size) != old.root:
        why = f"the first {old.size} leaves differ from the last one: at least one was dropped, added or changed"
        return WitnessRefusal(why, is_proof=True)
    return None


def _tile(read: Read, path: str) -> bytes:
    """A full tile has no partial version any more."""
    full, is_partial, width = path.partition(".p/")
    try:
        return read(LOG + path, 32 * WIDTH)
    except (HostError, InputError):
        if not is_partial:
            raise
        return read(LOG + full, 32 * WIDTH)[: 32 * int(width)]


ADD_CHECKPOINT = "add-checkpoint"

SIZE_TYPE = "text/x.tlog.size"
"""Media type of a 409 response."""

MAX_HASHES = 63

MAX_REQUEST_BYTES = MAX_CHECKPOINT_BYTES + 4096

_OLD = re.compile(r"old (0|[1-9][0-9]{0,17})")


@dataclass(frozen=True, slots=True)
class AddCheckpoint:
    """A request to sign `new`, which continues a checkpoint of `old` leaves."""

    old: int
    proof: Sequence[bytes]
    new: Checkpoint

    @property
    def body(self) -> bytes:
        """The body of the request."""
        lines = [f"old {self.old}", *(base64.b64encode(each).decode() for each in self.proof)]
        return "\n".join(lines).encode() + b"\n\n" + self.new.note


def read_request(data: bytes) -> AddCheckpoint:
    """Parse a request. Raises InputError if it is invalid."""
    head, _, note = data.partition(b"\n\n")
    try:
        if len(data) > MAX_REQUEST_BYTES:
            raise ValueError
        old, *lines = head.decode("ascii").split("\n")
        size = _OLD.fullmatch(old)
        proof = [base64.b64decode(line, validate=True) for line in lines]
        if size is None or len(proof) > MAX_HASHES or any(len(each) != 32 for each in proof):
            raise ValueError
    except (ValueError, binascii.Error):
        raise InputError("not a request to sign a checkpoint") from None
    return AddCheckpoint(int(size[1]), proof, read_checkpoint(note, "the request's checkpoint"))


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal: status and text. With 409 the text is the signed size."""

    status: int
    text: str


def answer(
    request: AddCheckpoint, last: Checkpoint | None, key: Ed25519PublicKey, sign: Callable[[Checkpoint], Checkpoint]
) -> Checkpoint | Refused:
    """The new checkpoint with the witness's signatures, or a refusal.

    `last`: last checkpoint signed by the witness; `key` is the log's.
    """
    new = request.new
    if not new.is_signed(key):
        return Refused(403, "the checkpoint is not signed by the key of its log")
    size, root = (0, EMPTY_ROOT) if last is None else (last.size, last.root)
    if request.old > new.size:
        return Refused(400, f"a checkpoint of {new.size} leaves does not continue one of {request.old}")
    if request.old != size or (new.size == size and new.root != root):
        return Refused(409, str(size))
    if not verify_consistency(size, new.size, root, new.root, request.proof):
        return Refused(422, "the proof does not show that the checkpoint continues the last signed one")
    return sign(new)
