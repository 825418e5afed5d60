"""A file as the service sends it: its bytes, its type, and the number of the last event that it shows."""

import gzip
from dataclasses import dataclass

SEQ = "@seq@"
"""Where a page has the number of the last event that it shows."""

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
        number = seq if self.seq is None else self.seq
        return (
            self.data.replace(SEQ.encode(), str(number).encode(), 1) if self.kind.startswith("text/html") else self.data
        )


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
