"""The intake as a process."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta

from judge.notices.sender import NoticeSender
from judge.store.files import sweep
from judge.submissions.pipeline import Processor, Workplace
from judge.submissions.service import IntakeDirectory, working
from judge.transparency.log import SignedLog
from judge.web.intake.app import ABOUT, AppState, router
from judge.web.intake.queues import practice_jobs, submission_jobs
from judge.web.intake.upload import Receiver
from judge.web.kit import logs
from judge.web.kit.connections import AppServer
from judge.web.kit.errors import new_app
from judge.web.kit.middleware import Middleware, Part
from judge.web.kit.session import Authenticator

UNREGISTERED_AGE = timedelta(days=1)
"""Files without a submission are then removed; younger ones may be running uploads."""


@contextmanager
def running_intake(
    directory: IntakeDirectory, process: Processor, practice: Workplace | None = None
) -> Iterator[AppState]:
    """Process submissions in workers; yields the paths' state.

    Configures this process's log. Raises HostError if the store or folder is unusable.
    """
    logs.configure()
    with (
        working(directory) as worker,
        closing(directory.register()) as register,
        closing(directory.tokens()) as tokens,
        closing(SignedLog(directory.store_url, directory.contest, directory.folder)) as log,
        ExitStack() as stack,
    ):
        sweep(directory.uploads)
        register.remove_unregistered(directory.files, datetime.now(UTC) - UNREGISTERED_AGE)
        played = directory.intake.practice_games if practice is not None else 0
        jobs = submission_jobs(directory, process, register, worker, played)
        games = stack.enter_context(closing(directory.practice_games()))
        notices = stack.enter_context(closing(directory.notices()))
        locks = directory.uploads / "notices"
        policy = directory.intake.notices
        stack.enter_context(NoticeSender(notices, directory.contest, policy, directory.folder, locks, directory.plan))
        if practice is not None:
            stack.enter_context(practice_jobs(directory, practice, games))
        state = AppState(
            directory,
            register,
            Authenticator(tokens, directory.intake),
            Receiver(directory, register, jobs),
            log,
            jobs,
            games,
            notices,
        )
        with jobs:
            yield state


def create_service(state: AppState) -> Middleware:
    """Application that only receives submissions, with limits."""
    app = new_app("judge intake", ABOUT)
    app.state.intake = state
    app.include_router(router)
    return Middleware(app, Part.logged("intake", state.directory.intake))


@contextmanager
def opened_server(
    directory: IntakeDirectory,
    process: Processor,
    listener: socket.socket,
    proxy: str = "",
    practice: Workplace | None = None,
) -> Iterator[AppServer]:
    """The server of submissions. Only `proxy` may send X-Forwarded-For. Raises as `running_intake`."""
    with running_intake(directory, process, practice) as state:
        yield AppServer(create_service(state), directory.intake, listener, proxy, {})
