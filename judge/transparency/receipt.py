"""A receipt: a leaf with the proof that a signed checkpoint includes it.

It proves that the log's owner received something.
"""

import base64
import binascii
import json
from typing import Literal, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import Field

from judge.base.parsing import FailFastTuple, FrozenModel, parse_json
from judge.base.text import printable
from judge.journal.state import JournalLine, read_leaf
from judge.transparency.checkpoint import Checkpoint, read_checkpoint
from judge.transparency.merkle import Tree, leaf_hash, verify_inclusion

MAX_RECEIPT_BYTES = 2048
"""As compact JSON, for a million leaves."""


class Receipt(FrozenModel):
    """A leaf, its number in the log, and the proof that the checkpoint includes it."""

    format: Literal["judge-receipt-1"] = "judge-receipt-1"
    leaf: str = Field(
        max_length=1000,
        description="The leaf, canonical JSON: `event` and `data` describe the upload, `digest` is its SHA-256.",
    )
    number: int = Field(ge=0, description="The number of the leaf in the log, from 0.")
    proof: FailFastTuple[str] = Field(max_length=64, description="The inclusion proof of RFC 6962, in Base64.")
    checkpoint: str = Field(description="The log's checkpoint, signed by the organiser (C2SP tlog-checkpoint).")

    @classmethod
    def of(cls, tree: Tree, number: int, leaf: bytes, checkpoint: Checkpoint) -> Self:
        """Return the receipt for a leaf; `checkpoint` is signed."""
        proof = tuple(base64.b64encode(node).decode() for node in tree.inclusion(number, checkpoint.size))
        return cls(leaf=leaf.decode(), number=number, proof=proof, checkpoint=checkpoint.note.decode())

    @property
    def signed(self) -> Checkpoint:
        """Unverified checkpoint. Raises InputError if it is invalid."""
        return read_checkpoint(self.checkpoint.encode(), "the receipt's checkpoint")

    @property
    def line(self) -> JournalLine | None:
        """The line of the journal that is the leaf; None if it is no leaf."""
        return read_leaf(self.leaf.encode())

    @property
    def text(self) -> str:
        """The sentence of its event, or empty."""
        return "" if self.line is None else printable(self.line.text)

    @property
    def digest(self) -> str:
        """SHA-256 of the received bytes from the leaf, or ""."""
        return (self.line.digest if self.line is not None else None) or ""

    def problem(self, key: Ed25519PublicKey) -> str:
        """Why it proves nothing; "" if the owner of `key` issued it. Raises InputError as `signed`."""
        checkpoint = self.signed
        if not checkpoint.is_signed(key):
            return "its checkpoint is not signed by the organiser's key"
        try:
            proof = [base64.b64decode(node, validate=True) for node in self.proof]
        except (ValueError, binascii.Error):
            return "it has no proof"
        if self.line is None:
            return "it has no leaf"
        hashed = leaf_hash(self.leaf.encode())
        if not verify_inclusion(hashed, self.number, checkpoint.size, proof, checkpoint.root):
            return "its checkpoint does not include its leaf"
        return ""


def read_receipt(data: bytes, source: str) -> Receipt:
    """A receipt, alone or in an upload's response. Raises InputError."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    inner = document.get("receipt", document) if isinstance(document, dict) else document
    return parse_json(Receipt, json.dumps(inner), f"{source}: not a receipt")
