"""Value types that the store returns."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum


class FileKind(StrEnum):
    """Kind of a file copy."""

    FILE = "file"
    """A record or a folder state."""
    AGENT = "agent"
    """Tar file under the agent's digest."""


@dataclass(frozen=True, slots=True)
class EntryRow:
    """Initial rank; `entry` is JSON with the digest of the agent's files."""

    name: str
    rank: int
    entry: str
    disqualified: str | None = None
    withdrawn: str | None = None
    is_annulled: bool = False
    """Whether its results do not count because it withdrew."""

    @property
    def is_active(self) -> bool:
        """Whether it takes part."""
        return self.disqualified is None and self.withdrawn is None

    @property
    def out(self) -> str | None:
        """Why its results do not count; None if they count."""
        return self.withdrawn if self.is_annulled and self.disqualified is None else self.disqualified


@dataclass(frozen=True, slots=True)
class JournalLine:
    """A line of the journal."""

    at: str
    event: str
    game: str | None
    attempt: int | None
    text: str
    digest: str | None = None
    """SHA-256 of a record's public part, a document, an upload, a schedule."""
    number: int | None = None
    """Leaf number, from 0; None without a log."""
    who: str | None = None
    """The order's organiser, not published; None if unknown or automatic."""

    @property
    def leaf(self) -> bytes:
        """ASCII JSON with sorted keys, without spaces; the text is replaced by its digest."""
        values = {
            "at": self.at,
            "attempt": self.attempt,
            "digest": self.digest,
            "event": self.event,
            "match": self.game,
            "text_sha256": hashlib.sha256(self.text.encode()).hexdigest(),
        }
        return json.dumps(values, sort_keys=True, separators=(",", ":")).encode()


def cancellation(agent: str, disqualified: str | None, withdrawn: str | None) -> str:
    """Why an agent's game is cancelled."""
    return f"{agent} withdrew: {withdrawn}" if disqualified is None else f"{agent} is disqualified: {disqualified}"


def season_end_text(ends: datetime) -> str:
    """Text of `SEASON_ENDED` at the moment set by the terms."""
    return f"{ends.astimezone(UTC):%Y-%m-%d %H:%M:%S UTC}"


WITHDRAWN = "agent-withdrawn"
"""Event: an agent withdrew after the start; `withdrawn` is an event of submissions."""

RATED = "rated"
"""Event: a ladder agent's rating is certain enough to be reported."""

SEASON_ENDED = "season-ended"
"""Event: no further game of a ladder is drawn. Its text is the organiser's reason, or `season_end_text`."""

ADMISSIONS_FROZEN, ADMISSIONS_REOPENED = "admissions-frozen", "admissions-reopened"
"""Events: between them no agent enters a ladder."""

ANNOUNCED = "announced"
"""State before the contest begins, and first event of its log."""

FROZEN = "frozen"

UNWITNESSED = "unwitnessed"
"""Names a witness of the draw that did not sign, with the reason."""
