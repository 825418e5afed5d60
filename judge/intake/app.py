"""The intake's paths: what is asked of the register, by whom, and what it answers; what they do is done elsewhere."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Path, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

import judge
from judge.errors import HostError
from judge.intake.errors import StrangerError, answers, handle_problems
from judge.intake.rate_limit import Rate, address_key
from judge.intake.schemas import AsciiJSON, ContestInfo, Detail, Health, Log, Page, Summary, Uploads, detail, summary
from judge.intake.upload import AtOnce, check_length, receive_body
from judge.store.incoming import Incoming
from judge.store.register import Register
from judge.store.submission import TooMuchError, UnknownSubmissionError, Upload
from judge.store.tokens import Tokens
from judge.submissions.check import CheckReport
from judge.submissions.service import (
    AGENT_NAME,
    FILENAME,
    FILENAME_CHARACTERS,
    IntakeDirectory,
    check_filename,
    check_name,
)

ABOUT = """
Send an agent to a contest, and see what became of it. Every answer is JSON; one that says no has the sentence why in
`error`. Ask the organiser for a token, and send it as `Authorization: Bearer TOKEN`.

    curl -H "Authorization: Bearer $TOKEN" --data-binary @agent.zip "$URL/submissions?filename=agent.zip"
"""
WHAT = "an archive of an agent's files or sources, or one program; docs/authors.md says what may be in it"
PAGE = 50
LARGEST_ID = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class AppState:
    """What the paths share: the desk, the register and the tokens, and who is told that something came in."""

    desk: IntakeDirectory
    register: Register
    tokens: Tokens
    wake: Callable[[], None]
    is_working: Callable[[], bool]


_bearer = HTTPBearer(auto_error=False, description="A token from the organiser.")
Number = Annotated[int, Path(ge=1, le=LARGEST_ID, description="A submission's number.")]


def build(counter: AppState) -> FastAPI:
    """The application. Its paths that are no upload run in threads, so none of them holds up another."""
    app = FastAPI(
        title="judge intake",
        version=judge.__version__,
        description=ABOUT,
        default_response_class=AsciiJSON,
        # What they show is loaded from elsewhere; /openapi.json has it all.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    handle_problems(app)
    author = _author(counter)
    _add_public(app, counter)
    _add_submit(app, counter, author)
    _add_own(app, counter, author)
    return app


def _author(counter: AppState) -> Any:
    """Who asks, by the token; everybody else is a stranger."""
    limits = counter.desk.intake
    strangers, authors = Rate(limits.strangers_per_minute), Rate(limits.requests_per_minute)

    def author(request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]) -> str:
        found = counter.tokens.author_of(credentials.credentials) if credentials else None
        if found is None:
            wait_s = strangers.spend(address_key(request.client.host if request.client else ""))
            if wait_s:
                raise TooMuchError("too many requests without a token that holds", wait_s)
            raise StrangerError("send a token that holds: Authorization: Bearer TOKEN")
        request.state.author = found
        wait_s = authors.spend(found)
        if wait_s:
            raise TooMuchError("too many requests with your token", wait_s)
        return found

    return Annotated[str, Depends(author)]


def _add_public(app: FastAPI, counter: AppState) -> None:
    desk = counter.desk

    @app.get("/health", responses=answers(429, 503), tags=["public"])
    def health() -> Health:
        """Say whether the service and its store answer, and what comes in is processed."""
        counter.register.has_begun()
        if not counter.is_working():
            raise HostError("nothing is processed any more: start the service again")
        return Health(ok=True)

    @app.get("/contest", responses=answers(429, 503), tags=["public"])
    def contest() -> ContestInfo:
        """Say what is played, under which limits, and what may be sent."""
        policy, limits = desk.policy, desk.intake
        return ContestInfo(
            name=desk.contest,
            has_begun=counter.register.has_begun(),
            policy=policy.name,
            about=policy.about,
            game=policy.game.model_dump(mode="json"),
            protocol=policy.game.protocol,
            clock=policy.clock.model_dump(mode="json"),
            limits=policy.limits.model_dump(mode="json"),
            folders=policy.folders.model_dump(mode="json"),
            runtimes=desk.runtimes,
            uploads=Uploads(
                about=WHAT,
                bytes=limits.upload_bytes,
                per_hour=limits.uploads_per_hour,
                waiting=limits.waiting_per_author,
            ),
        )


def _add_submit(app: FastAPI, counter: AppState, author: Any) -> None:
    desk, register = counter.desk, counter.register
    limits = desk.intake
    at_once = AtOnce(limits.uploads_at_once)
    body = {"schema": {"type": "string", "format": "binary", "minLength": 1}}

    @app.post(
        "/submissions",
        status_code=201,
        responses=answers(401, 408, 409, 413, 422, 429, 503),
        openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": body}}},
        tags=["submissions"],
    )
    async def submit(
        request: Request,
        author: author,
        filename: Annotated[
            str,
            Query(
                max_length=FILENAME_CHARACTERS,
                pattern=FILENAME,
                description="What the file is called: its ending says what it is. Printable, and no path.",
            ),
        ],
        name: Annotated[
            str,
            Query(
                pattern=f"^({AGENT_NAME})?$", description="What the agent shall be called; empty: as its manifest says."
            ),
        ] = "",
    ) -> Summary:
        """Send an upload as the request's body. It waits for its turn: ask for it by its number."""
        check_filename(filename)
        check_name(name)
        with at_once.one_more(author):
            length = check_length(request, limits)
            may = (author, name, length, limits.allowance)
            await run_in_threadpool(register.may_receive, *may)
            with await run_in_threadpool(Incoming, desk.uploads) as incoming:
                await receive_body(request, incoming, limits)
                # Once more, before it is kept: now its size is known, and others may have come meanwhile.
                may = (author, name, incoming.size, limits.allowance)
                await run_in_threadpool(register.may_receive, *may)
                digest = await run_in_threadpool(incoming.keep)
        upload = Upload(author, name, filename, digest, incoming.size)
        received = await run_in_threadpool(register.receive, upload, limits.allowance)
        counter.wake()
        return summary(received)


def _add_own(app: FastAPI, counter: AppState, author: Any) -> None:
    register = counter.register
    one = answers(401, 404, 422, 429, 503)

    @app.get("/submissions", responses=answers(401, 422, 429, 503), tags=["submissions"])
    def submissions(
        author: author,
        before: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
        limit: Annotated[int, Query(ge=1, le=PAGE)] = PAGE,
    ) -> Page:
        """List your submissions, newest first."""
        found = register.submissions(author, before, limit)
        is_last = len(found) < limit
        return Page(submissions=[summary(submission) for submission in found], before=None if is_last else found[-1].id)

    @app.get("/submissions/{id}", responses=one, tags=["submissions"])
    def submission(author: author, id: Number) -> Detail:  # noqa: A002 - the path says so
        """Say what became of one of your submissions, and how far it got."""
        found = register.get(id, author)
        return detail(found, register.steps(id), register.journal(id))

    @app.get("/submissions/{id}/log", responses=one, tags=["submissions"])
    def log(author: author, id: Number) -> Log:  # noqa: A002 - the path says so
        """Show what was said while it was processed."""
        digest = register.get(id, author).log
        return Log(log=_kept(counter.desk, digest, "log").decode("utf-8", "replace"))

    @app.get("/submissions/{id}/report", responses=one, tags=["submissions"])
    def report(author: author, id: Number) -> CheckReport:  # noqa: A002 - the path says so
        """Show the findings of the check, as `judge check --json` prints them."""
        digest = register.get(id, author).report
        return CheckReport.model_validate_json(_kept(counter.desk, digest, "report"))

    @app.delete("/submissions/{id}", responses=one, tags=["submissions"])
    def withdraw(author: author, id: Number) -> Summary:  # noqa: A002 - the path says so
        """Withdraw one of your submissions: it will not be an entry. What has played stays in the records."""
        return summary(register.withdraw(id, author, "withdrawn by its author", author))


def _kept(desk: IntakeDirectory, digest: str | None, what: str) -> bytes:
    if digest is None:
        raise UnknownSubmissionError(f"there is no {what} of it (yet): see its state")
    try:
        return desk.files.path(digest).read_bytes()
    except OSError as error:
        raise HostError(f"{error.filename}: {error.strerror}") from None
