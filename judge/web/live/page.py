"""A file as the service sends it: its bytes, its type, and the number of the last event that it shows."""

import gzip
import secrets
from dataclasses import dataclass

SEQ = f"@seq-{secrets.token_hex(16)}@"
"""Placeholder in a page for the number of the last event that it shows; random, so no agent can print it."""

GZIP_LEVEL = 1
"""A page of 64 boards becomes a tenth of its size by it, in a few milliseconds."""


@dataclass(slots=True)
class LivePage:
    """A file as it is sent: its bytes, its type, and whether it can be stored by whoever asks for it.

    `seq` is the last event that it shows; None: it shows all that there were when it is sent.
    """

    data: bytes
    kind: str
    is_fixed: bool = False
    seq: int | None = None
    _packed: bytes | None = None

    def packed(self, seq: int) -> bytes:
        """The bytes with that number, compressed."""
        if self._packed is None or self.seq is None:
            self._packed = gzip.compress(self.numbered(seq), GZIP_LEVEL, mtime=0)
        return self._packed

    def numbered(self, seq: int) -> bytes:
        """The bytes with that number, or with the page's own."""
        return numbered(self.data, self.kind, seq if self.seq is None else self.seq)


def numbered(data: bytes, kind: str, seq: int) -> bytes:
    """A page with that number; any other file, such as a record, unchanged."""
    return data.replace(SEQ.encode(), str(seq).encode(), 1) if kind.startswith("text/html") else data


_KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}


def kind_of(path: str) -> str:
    """The type of a file by its ending."""
    return _KINDS.get(path.rpartition(".")[2], "application/octet-stream")
