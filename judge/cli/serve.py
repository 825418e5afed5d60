"""`judge serve`: serve a contest's pages by HTTP, and receive its authors' submissions."""

from contextlib import ExitStack
from typing import Annotated

import typer

from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.cli.options import HERE, BeyondLoopbackOption, ContestArgument, ListenOption, ProxyOption, of_web_extra
from judge.contest.plan import load_plan
from judge.terminal.output import note

EXAMPLES = {
    "serve": """
Examples:

judge serve cup

judge serve cup --listen 127.0.0.1:8000 --proxy 127.0.0.1 --root-path /cup

judge serve cup --metrics 127.0.0.1:9100

judge serve cup --read-only

judge serve cup --intake-only

It can run before, during and after judge contest run, and can be restarted at any time. It listens on this machine
only: put a reverse proxy with TLS in front of it. /openapi.json describes the feed of events and the submissions. The
log is JSON on stderr, one event per line.
""",
    "serve-intake": """
Example:

judge serve cup --intake-only --listen 127.0.0.1:8080
""",
}


def serve(
    contest: ContestArgument = HERE,
    listen: ListenOption = "127.0.0.1:8000",
    beyond_loopback: BeyondLoopbackOption = False,
    proxy: ProxyOption = "",
    root_path: Annotated[str, typer.Option(help="The path prefix of the pages at the reverse proxy.")] = "",
    metrics: Annotated[
        str,
        typer.Option(metavar="ADDRESS:PORT", help="Also serve /metrics for Prometheus at this separate address."),
    ] = "",
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Serve only the public pages: no submissions, no Engine needed.")
    ] = False,
    intake_only: Annotated[
        bool, typer.Option("--intake-only", help="Only receive and process submissions; serve no pages.")
    ] = False,
) -> None:
    """Serve the public pages of a contest, also while it runs, and process submissions.

    It runs until a signal ends it.
    """
    with of_web_extra():
        from judge.web.intake.serve import running_intake
        from judge.web.intake.serve import serve as serve_intake_alone
        from judge.web.kit.connections import checked_proxy, listening, listening_at, parse_listen_address
        from judge.web.kit.logs import configure
        from judge.web.live.serve import serve as serve_pages
    if intake_only and (read_only or metrics or root_path):
        raise InputError("--intake-only: leave out --read-only, --metrics and --root-path, which are for the pages")
    planned = load_plan(contest)
    proxy = checked_proxy(proxy)
    with listening_at(listen, beyond_loopback=beyond_loopback) as (listener, place), ExitStack() as stack:

        def ready() -> None:
            print_address(f"{planned.name} on http://{place}{root_path}", is_loopback=place.is_loopback)

        numbers = None
        if metrics:
            own = parse_listen_address(metrics, "--metrics")
            numbers = stack.enter_context(listening(own, beyond_loopback=beyond_loopback, option="--metrics"))
        state = None
        configure()
        if not read_only:
            from judge.cli.submit import hosting, open_intake

            directory = open_intake(contest)
            try:
                process, practice = hosting(directory, log_wait)
            except HostError as error:
                raise HostError(f"{error}; --read-only serves only the pages") from None
            if intake_only:
                serve_intake_alone(directory, process, listener, proxy, ready, practice)
                return
            state = stack.enter_context(running_intake(directory, process, practice))
        serve_pages(
            planned,
            listener,
            state=state,
            proxy=proxy,
            root_path=root_path.rstrip("/"),
            metrics=numbers,
            ready=ready,
        )


def serve_intake(
    contest: ContestArgument = HERE,
    listen: ListenOption = "127.0.0.1:8080",
    beyond_loopback: BeyondLoopbackOption = False,
    proxy: ProxyOption = "",
) -> None:
    """Former name of judge serve --intake-only."""
    note("judge: serve-intake is now judge serve --intake-only")
    serve(contest, listen, beyond_loopback, proxy, intake_only=True)


def log_wait(text: str) -> None:
    """Log which process this service waits for."""
    get_logger().info(text)


def print_address(what: str, *, is_loopback: bool) -> None:
    """Print `what`, a service with its address, and who can reach it."""
    note(f"judge: {what}")
    if is_loopback:
        note("judge: only this machine can reach it; put a reverse proxy with TLS in front of it")
    else:
        note("judge: other machines can reach it WITHOUT ENCRYPTION; put a reverse proxy with TLS in front of it")
