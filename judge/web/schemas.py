"""The intake's JSON responses, without data for organisers only. Needs no `web` extra."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from judge.base.parsing import FailFastList
from judge.contest_games import GameState
from judge.journal.events import SubmissionState
from judge.store.practice_games import PracticeGame
from judge.store.types import Change, Submission, UploadStep, wire_config
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Received(Submission):
    """A submission with the receipt for its bytes."""

    __pydantic_config__ = wire_config("A submission with the receipt for its bytes.")

    receipt: Annotated[
        Receipt | None,
        Field(
            description="Keep it: with it judge contest verify --receipt proves that the log still has the upload. "
            "Null if the organiser's key is not there."
        ),
    ]
    is_repeated: Annotated[
        bool,
        Field(
            description="You submitted these bytes before, and that submission waits or takes part; nothing was stored."
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail(Received):
    """A submission with its steps and its journal."""

    __pydantic_config__ = wire_config("A submission with its steps and its journal.")

    steps: Annotated[FailFastList[UploadStep], Field(description="The steps of the current or last attempt.")]
    journal: FailFastList[Change]


class Page(JsonAnswer):
    """Submissions, newest first."""

    submissions: FailFastList[Submission]
    before: int | None = Field(description="The value of `before` for the next page; null on the last page.")


class PracticePage(JsonAnswer):
    """Practice games and challenges of a submission, the last one first."""

    games: FailFastList[PracticeGame]


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


# --- the author's view -----------------------------------------------------------------------------------------------

HOST_FAILED = "the judge's host failed; this does not count against the submission"


def author_view(submission: Submission) -> Submission:
    """The author's view of a submission."""
    return replace(submission, why=shown_reason(submission.state, submission.why))


def public_values(submission: Submission) -> dict[str, Any]:
    """The fields of the author's view."""
    shown = author_view(submission)
    return {each.name: getattr(shown, each.name) for each in fields(Submission)}


def shown_reason(state: SubmissionState, why: str) -> str:
    """A state's reason, without host failures."""
    return HOST_FAILED if state is SubmissionState.FAILED else why


def practice_page(games: Sequence[PracticeGame]) -> PracticePage:
    """Practice games."""
    return PracticePage(games=[replace(game, why=practice_reason(game)) for game in games])


def practice_reason(game: PracticeGame) -> str:
    """Why a game is not over, without host failures."""
    if game.state in (GameState.CANCELLED, GameState.DONE) or not game.failures:
        return game.why
    return HOST_FAILED
