"""A store of agents' folders: states by digest, and per agent the current ones (heads).

    DIRECTORY/OWNER/DIGEST.tar     a state; the digest is the SHA-256 of the file
    DIRECTORY/OWNER/heads.json     digests of the current folders by kind; a missing kind is empty
    DIRECTORY/OWNER/intent.json    while a record is being written: its path, and the resulting heads
    DIRECTORY/OWNER/lock           locked by the judge that plays this agent

The record is the commit. Written are state, intent, record, heads, each to a new file, fsynced and renamed. If a judge
is killed, the heads are unchanged (no record), or the next judge updates them (`lock_owners`). Removing an agent's
directory resets it.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from judge.base.durable_files import sync, write_durably
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.locks import try_lock_directory
from judge.base.logs import get_logger
from judge.base.parsing import Model
from judge.record.spec import RecordFile, read_record, write_record
from judge.sandbox.archive import EMPTY, Archive, UnkeptError, measure_folder
from judge.sandbox.box import FolderKind

log = get_logger()

Heads = dict[FolderKind, str]
_HEADS = TypeAdapter(Heads)


class _Intent(Model):
    model_config = ConfigDict(extra="forbid")

    record: Path
    id: str
    attempt: int
    seat: int = Field(ge=0, le=1)
    heads: Heads


def owner_of(name: str, digest: str) -> str:
    """An owner, by name and files."""
    return f"{name}-{digest[:32]}"


class FolderStore:
    """Only folders of owners that `lock_owners` locked may be changed."""

    def __init__(self, directory: Path) -> None:
        """It is created when needed."""
        self._directory = directory

    @contextmanager
    def lock_owners(self, owners: Sequence[str]) -> Iterator[None]:
        """Lock owners and complete what a killed judge began. Raises InputError if one is locked: an agent with folders
        plays one game at a time.
        """
        with ExitStack() as locks:
            for owner in owners:
                locks.callback(self._lock(owner).close)
                with self._writing(owner):
                    self._settle(owner)
                    self._prune(owner)
            yield

    def _lock(self, owner: str) -> IO[bytes]:
        """Closing the returned file releases the lock."""
        directory = self._directory / owner
        with os_errors_as(InputError, directory):
            file = try_lock_directory(directory)
        if file is None:
            raise InputError(
                f"{directory}: another judge plays this agent with the same folders; wait for it, "
                "or use another directory"
            )
        return file

    def _writing(self, owner: str) -> AbstractContextManager[None]:
        return os_errors_as(HostError, f"{self._directory / owner}: the folders could not be stored")

    def head(self, owner: str, kind: FolderKind) -> str:
        """A folder's current digest. Raises InputError for damaged heads."""
        return self._heads(owner).get(kind, EMPTY.digest)

    def get(self, owner: str, digest: str) -> Archive:
        """Raises InputError if the state is missing, changed or invalid."""
        if digest == EMPTY.digest:
            return EMPTY
        path = self._path(owner, digest)
        try:
            data = path.read_bytes()
            if hashlib.sha256(data).hexdigest() != digest:
                raise UnkeptError("its SHA-256 is not its name")
            return measure_folder(data)
        except (OSError, UnkeptError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise InputError(
                f"{path}: the folder of this agent cannot be used: {why}; restore the file from a backup, or remove "
                f"{path.parent} so that the agent begins without files"
            ) from None

    def put(self, owner: str, state: Archive) -> None:
        """The state has no effect until it is a head. Raises HostError if the disk is full."""
        path = self._path(owner, state.digest)
        with self._writing(owner):
            if state.digest != EMPTY.digest and not path.exists():
                write_durably(path, state.data)

    def forget(self, owner: str, kind: FolderKind) -> None:
        """Empty a folder. Raises HostError."""
        with self._writing(owner):
            heads = self._heads(owner)
            if heads.pop(kind, None):
                self._write_heads(owner, heads)
            self._prune(owner)

    def commit(self, file: RecordFile, path: Path, owners: Mapping[int, str]) -> None:
        """Write a record, and make its states the heads of `owners` by seat.

        After an OSError the record may exist with old heads; the next `lock_owners` corrects that.
        """
        record = file.record
        for seat, owner in owners.items():
            heads = {kind: folder.digest for kind, folder in record.seats[seat].folders.items()}
            if heads:
                intent = _Intent(record=path.resolve(), id=record.id, attempt=record.attempt, seat=seat, heads=heads)
                write_durably(self._intent(owner), intent.model_dump_json().encode())
        write_record(path, file)
        for owner in owners.values():
            self._settle(owner)
            self._prune(owner)

    def _settle(self, owner: str) -> None:
        """Apply the intent if its record exists."""
        path = self._intent(owner)
        if not path.exists():
            return
        try:
            intent = _Intent.model_validate_json(path.read_bytes())
        except ValidationError:
            raise InputError(f"{path}: not written by judge, or damaged; remove it") from None
        if _has_happened(intent):
            self._write_heads(owner, self._heads(owner) | intent.heads)
        else:
            log.info("a game left no record, so the folder is unchanged", folder=owner, game=intent.id)
        path.unlink()
        sync(path.parent)

    def _prune(self, owner: str) -> None:
        """Remove other states and incomplete files."""
        heads = set(self._heads(owner).values())
        directory = self._directory / owner
        for path in [*directory.glob("*.tar"), *directory.glob("*.partial")]:
            if path.stem not in heads:
                path.unlink()

    def _heads(self, owner: str) -> Heads:
        path = self._directory / owner / "heads.json"
        try:
            return _HEADS.validate_json(path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError):
            raise InputError(
                f"{path}: not written by judge, or damaged; restore it from a backup, or remove {path.parent}"
            ) from None

    def _write_heads(self, owner: str, heads: Heads) -> None:
        write_durably(self._directory / owner / "heads.json", _HEADS.dump_json(heads))

    def _intent(self, owner: str) -> Path:
        return self._directory / owner / "intent.json"

    def _path(self, owner: str, digest: str) -> Path:
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise InputError(f"{digest!r} is not the digest of a folder's state")
        return self._directory / owner / f"{digest}.tar"


@dataclass(frozen=True, slots=True)
class GameShelf:
    """It stores only states of the seats in `commits`."""

    store: FolderStore
    owners: tuple[str, str]
    commits: frozenset[int] = frozenset({0, 1})

    def get(self, seat: int, digest: str) -> Archive:
        return self.store.get(self.owners[seat], digest)

    def put(self, seat: int, state: Archive) -> None:
        if seat in self.commits:
            self.store.put(self.owners[seat], state)


def _has_happened(intent: _Intent) -> bool:
    try:
        record = read_record(intent.record).record
    except InputError:
        return False
    heads = {kind: folder.digest for kind, folder in record.seats[intent.seat].folders.items()}
    return (record.id, record.attempt, heads) == (intent.id, intent.attempt, intent.heads)
