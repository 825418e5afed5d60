"""The intake as a process: one socket, the paths on it, the workers beside it; nothing is lost when it is killed."""

import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from ipaddress import ip_address

import uvicorn

from judge.errors import InputError
from judge.intake import logs
from judge.intake.app import AppState, build
from judge.intake.connections import options
from judge.intake.middleware import Guard
from judge.intake.workers import Workers
from judge.store.incoming import sweep
from judge.store.tokens import Tokens
from judge.submissions.pipeline import Processor
from judge.submissions.service import IntakeDirectory, working


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where to listen."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return ip_address(self.host).is_loopback

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_listen_address(text: str) -> ListenAddress:
    """`127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`; port 0 is any that is free. InputError."""
    host, colon, port = text.rpartition(":")
    host = "127.0.0.1" if host == "localhost" else host.removeprefix("[").removesuffix("]")
    try:
        ip_address(host)
        number = int(port)
        if not colon or not 0 <= number < 1 << 16:
            raise ValueError
    except ValueError:
        raise InputError(f"--listen {text!r}: write an address and a port, such as 127.0.0.1:8080") from None
    return ListenAddress(host, number)


def checked_proxy(text: str) -> str:
    """One address, or nothing; InputError: whoever may say whom it speaks for escapes every bound on addresses."""
    try:
        return str(ip_address(text)) if text else ""
    except ValueError:
        raise InputError(f"--proxy {text!r}: write one address, such as 127.0.0.1") from None


def listening(address: ListenAddress, *, beyond_loopback: bool) -> socket.socket:
    """A socket that listens there; InputError where it cannot, or where others could reach it and nobody said so."""
    if not address.is_loopback and not beyond_loopback:
        raise InputError(
            f"--listen {address}: others would reach it, and what they send, tokens too, would go in the clear: "
            "put TLS in front and listen on 127.0.0.1, or say --beyond-loopback"
        )
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        raise InputError(f"--listen {address}: {error.strerror}") from None


def serve(
    desk: IntakeDirectory,
    process: Processor,
    listener: socket.socket,
    proxy: str = "",
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal ends it; `proxy` is the one address whose X-Forwarded-For is believed.

    Raises HostError where the store or the folder cannot be used.
    """
    logs.configure()
    limits = desk.intake
    with (
        working(desk) as worker,
        closing(desk.register()) as register,
        closing(Tokens(desk.store_url, desk.contest)) as tokens,
    ):
        sweep(desk.uploads)
        workers = Workers(desk, process, register, worker)
        counter = AppState(desk, register, tokens, workers.wake, lambda: workers.is_alive)
        app = Guard(build(counter), limits)
        server = uvicorn.Server(uvicorn.Config(app, **options(limits, proxy)))
        workers.start()
        try:
            ready()
            server.run(sockets=[listener])
        finally:
            workers.stop()
