"""What goes into the store and what comes out of it: plain values."""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum


class FileKind(StrEnum):
    """What a copy of a file in the database is of."""

    FILE = "file"
    """A record, or the state of a folder: the digest is the SHA-256 of the data."""
    AGENT = "agent"
    """The files of an agent as a tar file; the digest is the agent's."""


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An agent that takes part, and its rank before play; `entry` is JSON that names its files by digest."""

    name: str
    rank: int
    entry: str
    disqualified: str | None = None


@dataclass(frozen=True, slots=True)
class JournalLine:
    """A line of the contest's log."""

    at: str
    event: str
    game: str | None
    attempt: int | None
    text: str
    digest: str | None = None
    """SHA-256 of what the line is about: the public part of a record, a document, an upload, a schedule."""
    number: int | None = None
    """Of the line's leaf in the contest's log, from 0; None if the contest has no log."""
    who: str | None = None
    """The organiser whose order it tells of; not published. None: nobody's, or a judge's that did not know."""

    @property
    def leaf(self) -> bytes:
        """The leaf: JSON with sorted keys, without spaces, in ASCII; of the text its digest, so it is short."""
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
"""The state of a contest that has a log and, unless its seed is fixed, a secret, and that has not begun; and the event
that is the first leaf of its log."""

FROZEN = "frozen"
"""The event that fixes who takes part, before anything is drawn."""

UNWITNESSED = "unwitnessed"
"""The event that tells, before anything is drawn, which witness of the draw did not sign the log, and why."""
