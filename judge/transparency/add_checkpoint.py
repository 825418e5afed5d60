"""The `add-checkpoint` request from a log to a witness, as in C2SP tlog-witness.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from judge.base.errors import InputError
from judge.transparency.checkpoint import MAX_CHECKPOINT_BYTES, Checkpoint, read_checkpoint
from judge.transparency.merkle import EMPTY_ROOT, verify_consistency

PATH = "add-checkpoint"

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
