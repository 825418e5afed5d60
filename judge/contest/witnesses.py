"""Asks witnesses to sign a contest's log, and stores the latest signature of each.

A request is `add-checkpoint` of C2SP tlog-witness:

    old 20
    PvXNVqJ2ZWyrD+cu...            consistency proof from the checkpoint of 20 leaves, the last that the witness signed
    MfDvO2kTSyjDIfLm...

    judge-contest/spring-cup       the new checkpoint, signed by the log
    42
    ...

The witness answers with its signature lines, or with 409 and the size that it has signed.
"""

import base64
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError

from judge.base.durable_files import read_bounded, write_durably
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.logs import get_logger
from judge.contest.plan import Planned, WitnessPlan
from judge.store.queries import Reader
from judge.transparency.checkpoint import (
    COSIGNATURE,
    ED25519,
    MAX_CHECKPOINT_BYTES,
    Checkpoint,
    key_id,
    origin_of,
    read_checkpoint,
    read_signatures,
    verifier_key,
)
from judge.transparency.keys import KEY_FILE
from judge.transparency.log import WITNESS_FOLDER, ContestLog, organiser_key
from judge.transparency.merkle import Tree

EACH_S = 30
"""Timeout per witness."""

EVERY_S = 600

_SOCKET_S = 10


class Witnesses:
    """The witnesses of a contest."""

    def __init__(self, planned: Planned) -> None:
        """Raises InputError if there are witnesses but no organiser's key: the organiser signs first."""
        self.planned = planned
        self.all = planned.plan.witnesses
        self._key = organiser_key(planned.folder) if self.all else None
        if self.all and self._key is None:
            raise InputError(
                f"{planned.path}: [[witnesses]] need the organiser's signature, and {KEY_FILE} is missing; "
                f"create it with: judge contest key {planned.folder / KEY_FILE}"
            )

    @property
    def log_key(self) -> str:
        """The log's public key, which a witness needs before it signs: NAME+ID+KEY."""
        return "" if self._key is None else verifier_key(origin_of(self.planned.name), ED25519, self._key.public_key())

    def cosign(self, witness: WitnessPlan, checkpoint: Checkpoint, tree: Tree) -> Checkpoint:
        """Store and return the checkpoint with the witness's signatures. Raises HostError if it does not sign."""
        if self._key is None:
            raise HostError("the organiser's key is missing")
        signed = checkpoint.signed(self._key)
        try:
            cosigned = _ask_in_time(witness, signed, tree)
        except (HostError, InputError) as error:
            raise HostError(f"{witness.url}: {error}") from None
        self._keep(witness, cosigned)
        return cosigned

    def ask(self, log: ContestLog) -> Iterator[tuple[WitnessPlan, str]]:
        """Ask each witness with an address; yield the error or an empty string."""
        for witness in self.all:
            if witness.url and log.size:
                try:
                    self.cosign(witness, log.checkpoint(log.public_size), log.tree)
                    yield witness, ""
                except HostError as error:
                    yield witness, str(error)

    def take(self, path: Path, log: ContestLog) -> list[WitnessPlan]:
        """Import a checkpoint that witnesses signed; return its signers.

        Raises InputError unless it is a checkpoint of this log signed by an announced witness.
        """
        found = read_checkpoint(read_bounded(path, MAX_CHECKPOINT_BYTES), str(path))
        if self._key is None or not found.is_signed(self._key.public_key()):
            raise InputError(f"{path}: not signed by the organiser of {self.planned.name}")
        if found.size > log.size or replace(found, signatures=()) != log.checkpoint(found.size):
            raise InputError(f"{path}: not a checkpoint of the log of {self.planned.name}")
        signers = [each for each in self.all if found.witnessed_at(each.name, each.public) is not None]
        if not signers:
            raise InputError(f"{path}: not signed by any of the [[witnesses]] of {self.planned.path}")
        for witness in signers:
            self._keep(witness, found)
        return signers

    def _keep(self, witness: WitnessPlan, signed: Checkpoint) -> None:
        path = self.planned.folder / WITNESS_FOLDER / identity(witness)
        with os_errors_as(HostError, path, f": the signature of {witness.name} is not stored"):
            last = read_checkpoint(read_bounded(path, MAX_CHECKPOINT_BYTES), str(path)) if path.exists() else None
            if last is None or last.size <= signed.size:
                path.parent.mkdir(exist_ok=True)
                write_durably(path, signed.note)


@contextmanager
def periodic_cosigning(planned: Planned) -> Iterator[Witnesses]:
    """Let witnesses sign the log every `EVERY_S` and at the end, in a thread. Failures are only logged."""
    witnesses = Witnesses(planned)
    is_over = threading.Event()

    def ask() -> None:
        try:
            with closing(Reader(planned.store_url)) as store:
                log = ContestLog.stored(planned.name, store)
                for witness, why in witnesses.ask(log):
                    if why:
                        get_logger().warning("a witness did not sign", witness=witness.name, why=why)
        except Exception as error:  # noqa: BLE001 - the next turn may succeed
            get_logger().warning("no witness was asked", why=str(error))

    def repeat() -> None:
        while not is_over.wait(EVERY_S):
            ask()

    thread = threading.Thread(target=repeat, daemon=True, name="witnesses")
    if any(witness.url for witness in witnesses.all):
        thread.start()
    try:
        yield witnesses
    finally:
        is_over.set()
        if thread.ident is not None:
            thread.join(EACH_S)
            ask()


def identity(witness: WitnessPlan) -> str:
    """File name of a witness's checkpoint."""
    return key_id(witness.name, COSIGNATURE, witness.public).hex()


def _ask(witness: WitnessPlan, checkpoint: Checkpoint, tree: Tree) -> Checkpoint:
    old = 0
    for _ in range(3):
        proof = [base64.b64encode(each).decode() for each in tree.consistency(old, checkpoint.size)]
        request = "\n".join((f"old {old}", *proof)).encode() + b"\n\n" + checkpoint.note
        status, answer = _posted(witness, request)
        if status != 409:
            break
        size = answer.strip()
        if not size.isdigit() or len(size) > 18:
            raise HostError("answered 409 without the size that it has signed")
        old = int(size)
        if old > checkpoint.size:
            raise HostError(f"it has signed {old} leaves of a log of this name, but this log has {checkpoint.size}")
    if status == 409:
        raise HostError(f"it has signed another log of this name, of {old} leaves")
    if status != 200:
        raise HostError(f"answered {status}: {answer[:200].decode('utf-8', 'replace').strip()}")
    signatures = tuple(each for each in read_signatures(answer, "the answer") if each.name == witness.name)
    signed = replace(checkpoint, signatures=(*checkpoint.signatures, *signatures))
    if signed.witnessed_at(witness.name, witness.public) is None:
        raise HostError("its answer has no signature by the key of the contest file")
    return signed


def _posted(witness: WitnessPlan, body: bytes) -> tuple[int, bytes]:
    request = urllib.request.Request(  # noqa: S310 http or https, as the plan says
        f"{witness.url.rstrip('/')}/add-checkpoint", body, {"Content-Type": "text/plain; charset=utf-8"}
    )
    try:
        with urllib.request.urlopen(request, timeout=_SOCKET_S) as answer:  # noqa: S310
            return 200, answer.read(MAX_CHECKPOINT_BYTES + 1)
    except HTTPError as error:
        with error:
            return error.code, error.read(1000)
    except (URLError, HTTPException, OSError) as error:
        raise HostError(f"does not answer: {getattr(error, 'reason', error)}") from None


def _ask_in_time(witness: WitnessPlan, checkpoint: Checkpoint, tree: Tree) -> Checkpoint:
    """Ask in a thread. Raises HostError after `EACH_S` and abandons the thread.

    A socket timeout would restart with each byte.
    """
    results: list[Checkpoint] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(_ask(witness, checkpoint, tree))
        except Exception as error:  # noqa: BLE001 raised again in the caller's thread
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True, name="deadline")
    thread.start()
    thread.join(EACH_S)
    if errors:
        raise errors.pop()
    if not results:
        raise HostError(f"no answer within {EACH_S:g} s")
    return results[0]
