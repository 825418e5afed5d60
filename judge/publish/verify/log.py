"""Verifies the tree and the signatures of an export's log, and that it continues what was signed before."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.contest_view.view import ContestView
from judge.journal.state import JournalLine
from judge.tournament.snapshot import Snapshot
from judge.transparency.checkpoint import (
    MAX_CHECKPOINT_BYTES,
    Checkpoint,
    origin_of,
    read_checkpoint,
    read_witness_key,
)
from judge.transparency.log import LOG, WITNESSED
from judge.transparency.merkle import CHECKPOINT, MAX_TILE_BYTES, Tree, read_leaves, tile_files
from judge.transparency.receipt import Receipt

Key = tuple[str, Ed25519PublicKey]
"""Name and public key of a witness."""

_MAX_WITNESS_FILES = 100
_MAX_KEYS_BYTES = 64 << 10


@dataclass(slots=True)
class ReadLog:
    """A verified log: checkpoint, tree, and the journal with the leaves' digests."""

    checkpoint: Checkpoint
    tree: Tree
    lines: Sequence[JournalLine]
    problems: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    """Paths of its tiles."""


def read_log(directory: Path, contest: ContestView, key: Ed25519PublicKey) -> ReadLog:
    """Compare the log of an export with checkpoint, tiles and journal. Raises InputError."""
    checkpoint = read_checkpoint(read_bounded(directory / LOG / CHECKPOINT, MAX_CHECKPOINT_BYTES), LOG + CHECKPOINT)
    if checkpoint.size != len(contest.journal):
        raise InputError(f"{LOG}{CHECKPOINT}: {checkpoint.size} leaves, but the journal has {len(contest.journal)}")
    leaves = read_leaves(lambda path: read_bounded(directory / LOG / path, MAX_TILE_BYTES), checkpoint.size)
    tree = Tree(leaves)
    lines = [_with_digest(line, leaf) for line, leaf in zip(contest.journal, leaves, strict=True)]
    log = ReadLog(checkpoint, tree, lines)
    if checkpoint.origin != origin_of(contest.name):
        log.problems.append(f"{LOG}{CHECKPOINT}: of another log, {checkpoint.origin!r}")
    if not checkpoint.is_signed(key):
        log.problems.append(f"{LOG}{CHECKPOINT}: not signed by the organiser's key")
    if tree.root() != checkpoint.root:
        log.problems.append(f"{LOG}{CHECKPOINT}: its root is not that of the leaves")
    for path, data in tile_files(tree, lambda start, end: leaves[start:end], tree.size):
        log.files.append(path)
        if read_bounded(directory / LOG / path, MAX_TILE_BYTES) != data:
            log.problems.append(f"{LOG}{path}: not the hashes of the leaves")
    log.problems += [
        f"leaf {number} of the log differs from the line of the journal"
        for number, (line, leaf) in enumerate(zip(lines, leaves, strict=True))
        if line.leaf != leaf
    ]
    return log


def _with_digest(line: JournalLine, leaf: bytes) -> JournalLine:
    """The line with what only its leaf has."""
    try:
        digest, salt = map(json.loads(leaf).get, ("digest", "salt"))
    except (ValueError, AttributeError, RecursionError):
        return line
    return replace(
        line, digest=digest if isinstance(digest, str) else None, salt=salt if isinstance(salt, str) else None
    )


def since_problems(log: ReadLog, old: Checkpoint, key: Ed25519PublicKey) -> Iterator[str]:
    """Contradictions to an old checkpoint."""
    if not old.is_signed(key):
        yield "the old checkpoint is not signed by the organiser's key, so it proves nothing"
    elif old.origin != log.checkpoint.origin:
        yield f"the old checkpoint is of another log, {old.origin!r}"
    elif old.size > log.tree.size:
        yield f"the log has {log.tree.size} leaves, but the old checkpoint has {old.size}: leaves were removed"
    elif log.tree.root(old.size) != old.root:
        yield (
            f"the first {old.size} leaves of the log differ from those of the old checkpoint: "
            "leaves were removed, added or changed"
        )


def receipt_problems(log: ReadLog, receipt: Receipt, key: Ed25519PublicKey) -> Iterator[str]:
    """Contradictions to a receipt."""
    if why := receipt.problem(key):
        yield f"the receipt proves nothing: {why}"
        return
    yield from since_problems(log, receipt.signed, key)
    if receipt.number >= log.tree.size or log.lines[receipt.number].leaf != receipt.leaf.encode():
        yield f"leaf {receipt.number} of the log differs from the receipt: {receipt.text} was removed or changed"


# --- witnesses -------------------------------------------------------------------------------------------------------


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
    files = sorted(place.iterdir())[:_MAX_WITNESS_FILES] if place.is_dir() else []
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
