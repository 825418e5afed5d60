"""Verifies witnesses' signatures of an export's log, and that its draw follows from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.store.types import UNWITNESSED
from judge.tournament.snapshot import Snapshot
from judge.transparency.checkpoint import (
    MAX_CHECKPOINT_BYTES,
    Checkpoint,
    is_signed,
    origin_of,
    read_checkpoint,
    read_witness_key,
)
from judge.transparency.log import WITNESSED
from judge.verify.log import ReadLog

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
        raise InputError(f"{path}: no key; judge witness prints the line of its key")
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
    yield from _draw_problems(snapshot, log)


def _draw_problems(snapshot: Snapshot, log: ReadLog) -> Iterator[str]:
    freeze = snapshot.freeze
    if freeze is None:
        return
    bound = {each.name: read_witness_key(each.key)[1] for each in snapshot.witnesses if each.draw}
    away = _away(snapshot, log)
    for name in freeze.witnessed:
        if name not in bound:
            yield f"the draw depends on a signature by {name}, which is not one of its witnesses"
    for name, public in bound.items():
        signature = freeze.witnessed.get(name)
        if signature is None and name not in away:
            yield f"the draw has no signature of its witness {name}, and the log has no reason"
        elif signature is not None and name in away:
            yield f"the log records that the witness {name} did not sign, but the draw has its signature"
        elif signature is not None and not is_signed(
            public, bytes.fromhex(signature), freeze.checkpoint(snapshot.name).body
        ):
            yield f"the draw's signature by {name} does not fit the log at the moment of the draw"


def drawn_without(snapshot: Snapshot, log: ReadLog, old: Checkpoint | None) -> Iterator[str]:
    """Witnesses whose signatures the draw lacks, with contrary evidence from `old`."""
    freeze = snapshot.freeze
    keys = {each.name: read_witness_key(each.key)[1] for each in snapshot.witnesses if each.draw}
    for name, why in _away(snapshot, log).items():
        text = f"drawn without the witness {name}: {why}"
        if freeze is not None and old is not None and name in keys:
            at = old.witnessed_at(name, keys[name])
            if replace(old, signatures=()) == freeze.checkpoint(snapshot.name) and at is not None:
                text += (
                    f"; BUT it signed the log at that moment, {datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
                )
        yield text


def _away(snapshot: Snapshot, log: ReadLog) -> dict[str, str]:
    events = [line.event for line in log.lines]
    if snapshot.freeze is None or "created" not in events:
        return {}
    lines = log.lines[snapshot.freeze.leaves : events.index("created")]
    told = (line.text.partition(": ") for line in lines if line.event == UNWITNESSED)
    return {name: why for name, _, why in told}
