"""The intake's JSON responses. Needs no `web` extra."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from judge.base.parsing import FailFastList
from judge.contest_games import GameState
from judge.journal.events import SubmissionState
from judge.submissions.service import (
    AGENT_NAME,
    FILENAME,
    MAX_FILENAME_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    check_filename,
    check_name,
    check_title,
)
from judge.transparency.receipt import Receipt


class JsonAnswer(BaseModel):
    """An answer with these fields. A reader ignores those that a later judge adds."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})


class UploadQuery(BaseModel):
    """Parameters of an upload. Raises InputError."""

    filename: str = Field(
        max_length=MAX_FILENAME_CHARACTERS,
        pattern=FILENAME,
        description="The name of the file; its ending determines its type. Printable characters, no path.",
    )
    name: str = Field(
        "", pattern=f"^({AGENT_NAME})?$", description="The agent's name; if empty, the name in its manifest."
    )
    title: str = Field(
        "",
        max_length=MAX_TITLE_CHARACTERS,
        pattern=r"^[^\x00-\x1f\x7f-\x9f]*$",
        description="The display name, of printable characters in any script; if empty, that of the last version.",
    )

    @field_validator("filename", "name", "title", mode="before")
    @classmethod
    def _check(cls, text: str, info: ValidationInfo) -> str:
        # InputError passes through pydantic.
        return _CHECKS[str(info.field_name)](text)


_CHECKS = {"filename": check_filename, "name": check_name, "title": check_title}


class Problem(JsonAnswer):
    """Why the request was refused, with the fix."""

    error: str


class StepInfo(JsonAnswer):
    """A step of processing a submission."""

    stage: str
    ok: bool
    text: str
    seconds: float


class JournalEvent(JsonAnswer):
    """A change of the state of a submission."""

    at: str
    who: str
    state: SubmissionState
    why: str


class Summary(JsonAnswer):
    """A submission."""

    id: int
    name: str = Field(description="The agent's name; empty until it is known.")
    title: str = Field("", description="The agent's display name; empty: its name.")
    version: int | None = Field(description="The agent's version; null until the submission is processed.")
    filename: str
    sha256: str
    size: int = Field(description="The size in bytes.")
    received_at: str
    state: SubmissionState
    why: str = Field(description="The reason of a refusal or of an organiser's decision.")
    again_at: str | None = Field(description="When it is processed again after a failure of the host.")

    @property
    def is_over(self) -> bool:
        """Whether its state can change only by an order or a withdrawal."""
        if self.state is SubmissionState.FAILED:
            return self.again_at is None
        return self.state not in (SubmissionState.RECEIVED, SubmissionState.PROCESSING)


class Received(Summary):
    """A submission with the receipt for its bytes."""

    receipt: Receipt | None = Field(
        description="Keep it: with it judge contest verify --receipt proves that the log still has the upload. "
        "Null if the organiser's key is not there."
    )
    is_repeated: bool = Field(
        default=False,
        description="You submitted these bytes before, and that submission waits or takes part; nothing was stored.",
    )


class Detail(Received):
    """A submission with its steps and its journal."""

    steps: FailFastList[StepInfo] = Field(description="The steps of the current or last attempt.")
    journal: FailFastList[JournalEvent]


class Page(JsonAnswer):
    """Submissions, newest first."""

    submissions: FailFastList[Summary]
    before: int | None = Field(description="The value of `before` for the next page; null on the last page.")


class PracticeInfo(JsonAnswer):
    """A practice game of a submission against a house agent, or a challenge; it counts for nothing."""

    id: int
    state: GameState
    why: str = Field(description="Why it is not played yet; the host's failures are in the organiser's log.")
    agent: str
    challenged: str = Field("", description="The opponent that you chose; empty for a practice game.")
    opponent: str = Field(description="Empty until a practice game is over, as all that follows.")
    seat: int = Field(description="The agent's: 0 moves first.")
    verdict: str
    winner: int | None = Field(description="A seat.")
    reason: str
    seconds: float | None


class PracticePage(JsonAnswer):
    """Practice games and challenges of a submission, the last one first."""

    games: FailFastList[PracticeInfo]


class Log(JsonAnswer):
    """The log of unpacking, building and checking. It contains output of the submitted programs."""

    log: str


class Uploads(JsonAnswer):
    """What may be submitted."""

    about: str
    bytes: int
    per_hour: int
    waiting: int


class ContestInfo(JsonAnswer):
    """The contest, and what may be submitted."""

    name: str
    has_begun: bool = Field(description="If true, new submissions do not play, unless `joins_later`.")
    joins_later: bool = Field(False, description="A ladder: submissions that pass join it until its season ends.")
    policy: str
    about: str
    game: dict[str, Any]
    protocol: str
    clock: dict[str, Any]
    limits: dict[str, Any]
    folders: dict[str, Any]
    runtimes: FailFastList[str]
    uploads: Uploads
    opens: datetime | None = Field(None, description="Before it no submissions are taken.")
    closes: datetime | None = Field(None, description="From it on no submissions are taken.")
    starts: datetime | None = Field(None, description="When the contest begins by itself.")


class Health(JsonAnswer):
    """The service and its store answer."""

    ok: bool
