"""The answers of the intake, as its OpenAPI describes them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from judge.matches import MatchState
from judge.store.practice_games import PracticeGame
from judge.store.submission_types import Change, State, Submission, UploadStep
from judge.transparency.receipt import Receipt
from judge.web.kit.answers import JsonAnswer

HOST_FAILED = "the judge's host failed; this does not count against the submission"


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
    state: State
    why: str


class Summary(JsonAnswer):
    """A submission."""

    id: int
    name: str = Field(description="The agent's name; empty until it is known.")
    version: int | None = Field(description="The agent's version; null until the submission is processed.")
    filename: str
    sha256: str
    size: int = Field(description="The size in bytes.")
    received_at: str
    state: State
    why: str = Field(description="The reason of a refusal, or of an organiser's decision.")
    again_at: str | None = Field(description="When it is processed again after a failure of the host.")


class Received(Summary):
    """A submission with the receipt for its bytes."""

    receipt: Receipt | None = Field(
        description="Keep it: with it judge contest verify --receipt proves that the log still has the upload. "
        "Null if the organiser's key is not there."
    )


class Detail(Received):
    """A submission with its steps and its journal."""

    steps: list[StepInfo] = Field(description="The steps of the current or last attempt.")
    journal: list[JournalEvent]


class Page(JsonAnswer):
    """Submissions, newest first."""

    submissions: list[Summary]
    before: int | None = Field(description="The value of `before` for the next page; null on the last page.")


class PracticeInfo(JsonAnswer):
    """A practice game of a submission against a house agent; it counts for nothing."""

    id: int
    state: MatchState
    why: str = Field(description="Why it is not played yet; the host's failures are in the organiser's log.")
    agent: str
    opponent: str = Field(description="Empty until it is over, as all that follows.")
    seat: int = Field(description="The agent's: 0 moves first.")
    verdict: str
    winner: int | None = Field(description="A seat.")
    reason: str
    seconds: float | None


class PracticePage(JsonAnswer):
    """The practice games of a submission, the last one first."""

    games: list[PracticeInfo]


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
    has_begun: bool = Field(description="If true, the entries are frozen, and new submissions do not play.")
    policy: str
    about: str
    game: dict[str, Any]
    protocol: str
    clock: dict[str, Any]
    limits: dict[str, Any]
    folders: dict[str, Any]
    runtimes: list[str]
    uploads: Uploads
    opens: datetime | None = Field(None, description="Before it no submissions are taken.")
    closes: datetime | None = Field(None, description="From it on no submissions are taken.")
    starts: datetime | None = Field(None, description="When the contest begins by itself.")


class Health(JsonAnswer):
    """The service and its store answer."""

    ok: bool


def summary(submission: Submission) -> Summary:
    """A submission as its author sees it, without the causes of host failures."""
    return Summary(**_fields(submission))


def received(submission: Submission, receipt: Receipt | None) -> Received:
    """A submission that was received just now."""
    return Received(**_fields(submission), receipt=receipt)


def detail(submission: Submission, steps: list[UploadStep], journal: list[Change], receipt: Receipt | None) -> Detail:
    """A submission with its steps and its journal, as its author sees them."""
    current = [step for step in steps if step.attempt == submission.attempt]
    return Detail(
        **_fields(submission),
        receipt=receipt,
        steps=[StepInfo(stage=step.stage, ok=step.ok, text=step.text, seconds=step.seconds) for step in current],
        journal=[
            JournalEvent(at=change.at, who=change.who, state=change.state, why=shown_reason(change.state, change.why))
            for change in journal
        ],
    )


def _fields(submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.id,
        "name": submission.name,
        "version": submission.version,
        "filename": submission.filename,
        "sha256": submission.upload,
        "size": submission.size,
        "received_at": submission.received_at,
        "state": submission.state,
        "why": shown_reason(submission.state, submission.why),
        "again_at": submission.due_at,
    }


def shown_reason(state: State, why: str) -> str:
    """The reason of a state as an author sees it: causes and paths of host failures are only for the organiser."""
    return HOST_FAILED if state is State.FAILED else why


def practice_page(games: Sequence[PracticeGame]) -> PracticePage:
    """Practice games for their author."""
    return PracticePage(games=[_practice_info(game) for game in games])


def _practice_info(game: PracticeGame) -> PracticeInfo:
    values = {name: getattr(game, name) for name in PracticeInfo.model_fields}
    return PracticeInfo(**{**values, "why": practice_reason(game)})


def practice_reason(game: PracticeGame) -> str:
    """Why a game is not over; what failed on the host is the organiser's to know."""
    if game.state is MatchState.CANCELLED or not game.failures:
        return game.why
    return HOST_FAILED
