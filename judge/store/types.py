"""Values that the store returns."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import cached_property

from judge.base.errors import InputError
from judge.base.parsing import canonical_json, parse
from judge.journal.codec import Event, Line, decode
from judge.journal.events import SubmissionState
from judge.journal.sentences import text_of
from judge.journal.state import ContestState


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
    def title(self) -> str:
        """Display name, or empty."""
        return str(json.loads(self.entry).get("title", ""))

    @property
    def is_active(self) -> bool:
        return self.disqualified is None and self.withdrawn is None

    @property
    def out(self) -> str | None:
        """Why its results do not count; None if they count."""
        return self.withdrawn if self.is_annulled and self.disqualified is None else self.disqualified


@dataclass(frozen=True)
class JournalLine:
    """A line of the journal."""

    at: str
    event: str
    game: str | None
    attempt: int | None
    data: str
    """The other fields of the event (`judge.journal.codec`)."""
    digest: str | None = None
    """SHA-256 of a record's public part, a document, an upload, a schedule."""
    number: int | None = None
    """Leaf number, from 0; None without a log."""
    who: str | None = None
    """The order's organiser, not published, if known."""

    @cached_property
    def change(self) -> Event:
        return decode(Line(self.event, self.data, self.game, self.attempt))

    @property
    def text(self) -> str:
        """The sentence of the event in English."""
        return text_of(self.change)

    @property
    def leaf(self) -> bytes:
        """Canonical JSON of the line."""
        before = canonical_json({"at": self.at, "attempt": self.attempt})
        after = canonical_json({"digest": self.digest, "event": self.event, "game": self.game})
        return f'{before[:-1]},"data":{self.data},{after[1:]}'.encode()


def read_leaf(leaf: bytes) -> JournalLine | None:
    """The line of a leaf; None if no line has this leaf."""
    try:
        values = json.loads(leaf)
        line = parse(JournalLine, {**values, "data": canonical_json(values["data"])}, "a leaf")
        return line if line.leaf == leaf else None
    except (InputError, ValueError, TypeError, KeyError, RecursionError):
        return None


def state_after(lines: Iterable[JournalLine]) -> ContestState:
    """A contest after these lines of its journal."""
    state = ContestState()
    for line in lines:
        state.apply(line.change, line.digest)
    return state


def cancellation(agent: str, disqualified: str | None, withdrawn: str | None) -> str:
    """Why an agent's game is cancelled."""
    return f"{agent} withdrew: {withdrawn}" if disqualified is None else f"{agent} is disqualified: {disqualified}"


ANNOUNCED = "announced"
"""State before the contest begins."""

ORGANISER = "organiser"
"""Author of an organiser's submissions on the machine."""

ENTERS = (SubmissionState.PASSED, SubmissionState.APPROVED)

MAX_CLOCK_STEP = timedelta(days=1)
"""Maximum error of a clock that is set right during a contest."""

VERSIONED_CHARACTERS = 48
"""Of a name in those of new versions."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One upload. `filename`, `name` and `why` are untrusted."""

    id: int
    author: str
    name: str
    """Requested, or the manifest's; empty until known."""
    version: int | None
    """Counts from 1 per name; None until processed."""
    title: str
    """Display name, or empty."""
    filename: str
    upload: str
    """SHA-256 of the file."""
    size: int
    received_at: str
    state: SubmissionState
    why: str
    attempt: int
    due_at: str | None
    digest: str | None
    agent: str | None
    log: str | None
    report: str | None


@dataclass(frozen=True, slots=True)
class Upload:
    """A received file, stored under the digest `upload`."""

    author: str
    name: str
    filename: str
    upload: str
    size: int
    title: str = ""
    """Empty: the last version's."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """An author's limits; 0: unlimited."""

    uploads_per_hour: int = 0
    waiting: int = 0
    """Per author."""
    waiting_of_all: int = 0
    bytes_kept: int = 0


@dataclass(frozen=True, slots=True)
class ProcessingResult:
    """Passed if `refusal` is empty. Log and report are digests of files. `title`: used if the author gave none."""

    refusal: str
    name: str
    digest: str | None
    agent: str | None
    log: str | None
    report: str | None
    title: str = ""


@dataclass(frozen=True, slots=True)
class UploadStep:
    """Stage, success, and a sentence safe to show."""

    stage: str
    ok: bool
    text: str
    seconds: float
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """A line of a submission's journal."""

    at: str
    who: str
    state: SubmissionState
    why: str


class UnknownSubmissionError(InputError):
    """No submission has this number."""


class UnknownPracticeGameError(UnknownSubmissionError):
    """No practice game has this number."""


class NotNowError(InputError):
    """The submission's state does not allow it."""


class NameTakenError(InputError):
    """Another author's agent has this name."""


class TooMuchError(InputError):
    """A limit is reached for `retry_s` seconds; 0: until the author or organiser acts."""

    def __init__(self, text: str, retry_s: int) -> None:
        super().__init__(text)
        self.retry_s = retry_s
