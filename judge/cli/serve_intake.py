"""`judge serve-intake`: submissions by HTTP, a token an author: `judge submit` for those who are elsewhere."""

from typing import Annotated

import structlog
import typer

from judge.cli.desk import HERE, ContestFile, open_desk, processor
from judge.cli.text import note
from judge.errors import InputError

EXAMPLES = """
Examples:

judge submissions token "Ada L." --contest cup

judge serve-intake --contest cup --listen 127.0.0.1:8080

judge serve-intake --contest cup --listen 127.0.0.1:8080 --proxy 127.0.0.1

It listens on this machine alone: put a server with TLS in front of it. /openapi.json describes what it answers.
"""


def serve_intake(
    contest: ContestFile = HERE,
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS:PORT", help="Where; port 0 is any that is free.")
    ] = "127.0.0.1:8080",
    beyond_loopback: Annotated[
        bool, typer.Option("--beyond-loopback", help="Let others than this machine reach it, in the clear.")
    ] = False,
    proxy: Annotated[
        str, typer.Option(help="The address of the server in front, whose X-Forwarded-For is believed.")
    ] = "",
) -> None:
    """Take submissions by HTTP and process them, until a signal ends it; what waits goes on with the next start."""
    try:
        from judge.intake.serve import ListenAddress, checked_proxy, listening, parse_listen_address, serve
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed: pip install 'judge[intake]'") from None
    desk = open_desk(contest)
    address = parse_listen_address(listen)
    checked_proxy(proxy)
    with listening(address, beyond_loopback=beyond_loopback) as listener:
        host, port = listener.getsockname()[:2]

        def ready() -> None:
            note(f"judge: intake of {desk.contest} on http://{ListenAddress(host, port)}")
            if address.is_loopback:
                note("judge: only this machine reaches it; a server with TLS belongs in front")
            else:
                note("judge: others reach it IN THE CLEAR; a server with TLS belongs in front")

        serve(desk, processor(desk, log_it), listener, proxy, ready)


def log_it(text: str) -> None:
    """Say in the log whom this intake waits for."""
    structlog.get_logger().info(text)
