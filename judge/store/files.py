"""Records by the digest of what they hold: written before the row that names them, never changed, never half there."""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from judge.base.durable_files import PARTIAL, write_durably
from judge.base.errors import HostError, InputError


class Files:
    """A folder of files, each named by its SHA-256."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> str:
        """Write `data`, and return its SHA-256; it is on disk, under that name, when this returns."""
        digest = hashlib.sha256(data).hexdigest()
        path = self.path(digest)
        if path.exists():
            with suppress(OSError):
                path.touch()  # it is in use, so it is not an old file that nothing names
            return digest
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_durably(path, data)
        except OSError as error:
            raise HostError(f"{path}: {error.strerror}; nothing was recorded, make room and go on") from None
        return digest

    def remove(self, digest: str) -> None:
        """Remove the file of a digest, if it is there. Raises OSError."""
        self.path(digest).unlink(missing_ok=True)

    def digests(self) -> Iterator[str]:
        """The digests of the files that are here."""
        return (path.name for path in self._folder.glob("??/*") if len(path.name) == 64)

    def sweep(self) -> None:
        """Remove half-written files of writers that were killed; nobody may be writing meanwhile."""
        for partial in self._folder.glob(f"*/*{PARTIAL}"):
            partial.unlink(missing_ok=True)

    def get(self, digest: str) -> bytes:
        """The bytes of a digest. Raises InputError if the file is missing or was changed."""
        path = self.path(digest)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}: the store names it") from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise InputError(f"{path}: its contents are not those of its name: it was changed or damaged")
        return data

    def path(self, digest: str) -> Path:
        """The path of a digest's file. Raises ValueError for text that is not a digest."""
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise ValueError(f"not a SHA-256: {digest[:80]!r}")
        return self._folder / digest[:2] / digest
