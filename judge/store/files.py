"""Files of a store: named by digest, written before the row that names them, never changed.

`Incoming` receives a file in pieces, completely or not at all.
"""

import hashlib
import secrets
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from io import BytesIO
from pathlib import Path
from typing import IO, BinaryIO, Self

from judge.base.durable_files import PARTIAL, checked_sha256, open_regular, sync, sync_file, write_durably
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.locks import lock, try_lock

PIECE_BYTES = 1 << 20


class Files:
    """Files named by SHA-256."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> str:
        """Write durably; return the SHA-256."""
        digest = hashlib.sha256(data).hexdigest()
        path = self.path(digest)
        if path.exists():
            with suppress(OSError):
                path.touch()  # Must not look like an old unreferenced file.
            return digest
        with os_errors_as(HostError, path, "; nothing was recorded; make room and resume"):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_durably(path, data)
        return digest

    def remove(self, digest: str) -> None:
        """Remove a file if it exists. Raises OSError."""
        self.path(digest).unlink(missing_ok=True)

    def digests(self) -> Iterator[str]:
        return (path.name for path in self._folder.glob("??/*") if len(path.name) == 64)

    def sweep(self) -> None:
        """Remove killed writers' partial files. No process may be writing."""
        for partial in self._folder.glob(f"*/*{PARTIAL}"):
            partial.unlink(missing_ok=True)

    def get(self, digest: str) -> bytes:
        """Raises InputError if the file is missing or changed."""
        data = BytesIO()
        self.copy(digest, data)
        return data.getvalue()

    def copy(self, digest: str, target: IO[bytes] | None = None) -> None:
        """Check a file in pieces, and write them to `target`. Raises as `get`, and OSError of the target."""
        found = hashlib.sha256()
        with self.opened(digest) as file:
            while part := file.read(PIECE_BYTES):
                found.update(part)
                if target is not None:
                    target.write(part)
        if found.hexdigest() != digest:
            raise InputError(f"{self.path(digest)}: its SHA-256 differs from its name: it was changed or damaged")

    def opened(self, digest: str) -> BinaryIO:
        """Open a file without checking it. Raises InputError if it is missing."""
        path = self.path(digest)
        with os_errors_as(InputError, path, ", but the store refers to it"):
            return open_regular(path)

    def path(self, digest: str) -> Path:
        """Raises ValueError if `digest` is invalid."""
        return self._folder / checked_sha256(digest)[:2] / digest


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
        with self._errors():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Private in any folder.
            self._path.touch(mode=0o600, exist_ok=False)
            self._file = self._path.open("wb")
            # A killed process leaves an unlocked file.
            lock(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def write(self, chunk: bytes) -> None:
        """Raises HostError."""
        self._hash.update(chunk)
        self.size += len(chunk)
        with self._errors():
            self._file.write(chunk)

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()

    def sync(self) -> None:
        """Makes `keep` fast. Raises HostError."""
        with self._errors():
            sync_file(self._file)

    def keep(self) -> str:
        """Move the file into `Files`; return its digest. Raises HostError."""
        digest = self.digest
        target = Files(self._folder).path(digest)
        self.sync()
        with self._errors():
            target.parent.mkdir(exist_ok=True)
            self._path.replace(target)
            sync(target.parent)
            sync(self._folder)
        return digest

    def _errors(self) -> AbstractContextManager[None]:
        return os_errors_as(HostError, self._folder, "; nothing was received; make room and send it again")


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
