"""Value types that the store returns."""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum


class FileKind(StrEnum):
    """Kind of a file copy in the database."""

    FILE = "file"
    """A record or a folder state, with the SHA-256 of the data."""
    AGENT = "agent"
    """An agent's files as a tar file, with the agent's digest."""


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An agent and its initial rank; `entry` is JSON with the digest of its files."""

    name: str
    rank: int
    entry: str
    disqualified: str | None = None


@dataclass(frozen=True, slots=True)
class JournalLine:
    """A line of the contest's journal."""

    at: str
    event: str
    game: str | None
    attempt: int | None
    text: str
    digest: str | None = None
    """SHA-256 of the subject: a record's public part, a document, an upload, a schedule."""
    number: int | None = None
    """Leaf number in the contest's log, from 0; None without a log."""
    who: str | None = None
    """The organiser who gave the order, not published; None if unknown or automatic."""

    @property
    def leaf(self) -> bytes:
        """The leaf: ASCII JSON with sorted keys, without spaces; the text is replaced by its digest."""
        values = {
            "at": self.at,
            "attempt": self.attempt,
            "digest": self.digest,
            "event": self.event,
            "match": self.game,
            "text_sha256": hashlib.sha256(self.text.encode()).hexdigest(),
        }
        return json.dumps(values, sort_keys=True, separators=(",", ":")).encode()


ANNOUNCED = "announced"
"""State of a contest that has a log but has not begun, and the event of the log's first leaf."""

FROZEN = "frozen"
"""Event that locks in the entries before the draw."""

UNWITNESSED = "unwitnessed"
"""Event that names, before the draw, a witness of the draw that did not sign, with the reason."""
