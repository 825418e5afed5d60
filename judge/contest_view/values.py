"""Values of a contest's view, and of its games' records. Workers import them: they need no database."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from judge.base.text import sentence
from judge.contest_games import GameConditions, Outcome, SeatOutcome

if TYPE_CHECKING:
    from judge.record.seeds import Key
    from judge.record.spec import GameRecord, RecordFile
    from judge.tournament.snapshot import Snapshot, SnapshotEntry


@dataclass(frozen=True, slots=True)
class Participant:
    """An agent. `number` counts from 1. `out`: why its results do not count; `withdrawn`: why it withdrew; or empty."""

    number: int
    entry: SnapshotEntry
    out: str = ""
    withdrawn: str = ""

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def title(self) -> str:
        """Display name."""
        return self.entry.title or self.entry.name

    @property
    def stem(self) -> str:
        """File name of its page without extension: digits."""
        return f"{self.number:03d}"


@dataclass(frozen=True, slots=True)
class Stream:
    """Makes a page update itself: the event log's name and the page's last event.

    `is_static`: events are files next to the pages. `has_authors`: author pages exist. `is_final`: the contest is over;
    pages request no events.
    """

    log: str
    seq: str
    is_static: bool = False
    has_authors: bool = False
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Ending:
    """`began` and `ended` are empty without a journal."""

    winners: Sequence[str]
    points: float
    began: str
    ended: str


@dataclass(frozen=True, slots=True)
class FirstMove:
    """In percent, with the 95 % interval."""

    games: int
    share: float
    low: float
    high: float


def minute(at: str) -> str:
    """A moment without its seconds."""
    return at[:16].replace("T", ", ")


def chance_words(snapshot: Snapshot, secret: Key | None) -> str:
    """Source of randomness in words; `secret` is None until revealed."""
    if snapshot.commitment is None:
        seed = snapshot.seed
        return sentence(f"fixed by the organiser: seed {seed}; all random choices are predictable")
    if secret is None and snapshot.withholding is not None:
        return sentence(f"secret until all results are public; its SHA-256 is {snapshot.commitment}")
    if secret is None:
        return sentence(f"secret until the contest is over; its SHA-256 is {snapshot.commitment}")
    return sentence(f"revealed: {secret}; its SHA-256, {snapshot.commitment}, was published from the start")


def folder_words(names: Sequence[str], begun: Collection[str], source: str, strangers: Sequence[str] = ()) -> str:
    """Describe the initial persistent folders; `begun`: agents with non-empty ones."""
    if not source:
        return sentence("the agents' persistent folders begin empty")
    words = [sentence(f"the agents' persistent folders begin with those of {source}")]
    words.append(", ".join(name for name in names if name in begun) or "none")
    if empty := [name for name in names if name not in begun]:
        words.append(sentence(f"empty: {', '.join(empty)}"))
    if strangers:
        words.append(sentence(f"without an agent here: {', '.join(strangers)}"))
    return "; ".join(words)


def conditions_of(record: GameRecord) -> GameConditions:
    """A game's host, slot and time."""
    place, began = record.placement, datetime.fromisoformat(record.started_at)
    slot = ",".join(map(str, place.slot_cores))
    return GameConditions(place.host, slot, began.timestamp(), record.seconds, f"{began.hour:02d}")


def outcome_of(file: RecordFile, digest: str) -> Outcome:
    """An attempt's outcome; `digest` is the record's."""
    record = file.record
    replies = [ply.seat for ply in record.plies]
    first, second = (
        SeatOutcome(seat.fault, replies.count(number), seat.charged_ms) for number, seat in enumerate(record.seats)
    )
    return Outcome(
        record.verdict.value,
        record.winner,
        record.result,
        record.reason,
        digest,
        record.seconds,
        (first, second),
        moves=moves_of(record),
    )


def moves_of(record: GameRecord) -> str:
    """See `GameResult.moves`. White space within answers does not count."""
    answers = [[ply.seat, " ".join(ply.said.split())] for ply in record.plies]
    content = [record.spec.opening, answers, record.verdict.value, record.winner, record.result]
    return hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()
