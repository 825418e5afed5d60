"""What was played lies on the worker's disk until the contest's host has it: nothing that was played is lost."""

import hashlib
from collections.abc import Collection
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from judge.cluster.messages import Key
from judge.contest.worker import JobResult
from judge.durable_files import write_durably
from judge.errors import HostError
from judge.matches import Outcome


class _Kept(BaseModel):
    """A played game as a file."""

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_bytes="base64", val_json_bytes="base64")

    key: Key
    outcome: Outcome
    record: bytes
    states: dict[str, bytes]


class Outbox:
    """A folder of played games, a file each."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def put(self, key: Key, result: JobResult) -> None:
        """Keep a game; it is on disk when this returns. Raises HostError."""
        kept = _Kept(key=key, outcome=result.outcome, record=result.record, states=dict(result.states))
        path = self._path(key)
        try:
            path.parent.mkdir(exist_ok=True)
            write_durably(path, kept.model_dump_json().encode())
        except OSError as error:
            raise HostError(f"{path}: {error.strerror}: make room there") from None

    def get(self, key: Key) -> JobResult | None:
        """A match; None if it is not here, or if its file was changed."""
        kept = _read(self._path(key))
        if kept is None or kept.key != key:
            return None
        return JobResult(kept.outcome, kept.record, kept.states)

    def keys(self, contest: str) -> frozenset[Key]:
        """The games of a contest that are here."""
        files = self._contest(contest).glob("*.json")
        return frozenset(kept.key for kept in map(_read, files) if kept is not None)

    def forget(self, keys: Collection[Key]) -> None:
        """The contest's host has them."""
        for key in keys:
            self._path(key).unlink(missing_ok=True)

    def _contest(self, contest: str) -> Path:
        return self._folder / hashlib.sha256(contest.encode()).hexdigest()[:20]

    def _path(self, key: Key) -> Path:
        return self._contest(key.contest) / f"{key.match}-{key.attempt}.json"


def _read(path: Path) -> _Kept | None:
    try:
        return _Kept.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
