"""Receives a file in pieces, completely or not at all."""

import hashlib
import secrets
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from judge.base.durable_files import sync, sync_file
from judge.base.errors import HostError
from judge.base.locks import lock, try_lock
from judge.store.files import Files

FOLDER = "incoming"
UNLOCKED_S = 60.0
"""Then an unlocked file is abandoned."""


class Incoming:
    """A file in a folder of `Files`, removed unless completed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / FOLDER / f"{secrets.token_hex(16)}.partial"
        self._hash = hashlib.sha256()
        self.size = 0
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Private in any folder.
            self._path.touch(mode=0o600, exist_ok=False)
            self._file = self._path.open("wb")
            # A killed process leaves an unlocked file.
            lock(self._file)
        except OSError as error:
            raise self._failed(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def write(self, chunk: bytes) -> None:
        """Raises HostError."""
        self._hash.update(chunk)
        self.size += len(chunk)
        try:
            self._file.write(chunk)
        except OSError as error:
            raise self._failed(error) from None

    @property
    def digest(self) -> str:
        """Digest of the data so far."""
        return self._hash.hexdigest()

    def sync(self) -> None:
        """Makes `keep` fast. Raises HostError."""
        try:
            sync_file(self._file)
        except OSError as error:
            raise self._failed(error) from None

    def keep(self) -> str:
        """Move the file into `Files`; return its digest. Raises HostError."""
        digest = self.digest
        target = Files(self._folder).path(digest)
        self.sync()
        try:
            target.parent.mkdir(exist_ok=True)
            self._path.replace(target)
            sync(target.parent)
            sync(self._folder)
        except OSError as error:
            raise self._failed(error) from None
        return digest

    def _failed(self, error: OSError) -> HostError:
        return HostError(f"{self._folder}: {error.strerror}; nothing was received; make room and send it again")


def sweep(folder: Path) -> int:
    """Remove killed processes' partial files; return their number."""
    removed = 0
    for path in (folder / FOLDER).glob("*.partial"):
        with suppress(OSError), path.open("rb") as file:
            is_old = time.time() - path.stat().st_mtime >= UNLOCKED_S
            if is_old and try_lock(file):
                path.unlink()
                removed += 1
    return removed
