"""`judge serve`: everybody watches a contest by HTTP, and its authors submit to it."""

from contextlib import ExitStack
from typing import Annotated

import typer

from judge.base.errors import HostError
from judge.cli.options import HERE, BeyondLoopbackOption, ContestArgument, ListenOption, ProxyOption, of_web_extra
from judge.cli.serve_intake import log_wait, say_where
from judge.contest.plan import load_plan

EXAMPLES = """
Examples:

judge serve cup

judge serve cup --listen 127.0.0.1:8000 --proxy 127.0.0.1 --root-path /cup

judge serve cup --metrics 127.0.0.1:9100

judge serve cup --read-only

It runs before, beside and after judge contest run, and can be stopped and started again at any time. It listens on this
machine only: put a server with TLS in front of it. /openapi.json describes the feed of events and the submissions. The
log is JSON on stderr, an event a line.
"""


def serve(
    contest: ContestArgument = HERE,
    listen: ListenOption = "127.0.0.1:8000",
    beyond_loopback: BeyondLoopbackOption = False,
    proxy: ProxyOption = "",
    root_path: Annotated[str, typer.Option(help="The path under which the server in front has the pages.")] = "",
    metrics: Annotated[
        str,
        typer.Option(metavar="ADDRESS:PORT", help="Serve /metrics for Prometheus at an address of its own, too."),
    ] = "",
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Only the public pages: receive no submissions, and need no Engine.")
    ] = False,
) -> None:
    """Show a contest to everybody, also while it is played, and process submissions of its authors.

    It serves until a signal ends it.
    """
    with of_web_extra():
        from judge.web.intake.serve import checked_proxy, listening, listening_at, parse_listen_address, running_intake
        from judge.web.kit.logs import configure
        from judge.web.live.serve import serve as serve_pages
    planned = load_plan(contest)
    proxy = checked_proxy(proxy)
    with listening_at(listen, beyond_loopback=beyond_loopback) as (listener, place), ExitStack() as stack:
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
                raise HostError(f"{error}; --read-only shows the pages alone") from None
            state = stack.enter_context(running_intake(directory, process, practice))
        serve_pages(
            planned,
            listener,
            state=state,
            proxy=proxy,
            root_path=root_path.rstrip("/"),
            metrics=numbers,
            ready=lambda: say_where(f"{planned.name} on http://{place}{root_path}", is_loopback=place.is_loopback),
        )
