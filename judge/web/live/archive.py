"""The newest signed export of the final results, as one archive."""

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from judge.base.errors import InputError
from judge.base.tree_tar import tree_chunks
from judge.publish.kept_exports import kept_exports
from judge.publish.manifest import MANIFEST, SIGNATURE, file_names, read_signed_manifest

ARCHIVE = "export.tar.gz"

RESULTS = ("data/games.csv", "data/standings.csv")
"""An export with other results is outdated."""

_PIECE_BYTES = 1 << 18
_GZIP = 16 + zlib.MAX_WBITS


class Exports:
    """Exports below `exports/` of a contest's folder."""

    def __init__(self, folder: Path, key: Ed25519PublicKey) -> None:
        self._folder = folder
        self._key = key
        self._results: dict[tuple[Path, int], list[str]] = {}

    def newest_first(self) -> Sequence[tuple[Path, Sequence[str]]]:
        """Exports and the SHA-256 of their `RESULTS`."""
        found = kept_exports(self._folder)
        self._results = {
            key: self._results.get(key) or self._read(key[0]) for key in [(path, at) for at, path in found]
        }
        return [(path, self._results[path, at]) for at, path in found]

    def _read(self, directory: Path) -> list[str]:
        try:
            files = read_signed_manifest(directory, self._key).files
        except InputError:
            return ["unsigned"]
        listed = {file.path: file.sha256 for file in files}
        return [listed.get(name, "") for name in RESULTS]

    def packed(self, directory: Path, name: str) -> Iterator[bytes]:
        """Compressed tar stream of the files in the manifest. Raises InputError if one is missing."""
        listed = {file.path for file in read_signed_manifest(directory, self._key).files} | {MANIFEST, SIGNATURE}
        if missing := listed - set(file_names(directory, [])):
            raise InputError(f"{directory}: {min(missing)} is missing; export again")
        return _compressed(tree_chunks(directory, name, listed))


def _compressed(chunks: Iterator[bytes]) -> Iterator[bytes]:
    packer, waiting = zlib.compressobj(wbits=_GZIP), bytearray()
    for chunk in chunks:
        waiting += packer.compress(chunk)
        if len(waiting) >= _PIECE_BYTES:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting) + packer.flush()
