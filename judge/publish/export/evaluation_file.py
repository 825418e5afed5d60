"""The signed file of an evaluation, which anyone with the pool's folder can verify.

    {"format": "judge-evaluation-1", "evaluation": {...}, "key": "-----BEGIN PUBLIC KEY...", "signature": "..."}

The signature is Ed25519 in Base64 over the evaluation as JSON without spaces, with sorted keys. Pool and records are in
the parent folder. Verification replays every record and repeats every step of the evaluation.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import Field

from judge.base.durable_files import read_bounded, write_durably
from judge.base.errors import InputError
from judge.base.parsing import FrozenModel, canonical_json, parse_foreign, parse_json
from judge.contest.evaluation import FROZEN_FILE, RECORDS, Evaluation, Pool, evaluate, evaluation_of
from judge.contest_games import AttemptState, Outcome
from judge.contest_view.values import outcome_of
from judge.record.bounds import MAX_RECORD_BYTES
from judge.record.spec import GameSpec, RecordFile, parse_record
from judge.referee.verify import verify
from judge.transparency.checkpoint import is_signed
from judge.transparency.keys import fingerprint, public_pem, read_public_key

MAX_EVALUATION_BYTES = 64 << 20
"""Bytes for half a million pairs of games."""


class _SignedFile(FrozenModel):
    format: Literal["judge-evaluation-1"]
    evaluation: Evaluation
    key: str = Field(max_length=1000)
    signature: str = Field(max_length=100)


def write_evaluation(path: Path, evaluation: Evaluation, key: Ed25519PrivateKey) -> None:
    """Sign an evaluation and write it. Raises OSError."""
    document = evaluation.model_dump(mode="json")
    signed = {
        "format": "judge-evaluation-1",
        "evaluation": document,
        "key": public_pem(key.public_key()).decode(),
        "signature": base64.b64encode(key.sign(canonical_json(document).encode())).decode(),
    }
    write_durably(path, f"{json.dumps(signed, indent=1)}\n".encode())


def verify_evaluation(path: Path) -> tuple[Sequence[str], str]:
    """Return the problems of an evaluation, or its summary. Raises InputError if it is unreadable."""
    data = read_bounded(path, MAX_EVALUATION_BYTES)
    signed = parse_foreign(_SignedFile, data, f"{path}: not an evaluation")
    key = read_public_key(signed.key.encode(), f"{path}: key")
    said = signed.evaluation
    document = json.loads(data)["evaluation"]
    try:
        signature = base64.b64decode(signed.signature, validate=True)
    except binascii.Error:
        signature = b""
    if not is_signed(key, signature, canonical_json(document).encode()):
        return ["the signature is invalid"], ""
    folder = path.resolve().parent.parent
    pool = read_pool(folder / FROZEN_FILE)
    if pool.digest() != said.pool:
        return [f"{folder / FROZEN_FILE}: not the pool of the evaluation"], ""
    reader = _Reader(folder / RECORDS, said.games)
    try:
        *_, (scores, games) = evaluate(pool, said.candidate, said.parent, said.rule, reader.game)
    except _LackingError as error:
        return [*reader.problems, str(error)], ""
    problems = list(reader.problems)
    if len(games) != len(said.games):
        problems.append(f"it has {len(said.games)} games, but its rule ends it after {len(games)}")
    again = evaluation_of(said.judge, pool, (said.candidate, said.parent), said.rule, scores, games)
    for name in ("counts", "score", "low", "high", "llr", "verdict"):
        ours, theirs = getattr(again, name), getattr(said, name)
        if ours != theirs:
            problems.append(f"{name}: {ours!r} according to the records, {theirs!r} in the evaluation")
    counted = f"{len(games)} games, {said.candidate.name}: {said.verdict}, signed by {fingerprint(key)[:16]}"
    return problems, counted


def read_pool(path: Path) -> Pool:
    """Read a locked-in pool. Raises InputError if invalid or changed."""
    data = read_bounded(path, MAX_EVALUATION_BYTES)
    pool = parse_json(Pool, data, f"{path}: not a locked-in pool")
    if pool.encoded() != data:
        raise InputError(
            f"{path}: differs from the locked-in pool; restore the file, or start a new pool in another folder"
        )
    return pool


class _LackingError(Exception):
    pass


class _Reader:
    def __init__(self, records: Path, digests: Sequence[str]) -> None:
        self._records = records
        self._digests = list(digests)
        self._read = 0
        self.problems: list[str] = []

    def game(self, spec: GameSpec) -> Outcome:
        if self._read == len(self._digests):
            raise _LackingError(f"it ends after {self._read} games, but its rule demands more")
        digest, self._read = self._digests[self._read], self._read + 1
        path = record_path(self._records, spec)
        if not path.is_file():
            raise _LackingError(f"{path}: the record is missing")
        file, own_digest = _record_of(path, spec)
        played = outcome_of(file, own_digest)
        if played.verdict == AttemptState.VOID:
            self.problems.append(f"{path}: void, so it cannot count; play the game again")
        if played.record != digest:
            self.problems.append(f"{path}: not the record of the evaluation")
        self.problems += (f"{path}: {problem}" for problem in verify(file).problems)
        return played


def record_path(records: Path, spec: GameSpec) -> Path:
    """Return the path of a game's record."""
    return records / f"{spec.id}.json"


def played_game(path: Path, spec: GameSpec) -> Outcome:
    """Return the game in a record. Raises InputError for another game's record."""
    return outcome_of(*_record_of(path, spec))


def _record_of(path: Path, spec: GameSpec) -> tuple[RecordFile, str]:
    data = read_bounded(path, MAX_RECORD_BYTES, links=True)
    file = parse_record(data, path)
    if file.record.spec != spec or file.record.id != spec.id:
        raise InputError(f"{path}: the record of another game; remove it to play the game again")
    return file, hashlib.sha256(data).hexdigest()
