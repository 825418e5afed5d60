"""HTTP paths of the intake, and its service."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from judge.base.errors import HostError, os_errors_as
from judge.contest.admissions import joins_later, withdraw_agent, withdraw_submission
from judge.contest.entries import current_intake
from judge.contest.late_entries import season_is_over
from judge.contest_games import OPEN_STATES
from judge.notices.sender import NoticeSender
from judge.store.notices import Notices
from judge.store.practice_games import PracticeGame, PracticeGames
from judge.store.queries import Reader
from judge.store.submissions import Register
from judge.store.types import NotFoundError, NotNowError, Submission
from judge.submissions.check import CheckReport
from judge.submissions.service import IntakeDirectory
from judge.tournament.formats.ladder import Ladder
from judge.tournament.snapshot import read_snapshot
from judge.transparency.log import SignedLog
from judge.web.intake.upload import Receiver
from judge.web.kit import logs
from judge.web.kit.answers import check_health, error_responses, new_app
from judge.web.kit.connections import AppServer
from judge.web.kit.middleware import Middleware, Part
from judge.web.kit.session import Authenticator
from judge.web.player.status import PlayerStatus, player_status
from judge.web.schemas import (
    ContestInfo,
    Detail,
    Health,
    Log,
    Page,
    PracticePage,
    Received,
    UploadQuery,
    Uploads,
    author_view,
    practice_page,
    public_values,
    shown_reason,
)

ABOUT = """
Submit an agent to a contest, and read the result. Every answer is JSON; `error` is the reason of a refusal.
Ask the organiser for a token, and send it as `Authorization: Bearer TOKEN`.

    curl -H "Authorization: Bearer $TOKEN" --data-binary @agent.zip "$URL/submissions?filename=agent.zip"
"""
ACCEPTED = "an archive of an agent's files or sources, or one program; docs/authors.md describes the contents"
PATHS = ("submissions", "contest", "health")
SUBMISSIONS_PER_PAGE = 50
MAX_ID = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class AppState:
    """What the paths use."""

    directory: IntakeDirectory
    register: Register
    authors: Authenticator
    receiver: Receiver
    log: SignedLog
    practice: PracticeGames
    notices: Notices

    def is_held(self, number: int) -> bool:
        """Whether a submission waits for a slot."""
        return number in self.player.waiting

    @property
    def player(self) -> PlayerStatus:
        return player_status(self.directory.folder, self.directory.contest)


router = APIRouter()
"""Except the upload, paths run in threads."""


async def intake_of(request: Request) -> AppState:
    """A coroutine: FastAPI runs other functions in threads."""
    state: AppState = request.app.state.intake
    return state


_bearer = HTTPBearer(auto_error=False, description="A token from the organiser.")


State = Annotated[AppState, Depends(intake_of)]


def author_of(
    request: Request, state: State, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> str:
    """Author of the token. Raises UnauthorizedError, TooMuchError."""
    return state.authors.author(request, credentials.credentials if credentials else "")


Author = Annotated[str, Depends(author_of)]
Number = Annotated[int, Path(ge=1, le=MAX_ID, description="The number of a submission.")]
UploadParameters = Annotated[UploadQuery, Query()]


@router.get("/health/ready", responses=error_responses(429, 503), tags=["public"])
async def ready(state: State) -> Health:
    """Check that the service and its store answer."""
    await check_health(state.register)
    return Health(ok=True)


@router.get("/health", responses=error_responses(429, 503), tags=["public"])
async def health(state: State) -> Health:
    """Check that the service and its store answer, that submissions are processed, and that the contest is played."""
    await check_health(state.register, state.player.problems)
    return Health(ok=True)


@router.get("/contest", responses=error_responses(429, 503), tags=["public"])
def contest(state: State) -> ContestInfo:
    """Describe the contest: its game, its limits, and what may be submitted."""
    policy, limits = current_intake(state.directory, state.register).policy, state.directory.intake
    windows = state.receiver.gate.windows
    return ContestInfo(
        name=state.directory.contest,
        has_begun=state.register.has_begun(),
        joins_later=joins_later(state.register),
        policy=policy.name,
        about=policy.about,
        game=policy.game.model_dump(mode="json"),
        protocol=policy.game.protocol,
        clock=policy.clock.model_dump(mode="json"),
        limits=policy.limits.model_dump(mode="json"),
        folders=policy.folders.model_dump(mode="json"),
        runtimes=state.directory.runtimes,
        uploads=Uploads(
            about=ACCEPTED,
            bytes=limits.upload_bytes,
            per_hour=limits.uploads_per_hour,
            waiting=limits.waiting_per_author,
        ),
        opens=windows.opens,
        closes=windows.closes,
        starts=windows.starts,
    )


_BODY = {"schema": {"type": "string", "format": "binary", "minLength": 1}}


@router.post(
    "/submissions",
    status_code=201,
    responses={
        200: {"model": Received, "description": "The same bytes are this submission already."},
        **error_responses(401, 408, 409, 413, 415, 422, 429, 503),
    },
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": _BODY}}},
    tags=["submissions"],
)
async def submit(
    request: Request, response: Response, state: State, author: Author, query: UploadParameters
) -> Received:
    """Submit the request's body. It is queued; ask for its state by its number.

    The same bytes again are the same submission while it waits or takes part: status 200 instead of 201.
    """
    submission, is_repeated = await state.receiver.receive(request, author, query)
    if is_repeated:
        response.status_code = 200
    receipt = await run_in_threadpool(state.log.receipt, submission.id)
    return Received(**public_values(submission), receipt=receipt, is_repeated=is_repeated)


@router.get("/submissions", responses=error_responses(401, 422, 429, 503), tags=["submissions"])
def submissions(
    state: State,
    author: Author,
    before: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None,
    limit: Annotated[int, Query(ge=1, le=SUBMISSIONS_PER_PAGE)] = SUBMISSIONS_PER_PAGE,
) -> Page:
    """List your submissions, newest first."""
    page = state.register.submissions(author, before, limit)
    is_last = len(page) < limit
    return Page(submissions=[author_view(submission) for submission in page], before=None if is_last else page[-1].id)


_OF_ONE = error_responses(401, 404, 422, 429, 503)
_CHANGE_OF_ONE = error_responses(401, 404, 409, 422, 429, 503)


@router.get("/submissions/{id}", responses=_OF_ONE, tags=["submissions"])
def submission(state: State, author: Author, id: Number) -> Detail:  # noqa: A002 - the path's name
    """Show one of your submissions: its state, steps and journal."""
    submission = state.register.get(id, author)
    return Detail(
        **public_values(submission),
        steps=state.register.steps(submission),
        journal=[replace(each, why=shown_reason(each.state, each.why)) for each in state.register.journal(id)],
        receipt=state.log.receipt(id),
    )


@router.get("/submissions/{id}/log", responses=_OF_ONE, tags=["submissions"])
def log(state: State, author: Author, id: Number) -> Log:  # noqa: A002 - the path's name
    """Show the log of processing a submission."""
    digest = state.register.get(id, author).log
    return Log(log=stored_file(state.directory, digest, "log").decode("utf-8", "replace"))


@router.get("/submissions/{id}/report", responses=_OF_ONE, tags=["submissions"])
def report(state: State, author: Author, id: Number) -> CheckReport:  # noqa: A002 - the path's name
    """Show the report of the check, as `judge check --json` prints it."""
    digest = state.register.get(id, author).report
    return CheckReport.model_validate_json(stored_file(state.directory, digest, "report"))


@router.get("/submissions/{id}/practice", responses=_OF_ONE, tags=["practice games"])
def practice(state: State, author: Author, id: Number) -> PracticePage:  # noqa: A002 - the path's name
    """List the practice games and challenges of one of your submissions, the last one first."""
    state.register.get(id, author)
    return practice_page(state.practice.of(id, author))


@router.post("/submissions/{id}/practice", status_code=201, responses=_CHANGE_OF_ONE, tags=["practice games"])
def more_practice(state: State, author: Author, id: Number) -> PracticePage:  # noqa: A002 - the path's name
    """Let one of your submissions play more practice games against house agents, when a slot is free."""
    return practice_page(ask_practice(state, id, author))


Opponent = Annotated[
    str, Query(min_length=1, max_length=64, description="The name of an agent that takes part, as the tables show it.")
]


@router.get("/submissions/{id}/challenges", responses=_OF_ONE, tags=["practice games"])
def challenges(state: State, author: Author, id: Number) -> PracticePage:  # noqa: A002 - the path's name
    """List the challenges of one of your submissions, the last one first."""
    state.register.get(id, author)
    return _challenges_page(state, id, author)


@router.post("/submissions/{id}/challenges", status_code=201, responses=_CHANGE_OF_ONE, tags=["practice games"])
def challenge(
    state: State,
    author: Author,
    id: Number,  # noqa: A002 - the path's name
    opponent: Opponent,
) -> PracticePage:
    """Let one of your submissions play an unrated game against an agent of a ladder, when a slot is free."""
    ask_challenge(state, id, author, opponent)
    return _challenges_page(state, id, author)


def _challenges_page(state: AppState, submission: int, author: str) -> PracticePage:
    return practice_page([game for game in state.practice.of(submission, author) if game.challenged])


@router.delete("/submissions/{id}", responses=_CHANGE_OF_ONE, tags=["submissions"])
def withdraw(state: State, author: Author, id: Number) -> Submission:  # noqa: A002 - the path's name
    """Withdraw one of your submissions: it will not be an entry. Games that were played stay in the records.

    In a ladder that has begun, its agent also leaves.
    """
    return author_view(withdraw_submission(state.register, id, author))


@router.post("/submissions/{id}/withdrawal", responses=_CHANGE_OF_ONE, tags=["submissions"])
def leave(state: State, author: Author, id: Number) -> Submission:  # noqa: A002 - the path's name
    """Withdraw the agent of one of your submissions, with all its versions; in a ladder also after the start.

    Its played games count. It can be submitted again.
    """
    name = state.register.get(id, author).name
    if not name:
        return author_view(withdraw_submission(state.register, id, author))
    withdraw_agent(state.register, name, author)
    return author_view(state.register.get(id, author))


def ask_practice(state: AppState, submission: int, author: str) -> list[PracticeGame]:
    """Raises as `PracticeGames.ask`."""
    limits = state.directory.intake
    if not limits.practice_games:
        raise NotNowError("this contest has no practice games: ask the organiser")
    return state.practice.ask(submission, author, limits.practice_games, limits.practice_games_per_day)


def ask_challenge(state: AppState, submission: int, author: str, opponent: str) -> None:
    """Raises as `PracticeGames.challenge`."""
    per_day = state.directory.intake.challenges_per_day
    if not per_day or not _is_running_ladder(state.directory):
        raise NotNowError("no challenges are played now")
    state.practice.challenge(submission, author, opponent, per_day)


def _is_running_ladder(directory: IntakeDirectory) -> bool:
    with closing(Reader(directory.store_url)) as reader:
        if directory.contest not in reader.contest_names():
            return False
        form = read_snapshot(reader.document(directory.contest)).format
        if not isinstance(form, Ladder):
            return False
        counts = reader.counts(directory.contest)
        return any(counts[state] for state in OPEN_STATES) or not season_is_over(reader, directory.contest, form)


def stored_file(directory: IntakeDirectory, digest: str | None, what: str) -> bytes:
    """A log or report. Raises NotFoundError, HostError."""
    if digest is None:
        raise NotFoundError(f"the submission has no {what} yet: see its state")
    path = directory.files.path(digest)
    with os_errors_as(HostError, path):
        return path.read_bytes()


@contextmanager
def running_intake(directory: IntakeDirectory) -> Iterator[AppState]:
    """Receive submissions, and send notices; yields the paths' state. `judge.web.player` processes what is received.

    Configures this process's log. Raises HostError if the store or folder is unusable.
    """
    logs.configure()
    locks = directory.uploads / "notices"
    policy = directory.intake.notices
    with (
        closing(directory.register()) as register,
        closing(directory.tokens()) as tokens,
        closing(SignedLog(directory.store_url, directory.contest, directory.folder)) as log,
        closing(directory.practice_games()) as games,
        closing(directory.notices()) as notices,
        NoticeSender(notices, directory.contest, policy, directory.folder, locks, directory.plan),
    ):
        authors, receiver = Authenticator(tokens, directory.intake), Receiver(directory, register)
        yield AppState(directory, register, authors, receiver, log, games, notices)


def create_service(state: AppState) -> Middleware:
    """Application that only receives submissions, with limits."""
    app = new_app("judge intake", ABOUT)
    app.state.intake = state
    app.include_router(router)
    return Middleware(app, Part.logged("intake", state.directory.intake))


@contextmanager
def opened_server(state: AppState, listener: socket.socket, proxy: str = "") -> Iterator[AppServer]:
    """The server of submissions. Only `proxy` may send X-Forwarded-For."""
    yield AppServer(create_service(state), state.directory.intake, listener, proxy, {})
