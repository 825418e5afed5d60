"""Values that the store takes and returns."""

import json
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field

from judge.base.errors import InputError
from judge.base.parsing import FrozenModel
from judge.journal.events import SubmissionState

_T = TypeVar("_T")

Private = Annotated[_T, Field(exclude=True)]
"""Stays in the store: no answer contains it."""


def wire_config(description: str) -> ConfigDict:
    """Of a class that answers contain; a reader ignores fields that a later judge adds."""
    return ConfigDict(
        validate_by_name=True, json_schema_extra={"additionalProperties": False, "description": description}
    )


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
    def submission(self) -> int | None:
        """Number of its submission; None for an agent of the contest's file."""
        found: int | None = json.loads(self.entry).get("submission")
        return found

    @property
    def is_active(self) -> bool:
        return self.disqualified is None and self.withdrawn is None

    @property
    def out(self) -> str | None:
        """Why its results do not count; None if they count."""
        return self.withdrawn if self.is_annulled and self.disqualified is None else self.disqualified


def cancellation(agent: str, disqualified: str | None, withdrawn: str | None) -> str:
    """Why an agent's game is cancelled."""
    return f"{agent} withdrew: {withdrawn}" if disqualified is None else f"{agent} is disqualified: {disqualified}"


ANNOUNCED = "announced"

ORGANISER = "organiser"
"""Author of an organiser's submissions on the machine."""

ENTERS = (SubmissionState.PASSED, SubmissionState.APPROVED)

MAX_CLOCK_STEP = timedelta(days=1)
"""Maximum error of a clock that is set right during a contest."""

VERSIONED_CHARACTERS = 48
"""Of a name in those of new versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One upload. `filename`, `name` and `why` are untrusted. Its author receives the fields that are not private."""

    __pydantic_config__ = wire_config("A submission.")

    id: int
    name: Annotated[str, Field(description="The agent's name; empty until it is known.")]
    """Requested, or the manifest's."""
    title: Annotated[str, Field(description="The agent's display name; empty: its name.")] = ""
    version: Annotated[int | None, Field(description="The agent's version; null until the submission is processed.")]
    """Counts from 1 per name."""
    filename: str
    upload: Annotated[str, Field(alias="sha256")]
    """SHA-256 of the file."""
    size: Annotated[int, Field(description="The size in bytes.")]
    received_at: str
    state: SubmissionState
    why: Annotated[str, Field(description="The reason of a refusal or of an organiser's decision.")]
    due_at: Annotated[
        str | None, Field(alias="again_at", description="When it is processed again after a failure of the host.")
    ]
    author: Private[str] = ""
    attempt: Private[int] = 0
    digest: Private[str | None] = None
    agent: Private[str | None] = None
    log: Private[str | None] = None
    report: Private[str | None] = None

    @property
    def is_over(self) -> bool:
        """Whether its state can change only by an order or a withdrawal."""
        if self.state is SubmissionState.FAILED:
            return self.due_at is None
        return self.state not in (SubmissionState.RECEIVED, SubmissionState.PROCESSING)


class UploadLimits(FrozenModel):
    """Limits of an author's uploads; 0: no limit."""

    author_bytes: int = Field(default=2 << 30, ge=0)
    """Total size of an author's uploads, which are all kept."""
    uploads_per_hour: int = Field(default=12, ge=0)
    waiting_per_author: int = Field(default=3, ge=0)
    """Uploads of one author that wait for processing."""
    waiting: int = Field(default=200, ge=0)
    """Uploads of all authors that wait for processing."""


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

    __pydantic_config__ = wire_config("A step of processing a submission.")

    stage: str
    ok: bool
    text: str
    seconds: float
    attempt: Private[int] = 0


@dataclass(frozen=True, slots=True)
class Change:
    """A line of a submission's journal."""

    __pydantic_config__ = wire_config("A change of the state of a submission.")

    at: str
    who: str
    state: SubmissionState
    why: str


class NotFoundError(InputError):
    """Nothing has this number or name."""


class SubmissionsChangedError(InputError):
    """Submissions changed since the entries were read."""


class NotNowError(InputError):
    """The submission's state does not allow it."""


class NameTakenError(InputError):
    """Another author's agent has this name."""


class TooMuchError(InputError):
    """A limit is reached for `retry_s` seconds; 0: until the author or organiser acts."""

    def __init__(self, text: str, retry_s: int) -> None:
        super().__init__(text)
        self.retry_s = retry_s
