"""What the intake answers, as its OpenAPI describes it: JSON in ASCII, of which no terminal obeys a word."""

import json
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from judge.store.submission import Change, State, Submission, ToldStep

HOST_FAILED = "the judge's host failed; nothing is held against the submission"


class AsciiJSON(JSONResponse):
    """JSON whose strings have nothing in them but printable ASCII: the rest is escaped."""

    def render(self, content: Any) -> bytes:
        """The bytes of an answer."""
        return json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode()


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(_Answer):
    """Why something was not done, in a sentence, with the fix."""

    error: str


class StepInfo(_Answer):
    """A step of the processing."""

    stage: str
    ok: bool
    text: str
    seconds: float


class JournalEvent(_Answer):
    """A change of a submission's state."""

    at: str
    who: str
    state: State
    why: str


class Summary(_Answer):
    """A submission."""

    id: int
    name: str = Field(description="The agent's name; empty until it is known.")
    version: int | None = Field(description="Counts what came under this name; null until it is processed.")
    filename: str
    sha256: str
    size: int = Field(description="Bytes.")
    received_at: str
    state: State
    why: str = Field(description="Why it was refused, or what an organiser said.")
    again_at: str | None = Field(description="When it is tried again, where the judge's host failed.")


class Detail(Summary):
    """A submission, and how far it got."""

    steps: list[StepInfo] = Field(description="Of the attempt that is current, or was last.")
    journal: list[JournalEvent]


class Page(_Answer):
    """Submissions, newest first."""

    submissions: list[Summary]
    before: int | None = Field(description="Ask with this for older ones; null: there are none.")


class Log(_Answer):
    """What was said while it was unpacked, built and checked: in part the words of the upload's own programs."""

    log: str


class Uploads(_Answer):
    """What may be sent."""

    about: str
    bytes: int
    per_hour: int
    waiting: int


class ContestInfo(_Answer):
    """What is played, and what may be sent."""

    name: str
    has_begun: bool = Field(description="Its entries are frozen: what comes now plays no game of it.")
    policy: str
    about: str
    game: dict[str, Any]
    protocol: str
    clock: dict[str, Any]
    limits: dict[str, Any]
    folders: dict[str, Any]
    runtimes: list[str]
    uploads: Uploads


class Health(_Answer):
    """The service answers, and so does its store."""

    ok: bool


def summary(submission: Submission) -> Summary:
    """A submission as its author sees it: of the host's troubles only that there were some."""
    return Summary(**_fields(submission))


def detail(submission: Submission, steps: list[ToldStep], journal: list[Change]) -> Detail:
    """A submission with its steps and its journal, as its author sees them."""
    current = [step for step in steps if step.attempt == submission.attempt]
    return Detail(
        **_fields(submission),
        steps=[StepInfo(stage=step.stage, ok=step.ok, text=step.text, seconds=step.seconds) for step in current],
        journal=[
            JournalEvent(at=one.at, who=one.who, state=one.state, why=_why(one.state, one.why)) for one in journal
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
        "why": _why(submission.state, submission.why),
        "again_at": submission.due_at,
    }


def _why(state: State, why: str) -> str:
    # What failed on the host, and where it lies there, is the organiser's to know.
    return HOST_FAILED if state is State.FAILED else why
