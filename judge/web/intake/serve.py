"""The intake as a process."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager

from judge.notices.sender import NoticeSender
from judge.submissions.service import IntakeDirectory
from judge.transparency.log import SignedLog
from judge.web.intake.app import ABOUT, AppState, router
from judge.web.intake.upload import Receiver
from judge.web.kit import logs
from judge.web.kit.answers import new_app
from judge.web.kit.connections import AppServer
from judge.web.kit.middleware import Middleware, Part
from judge.web.kit.session import Authenticator


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
