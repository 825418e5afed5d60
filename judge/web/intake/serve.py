"""The intake as a process: one socket, the paths on it, and the workers. Nothing is lost when it is killed."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import uvicorn

from judge.base.errors import InputError
from judge.base.scheduling import go_behind_games
from judge.notices.sender import NoticeSender
from judge.store.incoming import sweep
from judge.store.tokens import Tokens
from judge.submissions.pipeline import Processor
from judge.submissions.practice import PracticeHost
from judge.submissions.service import IntakeDirectory, working
from judge.transparency.log import SignedLog
from judge.web.intake.app import ABOUT, AppState, router
from judge.web.intake.practice import PracticePlayers
from judge.web.intake.upload import Receiver
from judge.web.intake.workers import Workers
from judge.web.kit import logs
from judge.web.kit.clients import ClientLimits
from judge.web.kit.connections import uvicorn_options
from judge.web.kit.errors import new_app
from judge.web.kit.middleware import Middleware, Part
from judge.web.kit.session import Authenticator

UNREGISTERED_AGE = timedelta(days=1)
"""Age at which an uploaded file that no submission names is removed; a younger one may belong to a running upload."""


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """An address to listen on."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return ip_address(self.host).is_loopback

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_listen_address(text: str, option: str = "--listen") -> ListenAddress:
    """Parse `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`; port 0 means any free port. Raises InputError."""
    host, colon, port = text.rpartition(":")
    host = "127.0.0.1" if host == "localhost" else host.removeprefix("[").removesuffix("]")
    try:
        ip_address(host)
        number = int(port)
        if not colon or not 0 <= number < 1 << 16:
            raise ValueError
    except ValueError:
        raise InputError(f"{option} {text!r}: use an IP address and a port, such as 127.0.0.1:8080") from None
    return ListenAddress(host, number)


def checked_proxy(text: str) -> str:
    """One address or nothing, because a client behind a proxy escapes the limits on addresses. Raises InputError."""
    try:
        return str(ip_address(text)) if text else ""
    except ValueError:
        raise InputError(f"--proxy {text!r}: use one IP address, such as 127.0.0.1") from None


@contextmanager
def listening_at(text: str, *, beyond_loopback: bool) -> Iterator[tuple[socket.socket, ListenAddress]]:
    """A socket that listens at the address in `text`, and where it does. Raises InputError as `listening`."""
    with listening(parse_listen_address(text), beyond_loopback=beyond_loopback) as listener:
        yield listener, ListenAddress(*listener.getsockname()[:2])


def listening(address: ListenAddress, *, beyond_loopback: bool, option: str = "--listen") -> socket.socket:
    """A socket that listens there. Raises InputError if it cannot, or for an address that needs `beyond_loopback`."""
    if not address.is_loopback and not beyond_loopback:
        raise InputError(
            f"{option} {address}: other machines could reach it, and would send tokens without encryption: "
            "listen on 127.0.0.1 behind a server with TLS, or use --beyond-loopback"
        )
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        listener = socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        raise InputError(f"{option} {address}: {error.strerror}") from None
    # Its connections inherit it. asyncio sets it only where it made the socket; without it, an answer of two segments
    # waits for 40 ms on a connection that is used again.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


@contextmanager
def running_intake(
    directory: IntakeDirectory, process: Processor, practice: PracticeHost | None = None
) -> Iterator[AppState]:
    """Process submissions in worker processes; returns what the paths that receive them share. What passes plays
    practice games at the host for them; None: it plays none.

    Sets the log of this process. Raises HostError if the store or the folder cannot be used.
    """
    logs.configure()
    with (
        working(directory) as worker,
        closing(directory.register()) as register,
        closing(Tokens(directory.store_url, directory.contest)) as tokens,
        closing(SignedLog(directory.store_url, directory.contest, directory.folder)) as log,
        ExitStack() as stack,
    ):
        sweep(directory.uploads)
        register.remove_unregistered(directory.files, datetime.now(UTC) - UNREGISTERED_AGE)
        played = directory.intake.practice_games if practice is not None else 0
        workers = Workers(directory, process, register, worker, played)
        games = stack.enter_context(closing(directory.practice_games()))
        notices = stack.enter_context(closing(directory.notices()))
        locks = directory.uploads / "notices"
        policy = directory.intake.notices
        stack.enter_context(NoticeSender(notices, directory.contest, policy, directory.folder, locks, directory.plan))
        if practice is not None:
            stack.enter_context(PracticePlayers(directory, practice, games))
        state = AppState(
            directory,
            register,
            Authenticator(tokens, directory.intake),
            Receiver(directory, register, workers.wake),
            lambda: workers.is_alive,
            log.receipt,
            games,
            notices,
            workers.is_held,
        )
        workers.start()
        try:
            yield state
        finally:
            workers.stop()


def create_service(state: AppState) -> Middleware:
    """The application that only receives submissions, with its limits."""
    app = new_app("judge intake", ABOUT)
    app.state.intake = state
    app.include_router(router)
    return Middleware(app, Part.limited("intake", state.directory.intake))


def serve(
    directory: IntakeDirectory,
    process: Processor,
    listener: socket.socket,
    proxy: str = "",
    ready: Callable[[], None] = lambda: None,
    practice: PracticeHost | None = None,
) -> None:
    """Serve until a signal ends it; `proxy` is the one address whose X-Forwarded-For header is trusted.

    Raises HostError if the store or the folder cannot be used.
    """
    with running_intake(directory, process, practice) as state:
        bounded = ClientLimits(create_service(state), directory.intake)
        server = uvicorn.Server(uvicorn.Config(bounded, **uvicorn_options(directory.intake, proxy)))
        ready()
        go_behind_games()  # what it has started keeps its place
        server.run(sockets=[listener])
