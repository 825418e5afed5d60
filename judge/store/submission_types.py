"""Values of the register of submissions."""

import json
from dataclasses import dataclass
from enum import StrEnum

from judge.base.errors import InputError


class State(StrEnum):
    """State of a submission. Passed and approved ones become entries."""

    RECEIVED = "received"
    """On disk and not yet read."""
    PROCESSING = "processing"
    FAILED = "failed"
    """Host failure: retried at `due_at` or by the organiser."""
    REFUSED = "refused"
    PASSED = "passed"
    APPROVED = "approved"
    """Refused by the check, then accepted by the organiser."""
    WITHDRAWN = "withdrawn"


ORGANISER = "organiser"
"""Author of an organiser's submissions on the machine."""

ENTERS = (State.PASSED, State.APPROVED)

TITLE = "title"
"""Key of the display name in `Submission.agent`."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One upload. `filename`, `name` and `why` are untrusted."""

    id: int
    author: str
    name: str
    """Requested, or the manifest's; empty until known."""
    version: int | None
    """Counts from 1 per name; None until processed."""
    filename: str
    upload: str
    """SHA-256 of the file."""
    size: int
    received_at: str
    state: State
    why: str
    attempt: int
    due_at: str | None
    digest: str | None
    agent: str | None
    log: str | None
    report: str | None

    @property
    def title(self) -> str:
        """Display name chosen by the author, or empty."""
        return title_of(self.agent)


def title_of(agent: str | None) -> str:
    """The display name in a submission's `agent`."""
    return str(json.loads(agent).get(TITLE, "")) if agent else ""


@dataclass(frozen=True, slots=True)
class Upload:
    """A received file, stored under the digest `upload`."""

    author: str
    name: str
    filename: str
    upload: str
    size: int


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
    """Passed if `refusal` is empty. Log and report are digests of files."""

    refusal: str
    name: str
    digest: str | None
    agent: str | None
    log: str | None
    report: str | None


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
    state: State
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
