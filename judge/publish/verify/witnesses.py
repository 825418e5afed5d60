"""Verifies witnesses' signatures of an export's log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.publish.verify.log import ReadLog
from judge.tournament.snapshot import Snapshot
from judge.transparency.checkpoint import MAX_CHECKPOINT_BYTES, origin_of, read_checkpoint, read_witness_key
from judge.transparency.log import WITNESSED

Key = tuple[str, Ed25519PublicKey]

_MAX_FILES = 100
_MAX_KEYS_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Witnessed:
    """Largest size that a witness has signed, and the Unix time; None without a signature."""

    name: str
    size: int = 0
    at: int | None = None


def read_witness_keys(path: Path) -> list[Key]:
    """One key per line. Raises InputError."""
    lines = read_bounded(path, _MAX_KEYS_BYTES).decode("utf-8", "replace").splitlines()
    keys = [read_witness_key(line) for line in lines if line.strip()]
    if not keys:
        raise InputError(f"{path}: no key of a witness: give one NAME+ID+KEY a line")
    return keys


def witness_problems(
    directory: Path,
    snapshot: Snapshot,
    log: ReadLog,
    key: Ed25519PublicKey,
    named: Sequence[Key],
    found: list[Witnessed],
) -> Iterator[str]:
    """Problems of witnesses' signatures; append each witness, announced or `named`, to `found`.

    `key` is the organiser's. A missing signature of an announced witness is no problem. Raises InputError for invalid
    checkpoints.
    """
    place = directory / WITNESSED
    files = sorted(place.iterdir())[:_MAX_FILES] if place.is_dir() else []
    checkpoints = [log.checkpoint]
    for file in files:
        path = WITNESSED + file.name
        checkpoint = read_checkpoint(read_bounded(file, MAX_CHECKPOINT_BYTES), path)
        if checkpoint.origin != origin_of(snapshot.name) or not checkpoint.is_signed(key):
            yield f"{path}: not a checkpoint of this log signed with the organiser's key"
        elif checkpoint.size > log.tree.size or log.tree.root(checkpoint.size) != checkpoint.root:
            yield f"{path}: the log does not begin with the {checkpoint.size} leaves that were signed: it was rewritten"
        else:
            checkpoints.append(checkpoint)
    for name, public in {**dict(read_witness_key(each.key) for each in snapshot.witnesses), **dict(named)}.items():
        signed = [(each.size, at) for each in checkpoints if (at := each.witnessed_at(name, public)) is not None]
        found.append(Witnessed(name, *max(signed)) if signed else Witnessed(name))
        if not signed and (name, public) in named:
            yield f"no checkpoint of the export is signed by the witness {name}"
