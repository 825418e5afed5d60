"""Files by digest, written before the row that names them, never changed."""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from judge.base.durable_files import PARTIAL, write_durably
from judge.base.errors import HostError, InputError


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
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_durably(path, data)
        except OSError as error:
            raise HostError(f"{path}: {error.strerror}; nothing was recorded; make room and resume") from None
        return digest

    def remove(self, digest: str) -> None:
        """Remove a file if it exists. Raises OSError."""
        self.path(digest).unlink(missing_ok=True)

    def digests(self) -> Iterator[str]:
        """Digests of the existing files."""
        return (path.name for path in self._folder.glob("??/*") if len(path.name) == 64)

    def sweep(self) -> None:
        """Remove killed writers' partial files. No process may be writing."""
        for partial in self._folder.glob(f"*/*{PARTIAL}"):
            partial.unlink(missing_ok=True)

    def get(self, digest: str) -> bytes:
        """Raises InputError if the file is missing or changed."""
        path = self.path(digest)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}, but the store refers to it") from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise InputError(f"{path}: its SHA-256 differs from its name: it was changed or damaged")
        return data

    def path(self, digest: str) -> Path:
        """Raises ValueError if `digest` is invalid."""
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise ValueError(f"not a SHA-256: {digest[:80]!r}")
        return self._folder / digest[:2] / digest
