"""What goes into the register of submissions and what comes out of it: plain values."""

from dataclasses import dataclass
from enum import StrEnum

from judge.base.errors import InputError


class State(StrEnum):
    """The state of a submission. Only one that passed, or that an organiser approved, becomes an entry."""

    RECEIVED = "received"
    """On disk, waiting for its turn: nobody has looked into it yet."""
    PROCESSING = "processing"
    FAILED = "failed"
    """The host failed, not the author: it is tried again at the given time, or by the organiser if there is none."""
    REFUSED = "refused"
    PASSED = "passed"
    APPROVED = "approved"
    """Refused by the check, then accepted by the organiser, whose reason is stored."""
    WITHDRAWN = "withdrawn"


ENTERS = (State.PASSED, State.APPROVED)


@dataclass(frozen=True, slots=True)
class Submission:
    """One upload. The author's own words (`filename`, `name`) and the reason (`why`) are as hostile as the author."""

    id: int
    author: str
    name: str
    """The name that the author asked for, or else that of the manifest; empty until that is known."""
    version: int | None
    """Counts what came under this name, from 1; None until it has been processed."""
    filename: str
    upload: str
    """SHA-256 of the file."""
    size: int
    received_at: str
    state: State
    why: str
    attempt: int
    """How often it was taken up, and by that which processing is current."""
    due_at: str | None
    """When a submission that failed, or that waits for something the host lacks, is tried again."""
    digest: str | None
    """The digest of the agent that was made of it."""
    agent: str | None
    """JSON of what a contest has to know of the agent."""
    log: str | None
    report: str | None


@dataclass(frozen=True, slots=True)
class Upload:
    """What comes in: already on disk under the digest `upload`."""

    author: str
    name: str
    filename: str
    upload: str
    size: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """What an author may have in the register; 0 bounds nothing."""

    uploads_per_hour: int = 0
    waiting: int = 0
    """Of one author, waiting or being processed."""
    waiting_of_all: int = 0
    bytes_kept: int = 0


@dataclass(frozen=True, slots=True)
class ProcessingResult:
    """The result of processing: passed if `refusal` is empty. Log and report are digests of files on disk."""

    refusal: str
    name: str
    digest: str | None
    agent: str | None
    log: str | None
    report: str | None


@dataclass(frozen=True, slots=True)
class UploadStep:
    """A stage of the processing: whether it succeeded, and a sentence about it, safe to show."""

    stage: str
    ok: bool
    text: str
    seconds: float
    attempt: int = 0
    """The attempt that the register has it under."""


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
    """It cannot be done to a submission in its state."""


class NameTakenError(InputError):
    """The agent's name is another author's."""


class TooMuchError(InputError):
    """An allowance is used up, for `retry_s` seconds; 0: until the author or the organiser does something."""

    def __init__(self, text: str, retry_s: int) -> None:
        super().__init__(text)
        self.retry_s = retry_s
