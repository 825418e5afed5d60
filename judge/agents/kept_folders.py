"""A store of agents' folders: states by digest, and for each agent the ones to start from, which move with a record.

    DIRECTORY/OWNER/DIGEST.tar     a state; the digest is the SHA-256 of the file
    DIRECTORY/OWNER/heads.json     the digests of the folders as they are now, by kind; a kind that is missing is empty
    DIRECTORY/OWNER/intent.json    while a record is being written: which record, and what it makes the heads
    DIRECTORY/OWNER/lock           held by the judge that plays this agent

The record is what commits. A state is written first, then the intent, then the record, then the heads; each by
write-new, fsync, rename. A judge that is killed between two of these leaves either no record, and the heads stay, or a
record, and the next judge that holds the owner moves the heads to what the record says (`held`). To reset an agent,
remove its directory.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from judge.base.durable_files import sync, write_durably
from judge.base.errors import HostError, InputError
from judge.base.locks import try_lock_directory
from judge.base.logs import get_logger
from judge.referee.spec import RecordFile, read_record, write_record
from judge.sandbox.archive import EMPTY, Archive, UnkeptError, measure_folder
from judge.sandbox.box import FolderKind

log = get_logger()

Heads = dict[FolderKind, str]
_HEADS = TypeAdapter(Heads)


class _Intent(BaseModel):
    """What shall be true once a record is there."""

    model_config = ConfigDict(extra="forbid")

    record: Path
    id: str
    attempt: int
    seat: int = Field(ge=0, le=1)
    heads: Heads


def owner_of(name: str, digest: str) -> str:
    """Whose folders: another name or other files make another agent, which begins with empty ones."""
    return f"{name}-{digest[:32]}"


class FolderStore:
    """The folders of agents in a directory. Those of an owner may be changed only while it is `held`."""

    def __init__(self, directory: Path) -> None:
        """The directory need not exist yet."""
        self._directory = directory

    # --- who plays ----------------------------------------------------------------------------------

    @contextmanager
    def held(self, owners: Sequence[str]) -> Iterator[None]:
        """Hold owners, after finishing what a killed judge began. Raises InputError if another judge plays one of them.

        An agent with folders plays one game at a time; otherwise the state that a game starts from would be
        undefined.
        """
        with ExitStack() as locks:
            for owner in owners:
                locks.callback(self._lock(owner).close)
                with self._writing(owner):
                    self._settle(owner)
                    self._prune(owner)
            yield

    def _lock(self, owner: str) -> IO[bytes]:
        """The locked file of an owner; closing it frees the owner."""
        directory = self._directory / owner
        try:
            file = try_lock_directory(directory)
        except OSError as error:
            raise InputError(f"{directory}: {error.strerror}") from None
        if file is None:
            raise InputError(
                f"{directory}: another judge plays this agent with the same folders; wait for it, "
                "or use another directory"
            )
        return file

    @contextmanager
    def _writing(self, owner: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise HostError(f"{self._directory / owner}: the folders could not be kept: {error.strerror}") from error

    # --- states -------------------------------------------------------------------------------------

    def head(self, owner: str, kind: FolderKind) -> str:
        """The digest of a folder's state now. Raises InputError if the file that names it is damaged."""
        return self._heads(owner).get(kind, EMPTY.digest)

    def get(self, owner: str, digest: str) -> Archive:
        """A state. Raises InputError if it is missing, was changed, or is not a state."""
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
                f"{path}: the folder of this agent cannot be used: {why}; bring the file back from a copy, or remove "
                f"{path.parent} so that the agent begins without files"
            ) from None

    def put(self, owner: str, state: Archive) -> None:
        """Store a state; without a head it counts for nothing. Raises HostError if the disk is full."""
        path = self._path(owner, state.digest)
        with self._writing(owner):
            if state is not EMPTY and not path.exists():
                write_durably(path, state.data)

    def forget(self, owner: str, kind: FolderKind) -> None:
        """Empty a folder, such as the temporary ones at the end of a contest. Raises `HostError`."""
        with self._writing(owner):
            heads = self._heads(owner)
            if heads.pop(kind, None):
                self._write_heads(owner, heads)
            self._prune(owner)

    # --- with the result or not at all ----------------------------------------------------------------

    def commit(self, file: RecordFile, path: Path, owners: Mapping[int, str]) -> None:
        """Write a record, and make the states that it names those to start from, for the seats of `owners`.

        Raises OSError; then the record may be there and the heads not moved, which the next `held` fixes.
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
        """Move the heads if the record of the intent is there; in either case the intent has had its time."""
        path = self._intent(owner)
        if not path.exists():
            return
        try:
            intent = _Intent.model_validate_json(path.read_bytes())
        except ValidationError:
            raise InputError(f"{path}: not what a judge wrote; remove it") from None
        if _has_happened(intent):
            self._write_heads(owner, self._heads(owner) | intent.heads)
        else:
            log.info("a game left no record, so the folder stays as it was", folder=owner, game=intent.id)
        path.unlink()
        sync(path.parent)

    def _prune(self, owner: str) -> None:
        """Remove the states that are not to be started from, and what was not written to its end."""
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
                f"{path}: not what a judge wrote; bring it back from a copy, or remove {path.parent}"
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
    """What one game may read from a store and put there: see `judge.referee.folder_shelf.Shelf`.

    `commits` are the seats whose states will count; states of the other seats are not stored, but the record names
    them.
    """

    store: FolderStore
    owners: tuple[str, str]
    commits: frozenset[int] = frozenset({0, 1})

    def get(self, seat: int, digest: str) -> Archive:
        """A state of the seat's agent."""
        return self.store.get(self.owners[seat], digest)

    def put(self, seat: int, state: Archive) -> None:
        """Take a state of the seat's agent in."""
        if seat in self.commits:
            self.store.put(self.owners[seat], state)


def _has_happened(intent: _Intent) -> bool:
    """Whether the record that an intent speaks of is there, and says the same of the folders."""
    try:
        record = read_record(intent.record).record
    except InputError:
        return False
    heads = {kind: folder.digest for kind, folder in record.seats[intent.seat].folders.items()}
    return (record.id, record.attempt, heads) == (intent.id, intent.attempt, intent.heads)
